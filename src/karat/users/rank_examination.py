"""The position-based model: a result is clicked when its rank is looked at and it is attractive.

The chance of a click is examination of the rank times attractiveness of the document for the query. A document that is
always shown at one rank says nothing about ranks: its attractiveness and the rank's examination trade off. What is
known of examination comes from documents that were shown at several ranks, and holds for ranks that they connect.

Reference: Craswell, Zoeter, Taylor and Ramsey (WSDM 2008); Chuklin, Markov and de Rijke, Click Models for Web Search
(2015), by EM.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints
from karat.users.click_counts import GROUPS, PATTERNS, Buckets, Cells, Known, Patterns, Shown, patterns_of

#: EM ends when no examination changes by more than this share of itself.
CLOSE = 1e-6
MOST_STEPS = 3000
#: Rounds of the simpler model that EM starts from, in which chances may exceed 1.
FIRST_ROUNDS = 50
#: Chances are kept away from 0 and 1, where the likelihood has no slope.
LEAST, MOST = 1e-9, 1 - 1e-9
#: Halvings of an interval from 0 to 1 until it is as short as numbers tell.
HALVINGS = 50


@dataclass(frozen=True, eq=False)
class Examination:
    """How likely each rank is looked at, the most looked-at one 1; NaN where the log cannot tell."""

    chance: Floats
    converged: bool
    #: How many items were shown at two ranks or more, and so tell about ranks.
    telling: int

    @property
    def linked(self) -> Bools:
        """The ranks that are known."""
        return ~np.isnan(self.chance)


def examination(patterns: Patterns) -> Examination:
    """The chance that each rank is looked at, by EM."""
    n = len(patterns.ranks)
    linked = _linked(patterns.cells, n)
    chance, telling = np.full(n, np.nan), int(patterns.items[patterns.cells.telling].sum())
    if linked.sum() < 2:
        return Examination(chance, True, telling)
    look, converged = _em(_telling(patterns.cells, linked), n)
    chance[linked] = look[linked] / look[linked].max()
    return Examination(chance, converged, telling)


def _linked(cells: Cells, n: int) -> Bools:
    """The ranks that items shown at several of them connect, as far as somebody clicked there."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    kept = cells.telling[cells.item]
    table = csr_array((np.ones(int(kept.sum())), (cells.item[kept], cells.rank[kept])), shape=(cells.items, n))
    part = connected_components(table.T @ table, directed=False)[1]
    weight = np.bincount(part[cells.rank[kept]], weights=cells.shown[kept], minlength=part.max() + 1)
    linked: Bools = (part == np.argmax(weight)) & (np.bincount(cells.rank[kept], minlength=n) > 0)
    # An item of the part that counts is in no other: all its ranks are linked by itself.
    kept &= linked[cells.rank]
    # A rank without any click among them would be looked at never, and its logarithm is none.
    return linked & (totals(cells.rank[kept], cells.clicks[kept], n) > 0)


def _telling(cells: Cells, linked: Bools) -> Cells:
    """The cells that tell about these ranks."""
    return cells.kept(cells.telling[cells.item] & linked[cells.rank])


def _em(cells: Cells, n: int) -> tuple[Floats, bool]:
    """The examination of each rank that, with some attractiveness of each item, makes these clicks most likely."""
    shown_item, shown_rank = cells.by_item(cells.shown), cells.by_rank(cells.shown, n)
    clicks_item, clicks_rank = cells.by_item(cells.clicks), cells.by_rank(cells.clicks, n)
    look = np.ones(n)
    for _ in range(FIRST_ROUNDS):
        attraction = _share(clicks_item, cells.by_item(cells.shown * look[cells.rank]))
        look = _share(clicks_rank, cells.by_rank(cells.shown * attraction[cells.item], n))
        look /= look.max()
    attraction = np.clip(attraction, LEAST, MOST)
    look = np.clip(look, LEAST, MOST)
    passed = cells.shown - cells.clicks
    for _ in range(MOST_STEPS):
        g, a = look[cells.rank], attraction[cells.item]
        no_click = passed / (1 - g * a)
        # Without a click, the rank may have been looked at all the same, or the document attractive all the same.
        new_look = _share(cells.by_rank(cells.clicks + no_click * g * (1 - a), n), shown_rank)
        new_attraction = _share(cells.by_item(cells.clicks + no_click * a * (1 - g)), shown_item)
        new_look, attraction = np.clip(new_look, LEAST, MOST), np.clip(new_attraction, LEAST, MOST)
        used = shown_rank > 0
        old = look[used] / look[used].max()
        moved = np.abs(new_look[used] / new_look[used].max() / old - 1).max()
        look = new_look
        if moved < CLOSE:
            return look, True
    return look, False


