"""Rank correlation of two columns, with ties and with weights, so that a bootstrap is a matter of weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Bools, Floats, Ints, totals
from karat.stats.bootstrap import FEWEST, Resampling

#: Kendall's tau compares all pairs at once; with more rows than this the pairs are counted by sorting, draw by draw.
MOST_AT_ONCE = 3000


def spearman(x: npt.ArrayLike, y: npt.ArrayLike, times: npt.ArrayLike | None = None) -> Floats:
    """Spearman's rho with middle ranks for ties; `times` (draws x rows) says how often each row counts.

    >>> spearman([1, 2, 3, 4], [1, 3, 2, 4]).round(3).tolist()
    [0.8]

    NaN where one column has a single value. Reference: Spearman (American Journal of Psychology 1904).
    """
    weights = _weights(times, np.size(x))
    one, two = _ranks(np.asarray(x, np.float64), weights), _ranks(np.asarray(y, np.float64), weights)
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    one -= (weights * one).sum(axis=1, keepdims=True) / total
    two -= (weights * two).sum(axis=1, keepdims=True) / total
    spread = (weights * one**2).sum(axis=1) * (weights * two**2).sum(axis=1)
    return _ratio((weights * one * two).sum(axis=1), np.sqrt(spread), total[:, 0] ** 3)


def kendall(x: npt.ArrayLike, y: npt.ArrayLike, times: npt.ArrayLike | None = None) -> Floats:
    """Kendall's tau_b, which allows for ties; `times` (draws x rows) says how often each row counts.

    >>> kendall([1, 2, 3, 4], [1, 3, 2, 4]).round(4).tolist()
    [0.6667]

    A row drawn twice is tied with itself in both columns, and such pairs count nowhere.
    Reference: Kendall (Biometrika 1945).
    """
    x, y, weights = np.asarray(x, np.float64), np.asarray(y, np.float64), _weights(times, np.size(x))
    if len(x) > MOST_AT_ONCE:
        return _kendall_by_sorting(x, y, weights)
    above, higher = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    agree = _pairs(weights, above * higher)
    return _ratio(agree, np.sqrt(_pairs(weights, above**2) * _pairs(weights, higher**2)), weights.sum(axis=1) ** 2)


def kendall_rows(x: Floats, y: Floats) -> Floats:
    """Kendall's tau_b of each row of one table with the same row of another.

    >>> kendall_rows(np.array([[1.0, 2, 3, 4], [1, 1, 1, 1]]), np.array([[1.0, 3, 2, 4]] * 2)).round(4).tolist()
    [0.6667, nan]
    """
    above, higher = (np.sign(values[:, :, None] - values[:, None, :]) for values in (x, y))
    agree = (above * higher).sum(axis=(1, 2))
    return _ratio(
        agree, np.sqrt((above**2).sum(axis=(1, 2)) * (higher**2).sum(axis=(1, 2))), np.full(len(x), x.shape[1] ** 2.0)
    )


@dataclass(frozen=True, eq=False)
class RankCorrelations:
    """The rank correlations of many columns with one, column by column."""

    spearman: Floats
    kendall: Floats
    #: The ends of the intervals: 2 x columns.
    spearman_ends: Floats
    kendall_ends: Floats
    #: That Spearman's rho is 0, for each column alone, and allowing for all of them.
    p: Floats
    p_adjusted: Floats
    n: Ints

    def columns(self) -> dict[str, Floats | Ints]:
        """The figures under the names that tables have."""
        return {
            "spearman": self.spearman,
            "spearman_low": self.spearman_ends[0],
            "spearman_high": self.spearman_ends[1],
            "kendall": self.kendall,
            "kendall_low": self.kendall_ends[0],
            "kendall_high": self.kendall_ends[1],
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "n": self.n,
        }


def rank_correlations(
    x: Floats,
    y: Floats,
    cluster: npt.NDArray[np.integer] | None = None,
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> RankCorrelations:
    """Spearman's rho and Kendall's tau_b of every column of x with y, with bootstrap intervals and p values.

    >>> found = rank_correlations(np.arange(20.0)[:, None], np.arange(20.0)[::-1] ** 2, draws=200)
    >>> found.spearman.round(6).tolist(), found.p_adjusted.round(3).tolist()
    ([-1.0], [0.005])

    Rows are drawn with replacement, whole clusters of them (the searches of one user, say) where these are given; a NaN
    in x leaves the row out of that column. The interval is NaN for fewer than five rows or clusters. p is Student's t
    of rho, and `p_adjusted` the share of permutations of y whose largest rho of all columns is as large: columns
    that say nearly the same are hardly punished for it. With clusters both come from flips of the clusters' signs.
    """
    resampling = Resampling(level, draws, seed)
    known = ~np.isnan(x)
    # Means of equal scores may differ by rounding alone; ranks would make much of it.
    filled = np.where(known, x, 0.0)
    filled = np.round(filled / np.maximum(np.abs(filled).max(axis=0, initial=0.0), 1e-300), 10)
    y = np.round(y / max(float(np.abs(y).max(initial=0.0)), 1e-300), 10)
    groups = np.arange(len(y)) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    number, columns = int(groups.max(initial=-1)) + 1, range(x.shape[1])
    figures = (spearman, kendall)
    values = np.array([[of(filled[:, c], y, known[None, :, c])[0] for c in columns] for of in figures])
    drawn = np.full((2, 0, x.shape[1]), np.nan)
    if draws and number >= FEWEST:
        parts = [
            np.stack([[of(filled[:, c], y, t[:, groups] * known[:, c]) for c in columns] for of in figures])
            for t in resampling.times(number)
        ]
        drawn = np.concatenate(parts, axis=2).swapaxes(1, 2)
    ends = np.full((2, 2, x.shape[1]), np.nan)
    for figure, column in np.argwhere(~np.isnan(values)):
        ends[figure, :, column] = resampling.ends(drawn[figure, :, column], number)
    n = known.sum(axis=0)
    p, adjusted = (
        _by_permutation(filled, known, y, values[0], draws, seed)
        if cluster is None
        else _by_flips(filled, known, y, groups, values[0], draws, seed)
    )
    return RankCorrelations(values[0], values[1], ends[0], ends[1], p, adjusted, n)


def _by_permutation(x: Floats, known: Bools, y: Floats, rho: Floats, draws: int, seed: int) -> tuple[Floats, Floats]:
    from scipy.stats import t

    n = known.sum(axis=0)
    size = np.abs(rho) * np.sqrt(np.maximum(n - 2, 0) / np.maximum(1 - rho**2, 1e-300))
    p = np.where(n > 2, 2 * t.sf(size, np.maximum(n - 2, 1)), np.nan)
    told = np.flatnonzero(~np.isnan(p))
    adjusted = np.full(len(rho), np.nan)
    if not draws or not len(told):
        return p, adjusted
    ranks, other = _centred(x[:, told], known[:, told]), _centred(y[:, None], np.ones((len(y), 1), bool))[:, 0]
    rng = np.random.default_rng([seed, 1])
    largest = np.abs(rng.permuted(np.tile(other, (draws, 1)), axis=1) @ ranks).max(axis=1)
    adjusted[told] = _share(largest[:, None], np.abs(other @ ranks))
    return p, adjusted


def _by_flips(
    x: Floats,
    known: Bools,
    y: Floats,
    groups: npt.NDArray[np.integer],
    rho: Floats,
    draws: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """The clusters' contributions to rho, signs flipped at random: whole clusters, so likeness within them is kept."""
    p, adjusted = np.full((2, len(rho)), np.nan)
    told = np.flatnonzero(~np.isnan(rho))
    if not draws or not len(told) or groups.max() + 1 < FEWEST:
        return p, adjusted
    products = _centred(x[:, told], known[:, told]) * _centred(y[:, None], np.ones((len(y), 1), bool))
    parts = np.column_stack([totals(groups, column, int(groups.max()) + 1) for column in products.T])
    parts /= np.sqrt((parts**2).sum(axis=0))
    rng = np.random.default_rng([seed, 2])
    flipped = np.abs(rng.choice([-1.0, 1.0], size=(draws, len(parts))) @ parts)
    seen = np.abs(parts.sum(axis=0))
    p[told], adjusted[told] = _share(flipped, seen), _share(flipped.max(axis=1, keepdims=True), seen)
    return p, adjusted


