"""Regression whose errors allow for rows that come in clusters, such as the labels of one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Bools, Floats
from karat.stats.totals import totals
from karat.stats.two_way import NOTHING_LEFT, two_way


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