def attraction_given(cells: Cells, chance: Floats) -> Floats:
    """The attractiveness of each item that makes its clicks most likely, where the ranks' chances are known.

    The likelihood's slope, clicks less passed x g a / (1 - g a) over the ranks, falls as a grows: its zero is halved
    in upon.
    """
    g, passed, clicks = chance[cells.rank], cells.shown - cells.clicks, cells.by_item(cells.clicks)
    low, high = np.zeros(cells.items), np.ones(cells.items)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        p = np.minimum(g * middle[cells.item], MOST)
        more = clicks > cells.by_item(passed * p / (1 - p))
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return (low + high) / 2


class Slopes:
    """What the rows of telling items add to the slope of the likelihood in the logarithm of each rank's examination."""

    def __init__(self, cells: Cells, looked: Examination) -> None:
        from scipy.sparse import csr_array

        self.n = len(looked.chance)
        self.rows = cells.telling[cells.item] & looked.linked[cells.rank]
        self.cells = some = cells.kept(self.rows)
        self.p = np.clip(looked.chance[some.rank] * attraction_given(some, looked.chance)[some.item], LEAST, MOST)
        weight = some.shown * self.p / (1 - self.p)
        shape = (some.items, self.n)
        self.table: Any = csr_array((weight, (some.item, some.rank)), shape=shape)
        # What is left of a rank's weight when items may be as attractive as they like.
        self.part: Any = csr_array((weight / some.by_item(weight)[some.item], (some.item, some.rank)), shape=shape)

    def information(self) -> Floats:
        """How sharply the likelihood bends: ranks x ranks."""
        found: Floats = np.diag(np.asarray(self.table.sum(axis=0)).ravel()) - (self.table.T @ self.part).toarray()
        return found

    def by_group(self, shown: Shown) -> Floats:
        """The sums of the slopes over each group of sessions: groups x ranks."""
        from scipy.sparse import csr_array

        place = np.full(len(self.rows), -1)
        place[self.rows] = np.arange(len(self.p))
        cell = place[shown.cell]
        told = cell >= 0
        cell, group = cell[told], shown.group[told]
        slope = (shown.clicked[told] - self.p[cell]) / (1 - self.p[cell])
        own = totals(group * self.n + self.cells.rank[cell], slope, GROUPS * self.n).reshape(GROUPS, self.n)
        shared = csr_array((slope, (group, self.cells.item[cell])), shape=(GROUPS, self.cells.items)) @ self.part
        found: Floats = own - shared.toarray()
        return found

    def squared(self) -> Floats:
        """The sums of the slopes' products over rows that are independent of each other: ranks x ranks."""
        from scipy.sparse import csr_array, diags_array

        cells = self.cells
        squares = cells.clicks + (cells.shown - cells.clicks) * (self.p / (1 - self.p)) ** 2
        table: Any = csr_array((squares, (cells.item, cells.rank)), shape=(cells.items, self.n))
        cross = (table.T @ self.part).toarray()
        both = (self.part.T @ diags_array(cells.by_item(squares)) @ self.part).toarray()
        found: Floats = np.diag(cells.by_rank(squares, self.n)) - cross - cross.T + both
        return found


def covariance_of(looked: Examination, information: Floats, meat: Floats) -> Floats:
    """The covariance of the logarithms of the examinations: the sandwich over sessions, the bootstrap's limit."""
    free = np.flatnonzero(looked.linked & (looked.chance < 1))
    bread = np.linalg.pinv(information[np.ix_(free, free)])
    covariance = np.zeros_like(information)
    covariance[np.ix_(free, free)] = bread @ meat[np.ix_(free, free)] @ bread
    return covariance


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


#: The row of a table of sums that is about no group and no rank.
NEITHER = -1
#: A table of sums, by group of sessions and rank or by two ranks.
SUMS = {"one": pl.Int64, "other": pl.Int64, "rate": pl.Float64, "slope": pl.Float64}


