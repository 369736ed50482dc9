"""How many studies a test simulates, and how near to the truth so many must come.

`make test` simulates few: enough to see that a method is broken. `make evidence` runs the same tests, those marked
`evidence`, with hundreds to thousands of studies, where a share that is off by two to four points is seen;
`make evidence TIMES=10` takes ten times as many, and hours.
"""

from __future__ import annotations

import os
from math import sqrt
from pathlib import Path

import numpy as np

#: Set by `make evidence`: how many times the many studies; 0 for few.
TIMES = float(os.environ.get("KARAT_EVIDENCE") or 0)
THOROUGH = TIMES > 0
#: Where the shares that were seen are written to, if anywhere.
FIGURES = os.environ.get("KARAT_EVIDENCE_FIGURES", "")


def studies(few: int, many: int) -> range:
    """The seeds of the studies to simulate: few for every change, many for evidence."""
    return range(round(many * TIMES) if THOROUGH else few)


class about:
    """A share of so many studies as near to the true one as three standard errors, or a little more where known.

    >>> 0.94 == about(0.95, 100), 0.94 == about(0.95, 10_000), 0.94 == about(0.95, 10_000, off=0.01)
    (True, False, True)

    `make evidence` writes each share that was seen to a file, one line each.
    """

    # Leave the comparison to us where the other side is NumPy's.
    __array_ufunc__ = None

    def __init__(self, share: float, number: int, *, off: float = 0.0) -> None:
        self.share, self.number, self.margin = share, number, off + 3 * sqrt(share * (1 - share) / number)

    def __eq__(self, seen: object) -> bool:
        shares = np.asarray(seen, dtype=np.float64).ravel()
        if THOROUGH and FIGURES:
            test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
            line = [test, " ".join(f"{share:.4f}" for share in shares), f"{self.share:g}", f"{self.margin:.4f}"]
            with Path(FIGURES).open("a") as file:
                file.write("\t".join([*line, str(self.number)]) + "\n")
        return bool((np.abs(shares - self.share) <= self.margin).all())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.share:g} within {self.margin:.4f}"