def _centred(x: Floats, known: Bools) -> Floats:
    """The ranks of each column about their mean, of length 1; 0 where the column has a gap."""
    ranks = np.column_stack(
        [_ranks(column, which[None].astype(np.float64))[0] for column, which in zip(x.T, known.T, strict=True)]
    )
    ranks = np.where(known, ranks - (ranks * known).sum(axis=0) / known.sum(axis=0), 0.0)
    centred: Floats = ranks / np.sqrt((ranks**2).sum(axis=0))
    return centred


def _share(drawn: Floats, seen: Floats) -> Floats:
    """The share of draws at least as large as what was seen, which counts as one of them."""
    share: Floats = ((drawn >= seen - 1e-12).sum(axis=0) + 1) / (len(drawn) + 1)
    return share


def _weights(times: npt.ArrayLike | None, n: int) -> Floats:
    return np.ones((1, n)) if times is None else np.asarray(times, np.float64)


def _ranks(values: Floats, weights: Floats) -> Floats:
    """The middle rank of each row (from 0) when each counts as often as its weight says: draws x rows."""
    levels, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(levels)))
    per_level = np.add.reduceat(weights[:, order], starts, axis=1) if len(order) else weights
    middle = np.cumsum(per_level, axis=1) - per_level / 2
    ranks: Floats = middle[:, place]
    return ranks


def _pairs(weights: Floats, table: Floats) -> Floats:
    found: Floats = np.einsum("dn,dn->d", weights @ table, weights)
    return found


def _kendall_by_sorting(x: Floats, y: Floats, weights: Floats) -> Floats:
    from scipy.stats import kendalltau

    rows = [np.repeat(np.arange(len(x)), draw.astype(np.int64)) for draw in weights]
    return np.array([kendalltau(x[row], y[row]).statistic for row in rows])