@dataclass(frozen=True, eq=False)
class Means:
    """The ranks of a log, the mean rate of clicks at each, and how likely each is looked at."""

    ranks: Ints
    impressions: Floats
    clicks: Floats
    looked: Examination

    @property
    def rate(self) -> Floats:
        """The mean rate of each rank."""
        return self.clicks / self.impressions

    def expected(self, cells: Cells) -> Floats:
        """The chance of a click in each cell: the rank's rate times how much more or less its item is clicked."""
        mean = self.rate[cells.rank]
        usual = cells.by_item(cells.shown * mean)
        ratio = np.divide(cells.by_item(cells.clicks), usual, out=np.zeros(cells.items), where=usual > 0)
        return np.minimum(mean * ratio[cells.item], 1.0)


@dataclass(frozen=True, eq=False)
class RankModel:
    """What is known of the ranks, with the covariances of the logarithms of rates and of examinations."""

    means: Means
    items: int
    of_rates: Floats
    of_examination: Floats
    #: By how much the variance of an item's clicks grows because those of one session hang together; at least 1.
    clustering: float
    sessions: bool

    @classmethod
    def of(cls, buckets: Buckets, known: Known) -> RankModel:
        """The model of a log."""
        patterns = Patterns.of(buckets.summed(patterns_of, PATTERNS, ["pattern"]))
        cells, n = patterns.cells, len(patterns.ranks)
        if not cells.clicks.any():
            raise Undefined("nobody clicked on anything: nothing can be told from clicks")
        looked = examination(patterns)
        means = Means(patterns.ranks, cells.by_rank(cells.shown, n), cells.by_rank(cells.clicks, n), looked)
        sums = buckets.summed(partial(_varied, means), SUMS, ["one", "other"])
        alone, together = sums.filter(one=NEITHER).select("rate", "slope").row(0)
        rate, slope = (_table(sums, name, GROUPS if known.sessions else n, n) for name in ("rate", "slope"))
        with np.errstate(divide="ignore", invalid="ignore"):
            per_click = 1 / means.clicks
        per_click[~np.isfinite(per_click)] = 0.0
        if known.sessions:
            of_rates, meat = _products(rate * per_click), _products(slope)
        else:
            once_more = known.rows / max(known.rows - 1, 1)
            of_rates, meat = rate * np.outer(per_click, per_click) * once_more, slope * once_more
        of_looks = np.zeros((n, n))
        if looked.linked.any():
            of_looks = covariance_of(looked, Slopes(cells, looked).information(), meat)
        clustering = max(1.0, together / alone) if alone else 1.0
        return cls(means, int(patterns.items.sum()), of_rates, of_looks, clustering, known.sessions)

    @property
    def error(self) -> Floats:
        """The standard error of the logarithm of each rank's examination."""
        return np.sqrt(np.diag(self.of_examination))


def _products(groups: Floats) -> Floats:
    """The covariance of sums over groups of sessions, groups x ranks, as of so many draws."""
    used = int((groups != 0).any(axis=1).sum())
    found: Floats = groups.T @ groups * used / max(used - 1, 1)
    return found


def _table(sums: pl.DataFrame, name: str, rows: int, columns: int) -> Floats:
    told = sums.filter(pl.col("one") != NEITHER)
    place = told["one"].to_numpy() * columns + told["other"].to_numpy()
    return totals(place, told[name].to_numpy(), rows * columns).reshape(rows, columns)


def _varied(means: Means, shown: Shown) -> pl.DataFrame:
    """How clicks of a bucket vary around what is expected of them: sums by group of sessions and rank.

    Where no sessions are known, all rows are independent of each other: then products of ranks with ranks.
    """
    cells, n = shown.among(means.ranks), len(means.ranks)
    expected = means.expected(cells)
    slopes = Slopes(cells, means.looked)
    if shown.session is not None:
        left = shown.clicked - expected[shown.cell]
        rate = totals(shown.group * n + cells.rank[shown.cell], left, GROUPS * n).reshape(GROUPS, n)
        slope = slopes.by_group(shown)
    else:
        squares = cells.clicks * (1 - expected) ** 2 + (cells.shown - cells.clicks) * expected**2
        rate, slope = np.diag(cells.by_rank(squares, n)), slopes.squared()
    one, other = np.divmod(np.arange(rate.size), n)
    alone, together = shown.squares(expected)
    return pl.DataFrame(
        {
            "one": np.append(one, NEITHER),
            "other": np.append(other, NEITHER),
            "rate": np.append(rate.ravel(), alone),
            "slope": np.append(slope.ravel(), together),
        }
    )
