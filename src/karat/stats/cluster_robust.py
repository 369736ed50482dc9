"""Errors of figures whose rows come in clusters of two kinds at once, such as labels by query and by judge.

Labels of one query resemble each other, and so do labels of one judge. A figure that is to hold for other queries and
for other judges has to allow for both.

Reference: Cameron, Gelbach and Miller, Robust Inference with Multiway Clustering (Journal of Business and Economic
Statistics 2011); Bell and McCaffrey (Survey Methodology 2002) for few clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Bools, Floats, Ints, distinct, totals

#: A cluster whose own weight leaves less than this of a direction determines it alone.
NOTHING_LEFT = 1e-9
#: Of so many clusters none has a weight that its residuals would miss.
MANY = 2000


class Variance(NamedTuple):
    """The variance of each figure, and the degrees of freedom that its t has."""

    variance: Floats
    df: Floats


def combined(query: Variance, judge: Variance, both: Floats) -> Variance:
    """The variance that allows for queries and for judges, from those that allow for one and for the two crossed.

    >>> spread = combined(Variance(np.array([4.0]), np.array([50.0])), Variance(np.array([3.0]), np.array([9.0])),
    ...                   np.array([1.0]))
    >>> spread.variance.tolist(), spread.df.round(1).tolist()
    ([6.0], [27.3])

    V = V_query + V_judge - V_both, where judges may add to the queries' part but take nothing away from it: the
    difference is an estimate, too, and may by luck be negative. The degrees of freedom are Satterthwaite's, of the two
    parts, and at least those of the smaller: one less than the smaller number of clusters (Cameron et al.) is right
    where that part is all there is, and too careful where ten judges are alike and queries are not.
    """
    variance = query.variance + np.maximum(judge.variance - both, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = variance**2 / (query.variance**2 / query.df + judge.variance**2 / judge.df)
    least = np.minimum(query.df, judge.df)
    return Variance(variance, np.where(np.isfinite(df), np.maximum(df, least), least))


def two_way(
    basis: Floats, residual: Floats, back: Floats, query: Ints, judge: Ints, judged: Floats | None = None
) -> Variance:
    """The spread of each coefficient of a regression, by query and judge.

    `basis` has orthonormal columns that span the design, `back` turns coefficients of the basis into those of the
    design (a row each); both are weighted where rows are. Queries are numbered from 0 without gaps, and so are judges;
    rows whose judge is -1, as gold's, are of nobody who stands for others. `judged` are residuals for the judges' part,
    where more is known there of what rows share.
    """
    some, left, theirs = basis, residual if judged is None else judged, judge >= 0
    pair = query * (int(judge.max()) + 1) + judge
    if not theirs.all():
        some, left, judge, pair = some[theirs], left[theirs], judge[theirs], pair[theirs]
    pair = distinct(pair)[1]
    if pair.max() < MANY:
        both = clustered(some, left, back, pair).variance
    else:
        scores = np.column_stack([totals(pair, column * left, int(pair.max()) + 1) for column in some.T])
        both = ((scores @ back.T) ** 2).sum(axis=0)
    return combined(clustered(basis, residual, back, query), clustered(some, left, back, judge), both)


def clustered(basis: Floats, residual: Floats, back: Floats, cluster: Ints) -> Variance:
    """The spread of each coefficient by clusters of one kind, for few and unequal ones (CR2).

    >>> basis, residual = np.full((4, 1), 0.5), np.array([1.0, 1.0, -2.0, 0.0])
    >>> spread = clustered(basis, residual, np.array([[0.5]]), np.arange(4))
    >>> spread.variance.round(6).tolist(), spread.df.round(6).tolist()  # as of any mean: 6 / 3 / 4 with 3
    ([0.5], [3.0])

    Each cluster's score is blown up by what its own weight takes away from its residuals, and the degrees of freedom
    are those that the clusters' sizes amount to.
    """
    order = np.argsort(cluster, kind="stable")
    ends = np.flatnonzero(np.diff(cluster[order], prepend=-1, append=cluster.max(initial=0) + 1))
    k, sorted_basis = basis.shape[1], basis[order]
    own = np.empty((len(ends) - 1, k, k))
    for g, (start, end) in enumerate(pairwise(ends)):
        mine = sorted_basis[start:end]
        own[g] = mine.T @ mine
    scores = np.column_stack([totals(cluster, column * residual, len(own)) for column in basis.T])
    left, turned = np.linalg.eigh(np.eye(k) - own)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.where(left > NOTHING_LEFT, 1 / np.sqrt(left), 0.0)
    # For cluster g: the symmetric root of what is left, in the directions of the coefficients.
    pull = (back @ turned * root[:, None]) @ turned.transpose(0, 2, 1)
    variance = (np.einsum("gcj,gj->gc", pull, scores) ** 2).sum(axis=0)
    spread = pull @ own
    size = np.einsum("gck,gck->gc", spread, pull)
    # The clusters' scores as they would vary if rows did not depend on each other: diag(size) - spread spread'.
    mean = (size - (spread**2).sum(axis=2)).sum(axis=0)
    crossed = spread.transpose(1, 2, 0) @ spread.transpose(1, 0, 2)
    square = (size**2).sum(axis=0) - 2 * (size * (spread**2).sum(axis=2)).sum(axis=0) + (crossed**2).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Variance(variance, mean**2 / square)


def variance_of_means(values: Floats, weight: Floats, query: Ints, judge: Ints | None) -> tuple[Floats, Variance]:
    """The weighted mean of each column with its spread by query, and by judge where judges are a sample, too.

    >>> mean, spread = variance_of_means(np.array([[1.0], [1], [-2], [0]]), np.ones(4), np.arange(4), None)
    >>> mean.tolist(), spread.variance.tolist(), spread.df.round(6).tolist()
    ([0.0], [0.5], [3.0])

    It is `two_way` for a regression on nothing, all columns at once.
    """
    whole = weight.sum()
    mean = weight @ values / whole
    scores = (values - mean) * (weight / whole)[:, None]

    def by(cluster: Ints) -> Variance:
        number = distinct(cluster)[1]
        sums = np.column_stack([totals(number, column, int(number.max()) + 1) for column in scores.T])
        share = np.bincount(number, weight) / whole
        with np.errstate(divide="ignore", invalid="ignore"):
            blown = np.where(share < 1, 1 / (1 - share), np.nan)
            size, crossed = share * blown, share**2 * blown
            square = (size**2).sum() - 2 * (size * crossed).sum() + crossed.sum() ** 2
            df = (size - crossed).sum() ** 2 / square
        return Variance((sums**2 * blown[:, None]).sum(axis=0), np.full(values.shape[1], df))

    if judge is None:
        return mean, by(query)
    pairs = by(query * (int(judge.max()) + 1) + judge)
    return mean, combined(by(query), by(judge), pairs.variance)


def variance_of_difference(
    values: Floats, first: Bools, weight: Floats, query: Ints, judge: Ints, judged: Floats | None = None
) -> tuple[float, Variance]:
    """The mean of the first rows less that of the others, weighted, with its spread by query and judge.

    >>> values, six = np.array([1.0, 2, 3, 0, 1, 2]), np.arange(6)
    >>> gap, spread = variance_of_difference(values, six < 3, np.ones(6), six, six)
    >>> gap, spread.variance.round(6).tolist(), spread.df.round(6).tolist()  # two samples of three: 1 / 3 + 1 / 3
    (1.0, [0.666667], [4.0])

    `judged` are the values for the judges' part, such as labels less what the other group said of the same document: a
    judge is then not taken for lenient because of good documents. Undefined (NaN) where a side has one query only, or
    one judge who is to stand for others.
    """
    queries, judges = distinct(query)[1], np.full(len(values), -1)
    judges[judge >= 0] = distinct(judge[judge >= 0])[1]
    basis, left, sides = np.zeros((len(values), 2)), [], (first, ~first)
    back = np.array([[1.0, -1.0]])
    for given in (values, values if judged is None else judged):
        mean = np.where(first, *(np.average(given[side], weights=weight[side]) for side in sides))
        left.append(np.sqrt(weight) * (given - mean))
    for place, side in enumerate(sides):
        whole = weight[side].sum()
        basis[side, place] = np.sqrt(weight[side] / whole)
        back[0, place] /= np.sqrt(whole)
    difference = float(
        np.average(values[first], weights=weight[first]) - np.average(values[~first], weights=weight[~first])
    )
    if any(np.ptp(queries[side]) == 0 or judges[side].max() == judges[side].min() >= 0 for side in sides):
        return difference, Variance(np.array([np.nan]), np.array([np.nan]))
    return difference, two_way(basis, left[0], back, queries, judges, left[1])


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients, the intercept first, with errors clustered; NaN where the data cannot tell."""

    names: tuple[str, ...]
    coefficients: Floats
    errors: Floats
    t: Floats
    p: Floats
    #: The degrees of freedom of each t.
    df: Floats
    n: int
    clusters: int
    #: Columns that the ones before them already tell, or that do not vary: their coefficients are NaN.
    left_out: tuple[str, ...]

    def intervals(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of an interval for each coefficient."""
        from scipy.special import stdtrit

        reach = self.errors * stdtrit(np.where(self.df > 0, self.df, np.nan), 0.5 + level / 2)
        return self.coefficients - reach, self.coefficients + reach


def clustered_ols(
    y: npt.ArrayLike,
    x: npt.ArrayLike,
    cluster: npt.ArrayLike,
    names: Sequence[str] | None = None,
    *,
    judge: npt.ArrayLike | None = None,
    weight: npt.ArrayLike | None = None,
) -> Regression:
    """Least squares of y on an intercept and the columns of x, with errors that allow for clusters.

    >>> fit = clustered_ols([1, 2, 2, 4, 5, 5], [[0], [0], [0], [1], [1], [1]], [1, 1, 2, 2, 3, 3], ["WP"])
    >>> dict(zip(fit.names, fit.coefficients.round(3).tolist()))
    {'intercept': 1.667, 'WP': 3.0}

    The errors are a sandwich of the clusters' scores (CR1, times clusters / (clusters - 1) * (n - 1) / (n - columns),
    as Stata and statsmodels do it), t has clusters - 1 degrees of freedom. They are too small when fewer than about 20
    clusters, or one big one, carry a column. With `judge`, clusters of a second kind by number (-1: in none), they
    allow for both, and for few of them (`two_way`). A column that others already tell is named in `left_out`, not
    crashed on.

    Reference: Liang and Zeger (Biometrika 1986); Cameron and Miller, A Practitioner's Guide to Cluster-Robust
    Inference (Journal of Human Resources 2015).
    """
    from scipy.special import stdtr

    target = np.asarray(y, dtype=np.float64)
    columns = np.asarray(x, dtype=np.float64)
    labels = ("intercept", *(names if names is not None else (f"x{i + 1}" for i in range(columns.shape[1]))))
    design = np.column_stack([np.ones(len(target)), columns])
    code, clusters = _numbered(cluster)
    root = np.ones(len(target)) if weight is None else np.sqrt(np.asarray(weight, dtype=np.float64))
    kept, orthogonal, inverse = _independent(design * root[:, None])
    n, k = len(target), len(kept)

    target = target * root
    beta = inverse @ (orthogonal.T @ target)
    residual = target - orthogonal @ (orthogonal.T @ target)
    # In the orthogonal basis first: its columns have one size, so that no unit of x drowns another.
    variance, df = np.full(k, np.nan), np.full(k, clusters - 1.0)
    if clusters > 1 and n > k:
        doubtful = _carried_by_one(design[:, kept], code)
        if judge is None:
            scores = np.column_stack([totals(code, orthogonal[:, j] * residual, clusters) for j in range(k)])
            half = scores @ inverse.T
            variance = (half**2).sum(axis=0) * clusters / (clusters - 1) * (n - 1) / (n - k)
        else:
            theirs = np.asarray(judge) >= 0
            judges = np.full(n, -1)
            judges[theirs], people = _numbered(np.asarray(judge)[theirs])
            variance, df = two_way(orthogonal, residual, inverse, code, judges)
            doubtful |= _carried_by_one(design[theirs][:, kept], judges[theirs]) | (people < 2)
        # Without any residual, or where one cluster alone carries a column, the sandwich is empty: no certainty that.
        most = (inverse**2).sum(axis=1) * (target**2).mean()
        variance[(variance <= NOTHING_LEFT**2 * most) | doubtful] = np.nan
    error = np.sqrt(variance)
    t = beta / error
    p = 2 * stdtr(df, -np.abs(t)) if clusters > 1 else np.full(k, np.nan)

    def spread(values: Floats) -> Floats:
        everywhere = np.full(len(labels), np.nan)
        everywhere[kept] = values
        return everywhere

    left_out = tuple(label for i, label in enumerate(labels) if i not in kept)
    return Regression(labels, spread(beta), spread(error), spread(t), spread(p), spread(df), n, clusters, left_out)


def _numbered(cluster: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], int]:
    values, code = np.unique(np.asarray(cluster), return_inverse=True)
    return code, len(values)


def _carried_by_one(design: Floats, code: npt.NDArray[np.intp]) -> Bools:
    """Which columns leave their usual value in one cluster only (the intercept has no other value).

    If there is such a cluster, the usual value is that of the first or of the second cluster.
    """
    carried = np.zeros(design.shape[1], np.bool_)
    for row in (int((code == 0).argmax()), int((code == 1).argmax())):
        unusual = design != design[row]
        for j in range(design.shape[1]):
            where = code[unusual[:, j]]
            carried[j] |= len(where) > 0 and where.min() == where.max()
    return carried


def _independent(design: Floats) -> tuple[list[int], Floats, Floats]:
    """The columns that the ones before do not tell, their orthonormal basis, and what turns that basis into them."""
    n, k = design.shape
    basis, kept = np.empty((n, k)), list[int]()
    upper = np.zeros((k, k))
    for j in range(k):
        column = design[:, j].copy()
        size = _length(column if j == 0 else column - column.mean()) if n else 0.0
        known = basis[:, : len(kept)]
        part = np.zeros(len(kept))
        for _ in range(2):  # the second pass removes what rounding left of the first
            along = known.T @ column
            column -= known @ along
            part += along
        left = _length(column)
        if left <= NOTHING_LEFT * size or size <= NOTHING_LEFT * _length(design[:, j]):
            continue
        upper[: len(kept), len(kept)], upper[len(kept), len(kept)] = part, left
        basis[:, len(kept)] = column / left
        kept.append(j)
    used = len(kept)
    inverse: Floats = np.asarray(np.linalg.inv(upper[:used, :used]), dtype=np.float64)
    return kept, basis[:, :used], inverse


def _length(column: Floats) -> float:
    # Not np.linalg.norm: that waits for threads, far longer than so small a sum takes.
    return float(np.sqrt((column * column).sum()))


@dataclass(frozen=True, eq=False)
class Differences:
    """Means inside and outside of slices and their difference, with p and the reach of an interval, slice by slice."""

    inside: Floats
    outside: Floats
    #: The difference within strata; with one stratum, inside less outside.
    difference: Floats
    error: Floats
    df: Floats
    p: Floats
    #: How far the interval goes to each side.
    reach: Floats
    clusters_in: Ints
    clusters_out: Ints


def clustered_differences(
    n_in: Ints | Floats,
    s_in: Floats,
    n_all: Ints | Floats,
    s_all: Floats,
    noise: tuple[float, float] | None = None,
    judges: Sequence[tuple[Variance, Floats]] = (),
    *,
    level: float = 0.95,
) -> Differences:
    """Means inside of slices against those outside, within strata, with an error that allows for clusters.

    Numbers and sums inside are by cluster, slice and stratum; those of all rows by cluster and stratum.

    >>> n, s = np.array([[[2]], [[1]], [[2]]]), np.array([[[4.0]], [[3.0]], [[5.0]]])
    >>> found = clustered_differences(n, s, np.array([[3], [4], [3]]), np.array([[4.0], [7.0], [6.0]]))
    >>> [round(float(value[0]), 2) for value in (found.inside, found.outside, found.difference)]
    [2.4, 1.0, 1.4]

    A stratum counts by how many rows it has inside and outside (as fixed effects do). The error is a sandwich of the
    clusters' scores, each blown up by what its own weight takes away (CR2). The degrees of freedom are Welch's for two
    means, of as many clusters as their sizes amount to: ten clusters of which one holds nearly all rows are hardly
    more than one. `noise` is the usual variance of a row and of a cluster; the error that these give for such a slice
    is looked at as well, and the more careful of the two decides, because a small slice may by luck vary hardly at all.
    `judges` has the spread of the same differences by clusters of a second kind and by both crossed, which `two_way`
    combines with this one; several, where two groups of judges made the difference.

    Reference: Bell and McCaffrey (Survey Methodology 2002); Carter, Schnepel and Steigerwald (Review of Economics and
    Statistics 2017) for the number of clusters that sizes amount to.
    """
    from scipy.special import stdtr, stdtrit

    n_out, s_out = n_all[:, None] - n_in, s_all[:, None] - s_in
    number = n_all.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = n_in.sum(axis=0) / number
        weight = np.nan_to_num(number * share * (1 - share))
        size = weight.sum(axis=1)
        gap = s_in.sum(axis=0) / n_in.sum(axis=0) - s_out.sum(axis=0) / n_out.sum(axis=0)
        difference = np.where(weight > 0, gap * weight, 0.0).sum(axis=1) / size
        mean = np.nan_to_num(s_all.sum(axis=0) / number)
        share = np.nan_to_num(share)
        # What is left of each row after its stratum and the slice, as fixed effects have it, summed by cluster.
        left_in = s_in - n_in * (mean + difference[:, None] * (1 - share))
        left_out = s_out - n_out * (mean - difference[:, None] * share)
        rows_in, rows_out = n_in.sum(axis=2), n_out.sum(axis=2)
        own = np.maximum(rows_in / rows_in.sum(axis=0), rows_out / rows_out.sum(axis=0))
        blow_up = 1 / (size * np.sqrt(np.where(own < 1, 1 - own, np.nan)))
        score_in = (left_in * (1 - share)).sum(axis=2) * blow_up
        score_out = (left_out * share).sum(axis=2) * blow_up
        var_in, var_out = (score_in**2).sum(axis=0), (score_out**2).sum(axis=0)
        df_in, df_out = (n.sum(axis=0) ** 2 / (n**2).sum(axis=0) - 1 for n in (rows_in, rows_out))
        df = (var_in + var_out) ** 2 / (var_in**2 / df_in + var_out**2 / df_out)
        df = np.where(np.isfinite(df), df, np.minimum(df_in, df_out))
    clusters = (n_all.sum(axis=1) > 0).sum()
    looks = [Variance(((score_in - score_out) ** 2).sum(axis=0), np.minimum(df, clusters - 1.0))]
    if noise is not None:
        pull = (n_in * (1 - share) - n_out * share).sum(axis=2) / size
        usual = noise[0] / size + noise[1] * (pull**2).sum(axis=0)
        looks.append(Variance(usual, np.full(len(size), clusters - 1.0)))
    for judge, both in judges:
        looks = [combined(look, judge, both) for look in looks]
    p, reach = np.zeros(len(size)), np.zeros(len(size))
    for variance, freedom in looks:
        # One degree of freedom at least, but for what falls short of it by rounding.
        usual = np.sqrt(np.where((variance > 0) & (freedom >= 1 - 1e-6), variance, np.nan))
        freedom = np.maximum(freedom, 1.0)
        p = np.maximum(p, 2 * stdtr(freedom, -np.abs(difference / usual)))
        reach = np.maximum(reach, usual * stdtrit(freedom, 0.5 + level / 2))
    return Differences(
        inside=s_in.sum(axis=(0, 2)) / rows_in.sum(axis=0),
        outside=s_out.sum(axis=(0, 2)) / rows_out.sum(axis=0),
        difference=difference,
        error=np.sqrt(looks[0].variance),
        df=looks[0].df,
        p=p,
        reach=reach,
        clusters_in=(rows_in > 0).sum(axis=0),
        clusters_out=(rows_out > 0).sum(axis=0),
    )
