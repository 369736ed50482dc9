"""The bootstrap: how far a mean over queries might have come out otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from karat.errors import BadInput
from karat.stats.arrays import Floats, Ints
from karat.stats.student_t import t_quantile

#: So many counts are made at a time: few enough to stay near the processor.
AT_ONCE = 200_000
#: Resampled means cannot leave the range of the rows, which with fewer rows than this is too narrow to be honest.
FEWEST = 5


#: Which share of the draws may be undefined before an interval is.
MOST_UNDEFINED = 0.05


def check_level(level: float) -> None:
    """Refuse what is no level of an interval."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise BadInput.at("the interval's level", expected="a share such as 0.95", found=str(level))


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn: their level, how many draws, and the seed; checked once, here.

    >>> Resampling(level=95)
    Traceback (most recent call last):
    karat.errors.BadInput: the interval's level: expected a share such as 0.95, found 95

    `fewest` is the smallest number of draws beside none at all.
    """

    level: float = 0.95
    draws: int = 1000
    seed: int = 0
    fewest: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        if not _whole(self.draws) or 0 < self.draws < self.fewest:
            enough = f"0 draws, or {self.fewest} or more" if self.fewest else "0 draws or more"
            raise BadInput.at("the bootstrap", expected=enough, found=str(self.draws))
        if not _whole(self.seed):
            raise BadInput.at("the seed", expected="a whole number from 0", found=str(self.seed))

    def times(self, n: int) -> Iterator[Ints]:
        """How often each of n rows is drawn, as `resampled` has it."""
        return resampled(n, self.draws, self.seed)

    def outside(self, n: int) -> float:
        """The share of draws to leave out at each end, so that n rows give an interval as wide as Student's t."""
        from statistics import NormalDist

        return NormalDist().cdf(sqrt(n / (n - 1)) * t_quantile((1 - self.level) / 2, n - 1))

    def ends(self, drawn: Floats, n: int, undefined: float = MOST_UNDEFINED) -> tuple[float, float]:
        """The interval of a figure of n rows from its draws; NaN where the draws cannot tell.

        >>> Resampling().ends(np.array([0.5, 0.5, 0.5]), 30)
        (nan, nan)

        They cannot where all are alike, or more than the share `undefined` of them are NaN.
        """
        defined = drawn[~np.isnan(drawn)]
        if len(defined) < max((1 - undefined) * len(drawn), 1) or np.ptp(defined) <= 1e-12:
            return np.nan, np.nan
        low, high = self.cut(defined, n)
        return float(low), float(high)

    def cut(self, drawn: Floats, n: int, method: Literal["linear", "nearest"] = "linear") -> tuple[Floats, Floats]:
        """The interval of each column of draws, all of them defined, for figures of n rows."""
        outside = self.outside(n)
        low, high = np.quantile(drawn, [outside, 1 - outside], axis=0, method=method)
        return low, high


def mean_intervals(values: Floats, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
    """Lower and upper ends of an interval for the mean of each column, rows drawn with replacement.

    >>> low, high = mean_intervals(np.array([[0.2], [0.4], [0.6], [0.5], [0.1]]), seed=1)
    >>> bool(low[0] < 0.36 < high[0])
    True

    The ends are percentiles of the resampled means, taken a little further out so that the interval is as wide as
    Student's t is for few rows: plain percentiles cover too rarely there. Where the rows cannot tell
    (fewer than five, or all alike) the ends are NaN, not an interval without width.

    Reference: Hesterberg, What Teachers Should Know About the Bootstrap (The American Statistician 2015), 5.4.
    """
    n, columns = values.shape
    nothing = np.full(columns, np.nan)
    if n < FEWEST:
        return nothing, nothing.copy()
    resampling = Resampling(level, draws, seed)
    low, high = resampling.cut(np.concatenate([times @ values / n for times in resampling.times(n)]), n)
    alike = values.min(axis=0) == values.max(axis=0)
    return np.where(alike, nothing, low), np.where(alike, nothing, high)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Part by whole, NaN where there is no whole."""
    out = np.full(part.shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def ratio_intervals(
    part: Floats, whole: Floats, resampling: Resampling, n: Ints | None = None
) -> tuple[Floats, Floats]:
    """Lower and upper ends for part / whole summed over rows, column by column, rows drawn with replacement.

    `n` says how many rows tell something of a column, if not all do; with fewer than five there is no interval.
    """
    rows, columns = part.shape
    n = np.full(columns, rows) if n is None else n
    low, high = np.full((2, columns), np.nan)
    told = np.flatnonzero(n >= FEWEST)
    if len(told) and resampling.draws:
        part, whole = part[:, told], whole[:, told]
        drawn = np.concatenate([ratio(times @ part, times @ whole) for times in resampling.times(rows)])
        # A draw may miss all rows of a rare column; the others tell.
        ends = [resampling.ends(of, int(n[at]), undefined=1.0) for at, of in zip(told, drawn.T, strict=True)]
        low[told], high[told] = np.transpose([end if end[0] < end[1] else (np.nan, np.nan) for end in ends])
    return low, high


def resampled(n: int, draws: int, seed: int) -> Iterator[Ints]:
    """How often each of n rows is drawn with replacement, draw by draw, in parts that keep memory small.

    Each part is a matrix with a row per draw; whatever is a sum over rows is then one matrix product away.

    >>> [part.sum(axis=1).tolist() for part in resampled(5, 3, seed=0)]
    [[5, 5, 5]]
    """
    rng = np.random.default_rng(seed)
    at_once = max(1, AT_ONCE // n)
    for start in range(0, draws, at_once):
        some = min(at_once, draws - start)
        rows = rng.integers(0, n, size=(some, n), dtype=np.int32)
        rows += (np.arange(some, dtype=np.int32) * n)[:, None]
        yield np.bincount(rows.ravel(), minlength=some * n).reshape(some, n)


def _whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and bool(number >= 0)
