"""What a grade is worth to users who disagree, as `karat disagree --out` writes it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.stats.arrays import Floats

#: The level of the intervals in such a file.
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class UserWeightsTable:
    """The worth of each level for M of N users, and how sure it is where the file has intervals."""

    name: str
    frame: pl.DataFrame

    def __call__(self, at_least: int, of: int) -> dict[float, float]:
        """The weight of each level."""
        mine = self._rows(at_least, of)
        return dict(zip(mine["level"].to_list(), mine["weight"].to_list(), strict=True))

    def errors(self, at_least: int, of: int) -> tuple[list[float], Floats]:
        """The levels and the covariance of their weights, taken to be independent: a file has no more."""
        mine = self._rows(at_least, of)
        if not {"low", "high"} <= {*mine.columns}:
            return mine["level"].to_list(), np.zeros((mine.height, mine.height))
        half = ((mine["high"] - mine["low"]) / 2).fill_null(0.0).fill_nan(0.0).to_numpy()
        return mine["level"].to_list(), np.diag((half / NormalDist().inv_cdf(0.5 + LEVEL / 2)) ** 2)

    def _rows(self, at_least: int, of: int) -> pl.DataFrame:
        mine = self.frame.filter((pl.col("at_least") == at_least) & (pl.col("of") == of)).sort("level")
        if not mine.height:
            known = sorted(
                {f"{m}/{n}" if n else _told(m, n) for m, n in self.frame.select("at_least", "of").iter_rows()}
            )
            raise BadInput.at(self.name, expected=f"weights for {_told(at_least, of)}", found=", ".join(known))
        return mine


def _told(at_least: int, of: int) -> str:
    """Of which users weights are; one who is not the judge is written as 1 of 0."""
    return (
        f"{at_least} of {of} users"
        if of
        else "a user who is not the judge" + advise(" (karat disagree users --weights-out)", " (judges.users)")
    )
