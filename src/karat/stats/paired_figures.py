"""Figures of two settings side by side, and their difference, with intervals over queries and judges.

The settings are alone and in context, or two predictors of the same labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Floats, Ints
from karat.stats.two_way import Variance, combined

Figure = Callable[[Floats], Floats]
#: On which scale intervals are even to both sides: that of log odds, of log(1 - figure), Fisher's z, or the figure's.
Scale = Literal["share", "kappa", "rho", "plain"]

#: How many numbers of sums to hold at once.
AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that figures add up from, such as the documents of one query that one judge judged."""

    query: Ints
    #: Whose labels meet in which cell: cells and judges by number, a row for each judge of a cell; none where judges
    #: do not stand for others.
    judged: tuple[Ints, Ints] | None = None

    @property
    def population(self) -> str:
        """Whom intervals are about, in words."""
        if self.judged is not None:
            return "intervals are about judges like these and queries like these"
        return f"intervals are about these judges: fewer than {FEWEST} with names do not tell what others like them do"


@dataclass(frozen=True, eq=False)
class Compared:
    """Figures with the ends of their intervals: alone, in context, and the difference, in three rows."""

    value: Floats
    low: Floats
    high: Floats
    #: That the difference is none.
    p: Floats
    #: How many queries tell something of each.
    queries: Ints

    def frame(self, of: Mapping[str, Any], number: Sequence[Floats], **more: Floats) -> pl.DataFrame:
        """What figures are of, the figures with intervals, and the `number` of rows in each setting."""
        figures = self.columns(("alone", "context", "difference"))
        numbers = {f"n_{name}": n.astype(np.int64) for name, n in zip(("alone", "context"), number, strict=True)}
        return pl.DataFrame({**of, **figures, **more, **numbers, "n_queries": self.queries[2]})

    def columns(self, names: Sequence[str]) -> dict[str, Floats]:
        """The rows under these names, each with the ends of its intervals."""
        parts = (("", self.value), ("_low", self.low), ("_high", self.high))
        return {f"{name}{end}": numbers[place] for place, name in enumerate(names) for end, numbers in parts}


def compared(
    sums: Sequence[Floats], figure: Figure, cells: Cells, scale: Scale, *, level: float, draws: int, seed: int
) -> Compared:
    """Figures alone and in context from what adds up over cells: cells x figures x whatever a figure needs.

    >>> sums = np.array([[[1.0, 2.0]], [[2.0, 2.0]]])
    >>> found = compared([sums, sums[::-1] * [1, 2]], share, Cells(np.arange(2)), "share", level=0.95, draws=0, seed=0)
    >>> found.value.ravel().tolist(), found.low.ravel().tolist()
    ([0.75, 0.375, -0.375], [nan, nan, nan])

    Where judges are a sample, queries, judges and both crossed are left out in turn (the jackknife), and the three
    variances make one (`combined`). Otherwise queries are resampled as wholes, the same in both settings, so that the
    difference is one of pairs. An interval is NaN where fewer than five queries or judges tell something, or nothing
    moves a figure. But a share that is 0 (or 1) everywhere ends where so many queries, or judges if they are fewer,
    could still have missed the other answer (exact binomial bound).
    """
    from scipy.special import stdtr

    resampling = Resampling(level, draws, seed)
    both = np.stack(sums, axis=1)
    value = _with_difference(figure(both.sum(axis=0)))
    by_query, queries = _jackknife(both, figure, np.arange(len(both)), cells.query)
    spread, number = by_query, queries
    if cells.judged is not None:
        cell, judge = cells.judged
        by_judge, people = _jackknife(both, figure, cell, judge)
        crossed, _ = _jackknife(both, figure, cell, cells.query[cell] * (int(judge.max(initial=0)) + 1) + judge)
        spread, number = combined(by_query, by_judge, crossed.variance), np.minimum(queries, people)
    told = (number >= FEWEST) & ~np.isnan(value)
    error = np.sqrt(np.where(told & (spread.variance > 1e-18), spread.variance, np.nan))
    low, high = np.full((2, *value.shape), np.nan)
    if draws and cells.judged is not None:
        low, high = _ends(value, error, spread.df, level, scale)
    elif draws:
        drawn = _drawn(both, figure, cells.query, resampling)
        for place in np.argwhere(told):
            at = tuple(place)
            low[at], high[at] = resampling.ends(drawn[:, *at], int(number[at]))
    if draws and scale == "share":
        missed = 1 - ((1 - level) / 2) ** (1 / np.maximum(number[:2], 1))
        never, always = ((value[:2] == end) & told[:2] for end in (0, 1))
        low[:2][never], high[:2][never] = 0.0, missed[never]
        low[:2][always], high[:2][always] = 1 - missed[always], 1.0
    p = 2 * stdtr(np.maximum(spread.df[2], 1), -np.abs(value[2] / error[2]))
    return Compared(value, low, high, p, queries)


