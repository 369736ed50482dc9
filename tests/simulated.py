"""How many studies a test simulates, and how near to the truth so many must come.

`make test` simulates few: enough to see that a method is broken. `make evidence` runs the same tests, those marked
`evidence`, with hundreds to thousands of studies, where a share that is off by two to four points is seen.
"""

from __future__ import annotations

import os
from math import sqrt
from typing import Any

import pytest

#: Set by `make evidence`.
THOROUGH = os.environ.get("KARAT_EVIDENCE") == "1"


def studies(few: int, many: int) -> range:
    """The seeds of the studies to simulate: few for every change, many for evidence."""
    return range(many if THOROUGH else few)


def about(share: float, number: int, *, off: float = 0.0) -> Any:
    """A share of so many studies as near to the true one as three standard errors, or a little more where known.

    >>> 0.94 == about(0.95, 100), 0.94 == about(0.95, 10_000), 0.94 == about(0.95, 10_000, off=0.01)
    (True, False, True)
    """
    return pytest.approx(share, abs=off + 3 * sqrt(share * (1 - share) / number))
