"""What a whole log says about ranks: how often each is clicked and looked at, and how surely that is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges.click_models.buckets import Buckets
from karat.judges.click_models.patterns import PATTERNS, Patterns, patterns_of
from karat.judges.click_models.position_model import Examination, Slopes, covariance_of, examination
from karat.judges.click_models.shown import GROUPS, Cells, Known, Shown
from karat.stats import totals
from karat.stats.arrays import Floats, Ints

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