def one_setting(
    sums: Floats, figure: Figure, cells: Cells, scale: Scale, *, level: float, draws: int, seed: int
) -> tuple[Floats, Floats, Floats, Ints]:
    """Figures of one setting, the ends of their intervals and their numbers of queries, from such sums."""
    found = compared([sums, np.zeros_like(sums)], figure, cells, scale, level=level, draws=draws, seed=seed)
    return found.value[0], found.low[0], found.high[0], found.queries[0]


def _jackknife(both: Floats, figure: Figure, cell: Ints, cluster: Ints) -> tuple[Variance, Ints]:
    """How far figures move when a cluster of cells is left out, and how many clusters tell something of each."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    whole, tail = both.sum(axis=0), both.shape[2]
    there, values = np.zeros((len(starts), 3, tail), np.bool_), np.zeros((len(starts), 3, tail))
    ends = np.append(starts, len(order))
    at_once = max(1, AT_ONCE // max(whole.size, 1))
    first = 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + at_once, "right")) - 1)
        mine = both[cell[order[ends[first] : ends[last]]]]
        sums = np.add.reduceat(mine, starts[first:last] - ends[first], axis=0)
        some = (sums.reshape(len(sums), 2, tail, -1) != 0).any(axis=3)
        there[first:last] = np.concatenate([some, some.any(axis=1, keepdims=True)], axis=1)
        values[first:last] = _with_difference(figure(whole - sums), axis=1)
        first = last
    number = there.sum(axis=0)
    values = np.where(there, values, 0.0)
    middle = values.sum(axis=0) / np.maximum(number, 1)
    squares = (np.where(there, values - middle, 0.0) ** 2).sum(axis=0)
    return Variance(squares * (number - 1) / np.maximum(number, 1), np.maximum(number - 1.0, 1.0)), number


def _ends(value: Floats, error: Floats, df: Floats, level: float, scale: Scale) -> tuple[Floats, Floats]:
    """The ends of intervals by Student's t; differences are on the figures' own scale."""
    from scipy.special import stdtrit

    half = stdtrit(df, (1 + level) / 2) * error
    ends = np.stack([value - half, value + half])
    ends[:, :2] = bounded_ends(value[:2], half[:2], scale)
    return ends[0], ends[1]


def bounded_ends(value: Floats, half: Floats, scale: Scale) -> Floats:
    """The ends (2 x figures) of intervals that reach so far to each side, on a scale that has no end where figures do.

    >>> bounded_ends(np.array([0.9]), np.array([0.2]), "share").round(2).tolist()
    [[0.49], [0.99]]
    """
    from scipy.special import expit, logit

    scales: dict[Scale, tuple[Figure, Figure, Figure]] = {
        "share": (logit, expit, lambda v: v * (1 - v)),
        "kappa": (lambda v: -np.log1p(-v), lambda v: -np.expm1(-v), lambda v: 1 - v),
        "rho": (np.arctanh, np.tanh, lambda v: 1 - v**2),
        "plain": (np.positive, np.positive, np.ones_like),
    }
    to, back, slope = scales[scale]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = slope(value)
        # Without room, nothing tells how far from the end a figure might be.
        reach = np.where(room > 1e-12, half / room, np.nan)
        return np.stack([back(to(value) - reach), back(to(value) + reach)])


def _drawn(both: Floats, figure: Figure, query: Ints, resampling: Resampling) -> Floats:
    """The figures when queries are drawn with replacement: draws x 3 x figures."""
    queries = int(query.max(initial=-1)) + 1
    flat = summed(query, both, queries).reshape(queries, -1)
    at_once = max(1, AT_ONCE // flat.shape[1])
    found = [np.empty((0, 3, both.shape[2]))]
    for times in resampling.times(queries):
        for start in range(0, len(times), at_once):
            sums = times[start : start + at_once] @ flat
            found.append(_with_difference(figure(sums.reshape(-1, *both.shape[1:])), axis=1))
    return np.concatenate(found)


def share(sums: Floats) -> Floats:
    """The first of two sums as a share of the second, NaN of nothing."""
    whole = sums[..., 1]
    shares: Floats = sums[..., 0] / np.where(whole > 0, whole, np.nan)
    return shares


def summed(cell: Ints, values: Floats, cells: int) -> Floats:
    """The sums of each cell: cells x columns.

    >>> summed(np.array([1, 1]), np.array([[1.0, 0.0], [2.0, 5.0]]), 2).tolist()
    [[0.0, 0.0], [3.0, 5.0]]
    """
    sums = np.zeros((cells, *values.shape[1:]))
    np.add.at(sums, cell, values)
    return sums


def interval_note(low: Floats, value: Floats, draws: int, cells: Cells) -> list[str]:
    """Whom intervals are about, and what to say of figures that have none."""
    known, bare = ~np.isnan(value), np.isnan(low)
    notes = [cells.population] if draws and not bare.all() else []
    if draws and (bare & known).any():
        few = f"fewer than {FEWEST} queries{'' if cells.judged is None else ' or judges'}, or all alike"
        notes.append(f"no interval for {(bare & known).sum()} of {known.sum()} figures: {few}")
    return notes


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