def _ratio(part: Floats, whole: Floats, scale: Floats) -> Floats:
    """Part by whole, NaN where the whole is nothing but rounding."""
    known = whole > 1e-12 * scale
    found: Floats = np.where(known, part / np.where(known, whole, 1.0), np.nan)
    return found


def tau_ap(truth: npt.ArrayLike, estimate: npt.ArrayLike) -> float:
    """AP correlation of an estimated ranking with the true one; equal estimates as if ordered at random.

    >>> round(tau_ap([0.9, 0.8, 0.5, 0.1], [0.9, 0.5, 0.8, 0.1]), 4)
    0.6667

    Both are scores, the highest the best. For each but the first item of the estimated ranking: the share of the
    items above it that are rightly there, scaled to -1..1; the mean over items. With ties in the estimate it is the
    mean over all their orders (Urbano and Marrero's tau_AP,a); items that are tied in truth are neither right nor
    wrong. NaN for fewer than two items. It is not symmetric: where neither ranking is the truth, use `tau_ap_b`.

    Reference: Yilmaz, Aslam and Robertson (SIGIR 2008); Urbano and Marrero, The Treatment of Ties in AP Correlation
    (ICTIR 2017).
    """
    x, y = np.asarray(truth, np.float64), np.asarray(estimate, np.float64)
    return tau_ap_rows(x[None, :], y[None, :]).item()


def tau_ap_rows(truth: Floats, estimate: Floats) -> Floats:
    """AP correlation of each row of estimates with the same row of true scores, as `tau_ap` has it.

    >>> tau_ap_rows(np.array([[3.0, 2.0, 1.0]] * 2), np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])).tolist()
    [1.0, -1.0]
    """
    n = truth.shape[1]
    if n < 2:
        return np.full(len(truth), np.nan)
    over = estimate[:, None, :] > estimate[:, :, None]
    right = (np.sign(truth[:, None, :] - truth[:, :, None]) * over).sum(axis=2)
    above, size = over.sum(axis=2), (estimate[:, None, :] == estimate[:, :, None]).sum(axis=2)
    # The mean of 1 / (items above) over the places that a tied item may take; the first place has none above.
    inverse = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n))])
    weight = (inverse[np.maximum(above + size - 1, 0)] - inverse[np.maximum(above - 1, 0)]) / np.maximum(size, 1)
    unknown = np.isnan(truth).any(axis=1) | np.isnan(estimate).any(axis=1)
    found: Floats = np.where(unknown, np.nan, (right * weight).sum(axis=1) / (n - 1))
    return found


def tau_ap_b(one: npt.ArrayLike, two: npt.ArrayLike) -> float:
    """AP correlation of two rankings of which neither is the truth, ties allowed in both.

    >>> round(tau_ap_b([0.9, 0.8, 0.5, 0.5], [0.9, 0.5, 0.8, 0.1]), 4)
    0.5556

    Each ranking is in turn taken for the truth; items tied for the first place have nothing above them and are left
    out, others look at those strictly above, of which one that is not above in the other ranking is wrong, tied or
    not: 1 is for equal rankings with equal ties. NaN where all items of a ranking are tied.

    Reference: Urbano and Marrero, The Treatment of Ties in AP Correlation (ICTIR 2017), tau_AP,b.
    """
    x, y = np.asarray(one, np.float64), np.asarray(two, np.float64)
    return (_one_way(x, y) + _one_way(y, x)) / 2


def _one_way(truth: Floats, estimate: Floats) -> float:
    if len(truth) < 2 or np.isnan(truth).any() or np.isnan(estimate).any():
        return np.nan
    above = estimate > estimate[:, None]
    number = above.sum(axis=1)
    right = (above & (truth > truth[:, None])).sum(axis=1)
    below = number > 0
    return float((2 * right[below] / number[below] - 1).mean()) if below.any() else np.nan


def spearman_from_tables(table: Floats) -> Floats:
    """Spearman's rho of two gradings from their cross table, or of a stack of tables; ties have middle ranks.

    >>> spearman_from_tables(np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 3.0]])).round(4).item()
    0.8912

    Grades come from a few levels, so a table of how often each two met tells all that the ranks do; and tables add up,
    so that a bootstrap over queries is one matrix product. NaN where one of the two is all alike, or there is nothing.

    Reference: Spearman (American Journal of Psychology 1904), as Pearson's r of middle ranks.
    """
    total = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    # Middle ranks less their mean, which is half of all plus a half.
    x, y = (np.cumsum(margin, axis=-1) - margin / 2 - total[..., None] / 2 for margin in (rows, columns))
    both = np.einsum("...i,...ij,...j->...", x, table, y)
    size = (rows * x**2).sum(axis=-1) * (columns * y**2).sum(axis=-1)
    size = np.where(size > 1e-12 * np.maximum(total, 1) ** 6, size, np.nan)
    rho: Floats = np.asarray(np.clip(both / np.sqrt(size), -1, 1), dtype=np.float64)
    return rho
