"""Intervals of a ratio of clicks to what was expected, where a result is shown often or hardly ever."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from karat.judges.click_models.shown import Cells
from karat.stats.arrays import Floats


@dataclass(frozen=True, eq=False)
class Ratio:
    """Clicks by what was expected of them, with the ends of an interval; NaN where nothing was expected."""

    value: Floats
    low: Floats
    high: Floats


def ratios(
    cells: Cells, chance: Floats, covariance: Floats, clustering: float, level: float, most: float = np.inf
) -> Ratio:
    """Each item's clicks by its sum of `chance`, a figure of the ranks with its covariance (of the logarithms).

    The interval has all ratios that the clicks do not refuse (Wilson's, for one rank): with r the ratio, clicks have a
    mean of r E and a variance of r E - r^2 Q, where E and Q are the sums of chances and of their squares, times what
    `clustering` adds; and E itself is known with an error. An item without a click has an upper end, too.
    """
    known = ~np.isnan(chance[cells.rank])
    at = np.where(known, chance[cells.rank], 0.0)
    clicks = cells.by_item(cells.clicks * known)
    expected = cells.by_item(cells.shown * at)
    squares = cells.by_item(cells.shown * at**2)
    unsure = _variance(cells, cells.shown * at, covariance)
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(expected > 0, clicks / expected, np.nan)
        # (clicks - r E)^2 = z^2 (clustering (r E - r^2 Q) + r^2 variance of E): two roots.
        a = expected**2 + z2 * (clustering * squares - unsure)
        b = 2 * clicks * expected + z2 * clustering * expected
        root = np.sqrt(np.maximum(b**2 - 4 * a * clicks**2, 0.0))
        low = np.where(b + root > 0, 2 * clicks**2 / (b + root), 0.0)
        high = np.where(a > 0, (b + root) / (2 * a), np.inf)
    nothing = expected <= 0
    ends = [np.where(nothing, np.nan, np.minimum(end, most)) for end in (low, high)]
    return Ratio(np.minimum(value, most), ends[0], ends[1])


def _variance(cells: Cells, weight: Floats, covariance: Floats) -> Floats:
    """The variance of each item's sum of weights that depend on the ranks' figures."""
    from scipy.sparse import csr_array

    if not covariance.any():
        return np.zeros(cells.items)
    table = csr_array((weight, (cells.item, cells.rank)), shape=(cells.items, len(covariance)))
    return np.asarray((table @ covariance * table).sum(axis=1)).ravel()
