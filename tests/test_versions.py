"""The lowest versions that karat takes have none of the holes that are known."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: The first version without the hole, and the hole.
MENDED = [
    ("starlette", (1, 3, 1), "CVE-2026-54283: limits of forms are not held, and before it two more"),
    ("jinja2", (3, 1, 6), "CVE-2025-27516: the attr filter leaves the sandbox"),
    ("h11", (0, 16), "CVE-2025-43859: chunked bodies that a proxy reads otherwise"),
    ("lightgbm", (4, 6), "CVE-2024-43598: a buffer that overflows"),
    ("cbor2", (5, 9), "CVE-2026-26209: lists too deep in each other overflow the stack"),
    ("pyarrow", (23, 0, 1), "CVE-2026-25087: memory of a file's batches is used after it was freed"),
]


@pytest.mark.parametrize(("name", "mended", "hole"), MENDED, ids=[row[0] for row in MENDED])
def test_the_lowest_version_is_past_the_known_hole(name: str, mended: tuple[int, ...], hole: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    every = [*project["dependencies"], *(line for lines in project["optional-dependencies"].values() for line in lines)]
    lowest = [re.fullmatch(rf"{name}>=([\d.]+)", line) for line in every]
    found = [tuple(int(part) for part in line[1].split(".")) for line in lowest if line]
    assert found, name
    assert min(found) >= mended, hole
