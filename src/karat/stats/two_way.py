"""Errors of figures whose rows come in clusters of two kinds at once, such as labels by query and by judge.

Labels of one query resemble each other, and so do labels of one judge. A figure that is to hold for other queries and
for other judges has to allow for both.

Reference: Cameron, Gelbach and Miller, Robust Inference with Multiway Clustering (Journal of Business and Economic
Statistics 2011); Bell and McCaffrey (Survey Methodology 2002) for few clusters.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.distinct import distinct
from karat.stats.totals import totals

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
