"""Figures of two settings side by side, and their difference, with intervals over queries and judges.

The settings are alone and in context, or two predictors of the same labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Counts, Dense, Floats, Ints, Sums, membership
from karat.stats.cluster_robust import Variance, combined

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Figure = Callable[[Floats], Floats]
#: On which scale intervals are even to both sides: that of log odds, of log(1 - figure), Fisher's z, or the figure's.
Scale = Literal["share", "kappa", "rho", "plain"]

#: How many numbers of sums to hold at once: few enough to stay near the processor while figures are made of them.
AT_ONCE = 500_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that figures add up from, such as the documents of one query that one judge judged."""

    query: Ints
    #: Whose labels meet in which cell: cells and judges by number, a row for each judge of a cell; none where judges
    #: do not stand for others.
    judged: tuple[Ints, Ints] | None = None

    @cached_property
    def clusters(self) -> tuple[csr_array, ...]:
        """What is left out in turn: queries, and where judges are a sample judges, and each judge's cells of a query.

        Matrices of clusters x cells, 1 where a cell belongs to a cluster, so that products with them are sums.
        """
        number = len(self.query)
        every = np.arange(number)
        if self.judged is None:
            return (_clusters(every, self.query, number),)
        cell, judge = self.judged
        crossed = self.query[cell] * (int(judge.max(initial=0)) + 1) + judge
        kinds = ((every, self.query), (cell, judge), (cell, crossed))
        return tuple(_clusters(cells, cluster, number) for cells, cluster in kinds)

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
    sums: Sequence[Floats | Counts], figure: Figure, cells: Cells, scale: Scale, *, level: float, draws: int, seed: int
) -> Compared:
    """Figures alone and in context from what adds up over cells: figures x whatever a figure needs, for each cell.

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
    parts = [part if isinstance(part, Counts) else Dense(part) for part in sums]
    value = _with_difference(figure(_whole(parts)))
    by_query, queries = _jackknife(parts, figure, cells.clusters[0])
    spread, number = by_query, queries
    if cells.judged is not None:
        by_judge, people = _jackknife(parts, figure, cells.clusters[1])
        crossed, _ = _jackknife(parts, figure, cells.clusters[2])
        spread, number = combined(by_query, by_judge, crossed.variance), np.minimum(queries, people)
    told = (number >= FEWEST) & ~np.isnan(value)
    error = np.sqrt(np.where(told & (spread.variance > 1e-18), spread.variance, np.nan))
    low, high = np.full((2, *value.shape), np.nan)
    if draws and cells.judged is not None:
        low, high = _ends(value, error, spread.df, level, scale)
    elif draws:
        drawn = _drawn(parts, figure, cells.query, resampling)
        for place in np.argwhere(told):
            at = tuple(place)
            low[at], high[at] = resampling.ends(drawn[:, *at], int(number[at]))
    if draws and scale == "share":
        missed = 1 - ((1 - level) / 2) ** (1 / np.maximum(number[:2], 1))
        never, always = ((value[:2] == end) & told[:2] for end in (0, 1))
        low[:2][never], high[:2][never] = 0.0, missed[never]
        low[:2][always], high[:2][always] = 1 - missed[always], 1.0
    p = 2 * stdtr(np.maximum(spread.df[-1], 1), -np.abs(value[-1] / error[-1]))
    return Compared(value, low, high, p, queries)


def one_setting(
    sums: Floats | Counts, figure: Figure, cells: Cells, scale: Scale, *, level: float, draws: int, seed: int
) -> tuple[Floats, Floats, Floats, Ints]:
    """Figures of one setting, the ends of their intervals and their numbers of queries, from such sums."""
    found = compared([sums], figure, cells, scale, level=level, draws=draws, seed=seed)
    return found.value[0], found.low[0], found.high[0], found.queries[0]


def _clusters(cell: Ints, cluster: Ints, cells: int) -> csr_array:
    """Which cells belong to which cluster, those of the lowest number first."""
    from scipy.sparse import csr_array

    if (np.diff(cluster) < 0).any():
        order = np.argsort(cluster, kind="stable")
        cell, cluster = cell[order], cluster[order]
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    return csr_array((np.ones(len(cluster)), cell, np.append(starts, len(cluster))), shape=(len(starts), cells))


def _whole(parts: Sequence[Sums]) -> Floats:
    """The sums over all cells: settings x figures x whatever a figure needs."""
    return np.stack([part.whole for part in parts])


def _jackknife(parts: Sequence[Sums], figure: Figure, clusters: csr_array) -> tuple[Variance, Ints]:
    """How far figures move when a cluster of cells is left out, and how many clusters tell something of each."""
    whole = _whole(parts)
    # Sums of squares around the figure itself, which those with one cluster less are near to.
    near = np.nan_to_num(_with_difference(figure(whole)))
    number, moved, squares = np.zeros(near.shape, np.int64), np.zeros(near.shape), np.zeros(near.shape)
    at_once = max(1, AT_ONCE // max(whole.size, 1))
    # Where every cluster is a cell, as those of a judge and a query mostly are, there is nothing to add up.
    single = np.array_equal(clusters.indices, np.arange(clusters.shape[0]))
    for first in range(0, clusters.shape[0], at_once):
        some = slice(first, first + at_once)
        # Settings stay apart until they are few rows: together they would be in memory twice.
        added = [part.rows(some) if single else part.added(clusters[some]) for part in parts]
        # Most clusters of a judge and a query have one of a few sums: figures are made once for each.
        different, times = _different(np.concatenate(added, axis=1))
        sums = different.reshape(-1, *whole.shape)
        there = (sums.reshape(*sums.shape[:3], -1) != 0).any(axis=3)
        if there.shape[1] == 2:
            there = np.concatenate([there, there.any(axis=1, keepdims=True)], axis=1)
        move = np.where(there, _with_difference(figure(whole - sums), axis=1) - near, 0.0)
        number += np.tensordot(times, there, axes=1)
        moved += np.tensordot(times, move, axes=1)
        squares += np.tensordot(times, move**2, axes=1)
    n = np.maximum(number, 1)
    rest = squares - moved**2 / n
    rest[rest < 1e-12 * squares] = 0.0  # they all move alike: what is left is rounding
    return Variance(rest * (number - 1) / n, np.maximum(number - 1.0, 1.0)), number


def _different(rows: Floats) -> tuple[Floats, Ints]:
    """The different rows and how often each comes: rows are the same if their bits add up to the same 64-bit number.

    >>> _different(np.array([[1.0, 0.5], [0.0, 2.0], [1.0, 0.5]]))[1].tolist()
    [2, 1]
    """
    bits = np.ascontiguousarray(rows).view(np.uint64)
    drawn = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.uint64) * 2 + 1
    # The lowest bits of numbers such as 1.0 are zeros, which a product leaves zeros: the upper bits are mixed in.
    _, first, times = np.unique((bits ^ bits >> np.uint64(42)) @ drawn, return_index=True, return_counts=True)
    order = np.argsort(first)
    return rows[first[order]], times[order]


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


def _drawn(parts: Sequence[Sums], figure: Figure, query: Ints, resampling: Resampling) -> Floats:
    """The figures when queries are drawn with replacement: draws x 3 x figures."""
    shape, queries = _whole(parts).shape, membership(query, int(query.max(initial=-1)) + 1)
    flat = np.concatenate([part.added(queries) for part in parts], axis=1)
    at_once = max(1, AT_ONCE // flat.shape[1])
    found = [np.empty((0, 3 if len(parts) == 2 else 1, shape[1]))]
    for times in resampling.times(len(flat)):
        for start in range(0, len(times), at_once):
            sums = times[start : start + at_once] @ flat
            found.append(_with_difference(figure(sums.reshape(-1, *shape)), axis=1))
    return np.concatenate(found)


def share(sums: Floats) -> Floats:
    """The first of two sums as a share of the second, NaN of nothing."""
    whole = sums[..., 1]
    shares: Floats = sums[..., 0] / np.where(whole > 0, whole, np.nan)
    return shares


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
    """Two settings and, behind them, the second less the first; a single setting has none."""
    if value.shape[axis] == 1:
        return value
    first, second = np.take(value, 0, axis), np.take(value, 1, axis)
    return np.stack([first, second, second - first], axis=axis)
