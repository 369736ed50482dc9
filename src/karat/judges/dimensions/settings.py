"""Figures alone and in context side by side, and their difference, with intervals over queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.stats import FEWEST, Resampling

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Figure = Callable[[Floats], Floats]

#: How many numbers of resampled sums to hold at once.
AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Compared:
    """Figures with the ends of their intervals: alone, in context, and the difference, in three rows."""

    value: Floats
    low: Floats
    high: Floats
    #: How many queries tell something of each.
    queries: Ints

    def columns(self) -> list[pl.Series]:
        """The figures as columns alone, context and difference, each with its interval."""
        return [
            pl.Series(f"{name}{end}", numbers[place])
            for place, name in enumerate(("alone", "context", "difference"))
            for end, numbers in (("", self.value), ("_low", self.low), ("_high", self.high))
        ]


def compared(
    sums: Sequence[Floats], figure: Figure, *, level: float, draws: int, seed: int, shares: bool = False
) -> Compared:
    """Figures alone and in context from what adds up over queries: queries x figures x whatever a figure needs.

    >>> sums = np.array([[[1.0, 2.0]], [[2.0, 2.0]]])
    >>> found = compared([sums, sums[::-1] * [1, 2]], share, level=0.95, draws=0, seed=0)
    >>> found.value.ravel().tolist(), found.low.ravel().tolist()
    ([0.75, 0.375, -0.375], [nan, nan, nan])

    Queries are resampled as wholes, the same in both settings, so that the difference is one of pairs. An interval is
    NaN where fewer than five queries tell something, or resampling leaves a figure unmoved. But one of `shares` that is
    0 (or 1) in every query ends where so many queries could still have missed the other answer (exact binomial bound).
    """
    resampling = Resampling(level, draws, seed)
    both = np.stack(sums, axis=1)
    queries, figures = both.shape[0], both.shape[2]
    there: npt.NDArray[np.bool_] = (both.reshape(queries, 2, figures, -1) != 0).any(axis=3)
    number = np.stack([*there.sum(axis=0), there.any(axis=1).sum(axis=0)])
    value = _with_difference(figure(both.sum(axis=0)))
    low, high = np.full((2, 3, figures), np.nan)
    if draws and queries >= FEWEST:
        flat = both.reshape(queries, -1)
        at_once = max(1, AT_ONCE // flat.shape[1])
        found = []
        for times in resampling.times(queries):
            for start in range(0, len(times), at_once):
                summed = times[start : start + at_once] @ flat
                found.append(_with_difference(figure(summed.reshape(-1, *both.shape[1:])), axis=1))
        drawn = np.concatenate(found)
        for place in range(3):
            for k in range(figures):
                if number[place, k] >= FEWEST and not np.isnan(value[place, k]):
                    low[place, k], high[place, k] = resampling.ends(drawn[:, place, k], int(number[place, k]))
    if draws and shares:
        missed = 1 - ((1 - level) / 2) ** (1 / np.maximum(number[:2], 1))
        never, always = ((value[:2] == end) & (number[:2] >= FEWEST) for end in (0, 1))
        low[:2][never], high[:2][never] = 0.0, missed[never]
        low[:2][always], high[:2][always] = 1 - missed[always], 1.0
    return Compared(value, low, high, number)


def one_setting(
    sums: Floats, figure: Figure, *, level: float, draws: int, seed: int, shares: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Figures of one setting and the ends of their intervals, from queries x figures x whatever a figure needs."""
    found = compared([sums, np.zeros_like(sums)], figure, level=level, draws=draws, seed=seed, shares=shares)
    return found.value[0], found.low[0], found.high[0]


def share(sums: Floats) -> Floats:
    """The first of two sums as a share of the second, NaN of nothing."""
    whole = sums[..., 1]
    shares: Floats = sums[..., 0] / np.where(whole > 0, whole, np.nan)
    return shares


def difference_p(sums: Sequence[Floats]) -> Floats:
    """Two-sided p of no difference between shares alone and in context, from their sums: queries x figures x 2.

    >>> sums = np.array([[[1.0, 2.0]], [[2.0, 3.0]], [[1.0, 1.0]], [[0.0, 2.0]], [[1.0, 3.0]]])
    >>> difference_p([sums, sums + [0.5, 0]]).round(4).tolist()
    [0.0042]

    Student's t of what each query adds to the difference, which allows for documents of one query. NaN where fewer than
    five queries tell something, or nothing varies.
    """
    from scipy.special import stdtr

    part = [(each[..., 0] - each[..., 1] * share(each.sum(axis=0))) / each[..., 1].sum(axis=0) for each in sums]
    score = part[1] - part[0]
    number = np.any([each[..., 1] > 0 for each in sums], axis=0).sum(axis=0)
    error = np.sqrt((score**2).sum(axis=0) * number / np.maximum(number - 1, 1))
    enough = (number >= FEWEST) & (error > 1e-12)
    t = (share(sums[1].sum(axis=0)) - share(sums[0].sum(axis=0))) / np.where(enough, error, np.nan)
    p: Floats = 2 * stdtr(np.maximum(number - 1, 1), -np.abs(t))
    return p


def by_query(query: Ints, values: Floats, queries: int) -> Floats:
    """The sums of each query: queries x columns.

    >>> by_query(np.array([1, 1]), np.array([[1.0, 0.0], [2.0, 5.0]]), 2).tolist()
    [[0.0, 0.0], [3.0, 5.0]]
    """
    summed = np.zeros((queries, *values.shape[1:]))
    np.add.at(summed, query, values)
    return summed


def interval_note(low: Floats, value: Floats, draws: int) -> list[str]:
    """What to say of figures that have no interval."""
    bare = int((np.isnan(low) & ~np.isnan(value)).sum())
    if not draws or not bare:
        return []
    return [
        f"no interval for {bare} of {int((~np.isnan(value)).sum())} figures: fewer than {FEWEST} queries, or all alike"
    ]


def in_words(
    value: float, low: float, high: float, level: float, *, percent: bool = False, signed: bool = False
) -> str:
    """A figure with its interval, as it stands in a sentence.

    >>> in_words(0.184, 0.15, 0.22, 0.95, percent=True), in_words(-1.05, -1.2, -0.9, 0.95, signed=True)
    ('18.4 % (95 % interval 15.0 to 22.0)', '-1.05 (95 % interval -1.20 to -0.90)')
    """
    if np.isnan(value):
        return "undefined"
    scale, places = (100, 1) if percent else (1, 2)
    sign = "+" if signed else ""
    text = f"{scale * value:{sign}.{places}f}" + (" %" if percent else "")
    if np.isnan(low):
        return text
    ends = f"{scale * low:{sign}.{places}f} to {scale * high:{sign}.{places}f}"
    return f"{text} ({level * 100:g} % interval {ends})"


def _with_difference(value: Floats, axis: int = 0) -> Floats:
    """Two settings and, behind them, the second less the first."""
    first, second = np.take(value, 0, axis), np.take(value, 1, axis)
    return np.stack([first, second, second - first], axis=axis)
