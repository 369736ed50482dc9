"""How a difference is looked at: once, when all is in, or again and again while queries arrive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.errors import BadInput, Undefined
from karat.estimate.estimate import Difference, Estimate
from karat.stats.sequences import FIRST, best_r, reaches


@dataclass(frozen=True)
class Look:
    """The level of the intervals, and the number of queries planned where results are peeked at on the way.

    >>> values = np.random.default_rng(3).normal([0.4, 0.5], 0.1, size=(100, 2))
    >>> estimate = Estimate.of_values("plain", ("a", "b"), values)
    >>> once, always = Look().at(estimate, 0, 1), Look(planned=100).at(estimate, 0, 1)
    >>> bool(always.high - always.low > once.high - once.low)
    True

    An interval for peeking holds at all looks together, so one may stop as soon as 0 is outside of it.
    """

    level: float = 0.95
    planned: int | None = None

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise BadInput.at("the interval's level", expected="a share from 0.5, such as 0.95", found=str(self.level))
        if self.planned is not None and self.planned < FIRST:
            raise BadInput.at("the queries planned", expected=f"{FIRST} or more", found=str(self.planned))

    @property
    def peeking(self) -> bool:
        """Whether results are looked at more than once."""
        return self.planned is not None

    @property
    def alpha(self) -> float:
        """The share of false alarms that is put up with."""
        return 1 - self.level

    def at(self, estimate: Estimate, a: int, b: int) -> Difference:
        """System b less system a."""
        once = estimate.difference(a, b, self.level)
        if self.planned is None or np.isnan(once.low):
            return once
        n = estimate.n_queries
        if n < FIRST:
            raise Undefined(f"an interval for peeking needs {FIRST} queries or more, and there are {n}")
        r = best_r(self.planned, self.alpha)
        half = once.standard_error * np.sqrt(n) * float(reaches(float(n), r, alpha=self.alpha))
        # The smallest alpha whose sequence leaves 0 outside.
        z = once.difference / once.standard_error
        p = min(1.0, float(np.sqrt(n * r + 1) * np.exp(-(z**2) * n * r / (2 * (n * r + 1)))))
        wide = once._replace(low=once.difference - half, high=once.difference + half, p=p)
        return wide.within(estimate.score_range)
