"""What judges' labels say of one system, in summary: its score, its spread over queries, and how many there were."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from karat.errors import BadInput
from karat.records.base import count
from karat.stats.arrays import Floats
from karat.stats.correction import half_width, wilson

#: Figures in papers are rounded: a spread may be so much larger than the score allows.
ROUNDING = 0.005


@dataclass(frozen=True, repr=False)
class Observed:
    """A system's P@k as judges see it: the mean over n queries and the standard deviation between queries.

    >>> Observed(0.626, 10278, sd=0.414)
    A score of 0.626 over 10,278 queries, with a standard deviation of 0.414 between them.

    Without `sd` the score is a share of yes-or-no answers, as P@1 is. For another measure that is the most that its
    scores can vary.
    """

    score: float
    n: int
    sd: float | None = None

    def __post_init__(self) -> None:
        if not _real(self.score) or not 0 <= self.score <= 1:
            raise BadInput.at("the score", expected="a number from 0 to 1, such as 0.626", found=str(self.score))
        if not isinstance(self.n, int) or isinstance(self.n, bool) or self.n < 2:
            raise BadInput.at("the number of queries", expected="a whole number, 2 or more", found=str(self.n))
        if self.sd is None:
            return
        if not _real(self.sd) or self.sd < 0:
            raise BadInput.at("the standard deviation", expected="a number from 0", found=str(self.sd))
        most = math.sqrt(self.score * (1 - self.score) * self.n / (self.n - 1))
        if self.sd > most + ROUNDING:
            raise BadInput.at(
                "the standard deviation",
                expected=f"at most {most:.3f}, as scores from 0 to 1 with mean {self.score:g} have",
                found=f"{self.sd:g}",
                remedy="give the spread of the queries' scores",
            )

    @property
    def spread(self) -> float:
        """The standard deviation between queries: the one given, or that of yes-or-no answers."""
        return math.sqrt(self.score * (1 - self.score)) if self.sd is None else self.sd

    @property
    def variance(self) -> float:
        """The variance of the mean.

        Where all queries scored 0, or all 1, as if two of each had been added: that all were alike so far does not
        mean that all are. Where they are alike otherwise, it is 0.
        """
        if self.score in (0, 1):
            share = (self.n * self.score + 2) / (self.n + 4)
            return share * (1 - share) / (self.n + 4)
        return self.spread**2 / self.n

    @property
    def yes_or_no(self) -> float:
        """How many yes-or-no answers would tell as much as these queries: n itself for P@1."""
        if self.sd is None or self.score in (0, 1):
            return float(self.n)
        return self.score * (1 - self.score) / self.variance if self.variance > 0 else math.nan

    def interval(self, level: float) -> tuple[float, float]:
        """The naive interval: Wilson's for yes-or-no answers, otherwise Student's t; NaN where nothing varies."""
        if self.sd is None or self.score in (0, 1):
            low, high = wilson(self.score, self.n, level)
            return float(low), float(high)
        half = float(half_width(math.sqrt(self.variance), level, self.n - 1.0)) or math.nan
        return self.score - half, self.score + half

    def drawn(self, draws: int, rng: np.random.Generator) -> Floats:
        """Scores as they might have come out with other queries of the same kind."""
        if self.sd is None or self.score in (0, 1):
            share = (self.n * self.score + 2) / (self.n + 4) if self.score in (0, 1) else self.score
            return rng.binomial(self.n, share, draws) / self.n
        return rng.normal(self.score, math.sqrt(self.variance), draws)

    def __repr__(self) -> str:
        spread = "" if self.sd is None else f", with a standard deviation of {self.sd:g} between them"
        return f"A score of {self.score:g} over {count(self.n, 'query', 'queries')}{spread}."


def _real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
