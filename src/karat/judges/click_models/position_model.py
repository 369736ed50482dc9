"""The position-based model: a result is clicked when its rank is looked at and it is attractive.

The chance of a click is examination of the rank times attractiveness of the document for the query. A document that is
always shown at one rank says nothing about ranks: its attractiveness and the rank's examination trade off. What is
known of examination comes from documents that were shown at several ranks, and holds for ranks that they connect.

Reference: Craswell, Zoeter, Taylor and Ramsey (WSDM 2008); Chuklin, Markov and de Rijke, Click Models for Web Search
(2015), by EM.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karat.judges.click_models.shown import GROUPS, Cells, Shown
from karat.stats import totals
from karat.stats.arrays import Bools, Floats

#: EM ends when no examination changes by more than this share of itself.
CLOSE = 1e-6
MOST_STEPS = 3000
#: Rounds of the simpler model that EM starts from, in which chances may exceed 1.
FIRST_ROUNDS = 50
#: Chances are kept away from 0 and 1, where the likelihood has no slope.
LEAST, MOST = 1e-9, 1 - 1e-9


@dataclass(frozen=True, eq=False)
class Examination:
    """How likely each rank is looked at, the most looked-at one 1; NaN where the log cannot tell.

    `covariance` is that of the logarithms, over sessions; 0 for the rank that is 1.
    """

    chance: Floats
    covariance: Floats
    converged: bool
    #: How many items were shown at two ranks or more, and so tell about ranks.
    telling: int

    @property
    def error(self) -> Floats:
        """The standard error of the logarithm of each chance."""
        return np.sqrt(np.diag(self.covariance))


def examination(shown: Shown) -> Examination:
    """The chance that each rank is looked at, by EM."""
    n = len(shown.ranks)
    cells, linked, telling = _telling(shown)
    chance = np.full(n, np.nan)
    if linked.sum() < 2:
        return Examination(chance, np.zeros((n, n)), True, telling)
    rank_chance, attraction, converged = _em(cells, n)
    chance[linked] = rank_chance[linked] / rank_chance[linked].max()
    attraction = attraction * rank_chance[linked].max()
    covariance = _covariance(shown, cells, chance, attraction, linked)
    return Examination(chance, covariance, converged, telling)


def _telling(shown: Shown) -> tuple[Cells, Bools, int]:
    """The cells of items shown at several ranks, of the ranks that these connect, and which ranks those are."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    cells, n = shown.cells, len(shown.ranks)
    at = np.bincount(cells.item, minlength=cells.items)
    clicked = cells.by_item(cells.clicks) > 0  # without a click there is nothing to compare
    useful = (at > 1) & clicked
    kept = useful[cells.item]
    table = csr_array((np.ones(int(kept.sum())), (cells.item[kept], cells.rank[kept])), shape=(cells.items, n))
    part = connected_components(table.T @ table, directed=False)[1]
    weight = np.bincount(part[cells.rank[kept]], weights=cells.shown[kept], minlength=part.max() + 1)
    linked = (part == np.argmax(weight)) & (np.bincount(cells.rank[kept], minlength=n) > 0)
    # An item of the part that counts is in no other: all its ranks are linked by itself.
    kept &= linked[cells.rank]
    # A rank without any click among them would be looked at never, and its logarithm is none.
    dead = linked & (totals(cells.rank[kept], cells.clicks[kept], n) == 0)
    linked &= ~dead
    kept &= linked[cells.rank]
    some = replace(
        cells, item=cells.item[kept], rank=cells.rank[kept], shown=cells.shown[kept], clicks=cells.clicks[kept]
    )
    return some, linked, int(useful.sum())


def _em(cells: Cells, n: int) -> tuple[Floats, Floats, bool]:
    """The examination of each rank and the attractiveness of each item that make these clicks most likely."""
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
            return look, attraction, True
    return look, attraction, False


def _covariance(shown: Shown, cells: Cells, chance: Floats, attraction: Floats, linked: Bools) -> Floats:
    """The covariance of the logarithms of the examinations: the sandwich over sessions, the bootstrap's limit."""
    from scipy.sparse import csr_array

    n = len(shown.ranks)
    p = np.clip(chance[cells.rank] * attraction[cells.item], LEAST, MOST)
    weight = cells.shown * p / (1 - p)
    shape = (cells.items, n)
    table = csr_array((weight, (cells.item, cells.rank)), shape=shape)
    # What is left of a rank's weight when items may be as attractive as they like.
    own = np.asarray(table.sum(axis=1)).ravel()
    part = csr_array((weight / own[cells.item], (cells.item, cells.rank)), shape=shape)
    information = np.diag(np.asarray(table.sum(axis=0)).ravel()) - (table.T @ part).toarray()
    free = np.flatnonzero(linked & (chance < 1))
    cell_of = np.full(len(shown.cells.item), -1)
    key, wanted = shown.cells.item * n + shown.cells.rank, cells.item * n + cells.rank
    cell_of[np.searchsorted(key, wanted)] = np.arange(len(wanted))
    slopes = np.zeros((GROUPS, n))
    for rows in shown.parts():  # what each row of these cells adds to the slope of the likelihood
        cell = cell_of[shown.cells.of_row[rows]]
        kept = cell >= 0
        cell, group = cell[kept], shown.group(rows)[kept]
        slope = (shown.clicked[rows][kept] - p[cell]) / (1 - p[cell])
        slopes += totals(group * n + cells.rank[cell], slope, GROUPS * n).reshape(GROUPS, n)
        slopes -= (csr_array((slope, (group, cells.item[cell])), shape=(GROUPS, cells.items)) @ part).toarray()
    slopes = slopes[:, free]
    groups = int((slopes != 0).any(axis=1).sum())
    bread = np.linalg.pinv(information[np.ix_(free, free)])
    spread = bread @ (slopes.T @ slopes) @ bread * groups / max(groups - 1, 1)
    covariance = np.zeros((n, n))
    covariance[np.ix_(free, free)] = spread
    return covariance


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
