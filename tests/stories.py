"""Pages of the documentation whose commands run: where they stand, and whether what is printed is what they show."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from karat.demo import demo_study

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```\n\$ (karat .*?)\n(.*?)```", re.DOTALL)
#: The lists that the demo's engines found when the pages were written. Another Python tells other things, and another
#: version of a library may break ties in another way; then the commands still run, and the figures are others.
LISTS = "d834436c32259caf"


@cache
def same_lists() -> bool:
    rows = demo_study().runs.frame.select("system", "query", "doc").write_csv()
    return hashlib.sha256(rows.encode()).hexdigest().startswith(LISTS)


def holds(output: str, shown: str) -> None:
    """Every part of what is shown, between the dots, is in the output, in this order."""
    place = 0
    for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE):
        part = part.strip("\n")
        found = output.find(part, place)
        assert found >= 0, f"not printed:\n{part}\n\nbut:\n{output[place:]}"
        place = found + len(part)
