"""Regression and means whose errors allow for rows that come in clusters, such as the labels of one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.stats.bootstrap import FEWEST, outside_share, resampled
from karat.stats.totals import totals

Floats = npt.NDArray[np.float64]

#: What is left of a column after the columns before it, as a share of its spread, below which nothing is left.
NOTHING_LEFT = 1e-9
#: A table of clusters x cells, or of draws x cells, is worked on in parts of this size.
AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients, the intercept first, with errors clustered; NaN where the data cannot tell."""

    names: tuple[str, ...]
    coefficients: Floats
    errors: Floats
    t: Floats
    p: Floats
    n: int
    clusters: int
    #: Columns that the ones before them already tell, or that do not vary: their coefficients are NaN.
    left_out: tuple[str, ...]

    @property
    def df(self) -> int:
        """The degrees of freedom of t: one less than there are clusters."""
        return self.clusters - 1

    def intervals(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of an interval for each coefficient."""
        from scipy.special import stdtrit

        reach = self.errors * (stdtrit(self.df, 0.5 + level / 2) if self.df > 0 else np.nan)
        return self.coefficients - reach, self.coefficients + reach


def clustered_ols(
    y: npt.ArrayLike, x: npt.ArrayLike, cluster: npt.ArrayLike, names: Sequence[str] | None = None
) -> Regression:
    """Least squares of y on an intercept and the columns of x, with errors that allow for clusters.

    >>> fit = clustered_ols([1, 2, 2, 4, 5, 5], [[0], [0], [0], [1], [1], [1]], [1, 1, 2, 2, 3, 3], ["WP"])
    >>> dict(zip(fit.names, fit.coefficients.round(3).tolist()))
    {'intercept': 1.667, 'WP': 3.0}

    The errors are a sandwich of the clusters' scores (CR1, times clusters / (clusters - 1) * (n - 1) / (n - columns),
    as Stata and statsmodels do it), t has clusters - 1 degrees of freedom. They are too small when fewer than about 20
    clusters, or one big one, carry a column. A column that others already tell is named in `left_out`, not crashed on.

    Reference: Liang and Zeger (Biometrika 1986); Cameron and Miller, A Practitioner's Guide to Cluster-Robust
    Inference (Journal of Human Resources 2015).
    """
    from scipy.special import stdtr

    target = np.asarray(y, dtype=np.float64)
    columns = np.asarray(x, dtype=np.float64)
    labels = ("intercept", *(names if names is not None else (f"x{i + 1}" for i in range(columns.shape[1]))))
    design = np.column_stack([np.ones(len(target)), columns])
    code, clusters = _numbered(cluster)
    kept, orthogonal, inverse = _independent(design)
    n, k = len(target), len(kept)

    beta = inverse @ (orthogonal.T @ target)
    residual = target - orthogonal @ (orthogonal.T @ target)
    # In the orthogonal basis first: its columns have one size, so that no unit of x drowns another.
    variance = np.full(k, np.nan)
    if clusters > 1 and n > k:
        scores = np.column_stack([totals(code, orthogonal[:, j] * residual, clusters) for j in range(k)])
        half = scores @ inverse.T
        variance = (half**2).sum(axis=0) * clusters / (clusters - 1) * (n - 1) / (n - k)
        # Without any residual, or where one cluster alone carries a column, the sandwich is empty: no certainty that.
        most = (inverse**2).sum(axis=1) * (target**2).mean()
        variance[(variance <= NOTHING_LEFT**2 * most) | _carried_by_one(design[:, kept], code)] = np.nan
    error = np.sqrt(variance)
    t = beta / error
    p = 2 * stdtr(clusters - 1, -np.abs(t)) if clusters > 1 else np.full(k, np.nan)

    def spread(values: Floats) -> Floats:
        everywhere = np.full(len(labels), np.nan)
        everywhere[kept] = values
        return everywhere

    left_out = tuple(label for i, label in enumerate(labels) if i not in kept)
    return Regression(labels, spread(beta), spread(error), spread(t), spread(p), n, clusters, left_out)


def _numbered(cluster: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], int]:
    values, code = np.unique(np.asarray(cluster), return_inverse=True)
    return code, len(values)


def _carried_by_one(design: Floats, code: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
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
        size = float(np.linalg.norm(column if j == 0 else column - column.mean())) if n else 0.0
        known = basis[:, : len(kept)]
        part = np.zeros(len(kept))
        for _ in range(2):  # the second pass removes what rounding left of the first
            along = known.T @ column
            column -= known @ along
            part += along
        left = float(np.linalg.norm(column))
        if left <= NOTHING_LEFT * size or size <= NOTHING_LEFT * float(np.linalg.norm(design[:, j])):
            continue
        upper[: len(kept), len(kept)], upper[len(kept), len(kept)] = part, left
        basis[:, len(kept)] = column / left
        kept.append(j)
    used = len(kept)
    inverse: Floats = np.asarray(np.linalg.inv(upper[:used, :used]), dtype=np.float64)
    return kept, basis[:, :used], inverse


def clustered_means(
    sums: Floats,
    cell: npt.NDArray[np.int64],
    cluster: npt.NDArray[np.int64],
    shares: Sequence[bool],
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[Floats, Floats, Floats]:
    """Means over the rows of each cell, with intervals from drawing clusters with all their rows.

    A row of `sums` stands for a cell in a cluster: how many rows it has, then their sums of each column. The result
    has a row for each cell and a column for each sum: mean, lower and upper end.

    >>> mean, low, high = clustered_means(np.array([[2, 3.0], [1, 0.0]]), np.array([0, 0]), np.array([0, 1]), [False])
    >>> mean.tolist(), low.tolist()
    ([[1.0]], [[nan]])

    With fewer than five clusters, or where all are alike, there is no interval. But a share (a mean of zeros and ones)
    that is 0 in every cluster ends where so many clusters could still have missed it (exact binomial bound).
    """
    cells, k, n = int(cell.max()) + 1, sums.shape[1] - 1, int(cluster.max()) + 1
    whole = np.column_stack([totals(cell, sums[:, j], cells) for j in range(k + 1)])
    mean: Floats = whole[:, 1:] / whole[:, :1]
    inside = np.bincount(cell, minlength=cells)
    low, high = np.full(mean.shape, np.nan), np.full(mean.shape, np.nan)
    if not draws or n < FEWEST:
        return mean, low, high
    sizes = {int(m): outside_share(int(m), level) for m in np.unique(inside) if m >= FEWEST}
    outside = np.array([sizes.get(int(m), np.nan) for m in inside])
    step = max(1, AT_ONCE // (max(n, draws) * (k + 1)))
    for start in range(0, cells, step):
        here = slice(start, min(start + step, cells))
        mine = (cell >= here.start) & (cell < here.stop)
        table = np.zeros((n, here.stop - start, k + 1))
        table[cluster[mine], cell[mine] - start] = sums[mine]
        drawn = np.concatenate([times @ table.reshape(n, -1) for times in resampled(n, draws, seed)])
        drawn = drawn.reshape(draws, -1, k + 1)
        # A draw without any cluster of the cell says nothing about it; sorting puts it last.
        size = np.where(drawn[:, :, :1] > 0, drawn[:, :, :1], np.nan)
        ratio = np.sort(drawn[:, :, 1:] / size, axis=0)
        last = np.isfinite(size).sum(axis=0)[:, 0] - 1.0
        low[here] = _at(ratio, outside[here] * last)
        high[here] = _at(ratio, (1 - outside[here]) * last)
    own = sums[:, 1:] / sums[:, :1]
    spread = np.zeros((2, *mean.shape))
    np.maximum.at(spread[0], cell, own - mean[cell])
    np.maximum.at(spread[1], cell, mean[cell] - own)
    alike = spread.max(axis=0) < NOTHING_LEFT * np.maximum(1, np.abs(mean))
    low[alike] = high[alike] = np.nan
    missed = 1 - ((1 - level) / 2) ** (1 / inside)
    known = np.isfinite(outside)[:, None] & np.asarray(shares, dtype=np.bool_)
    never, always = known & (mean == 0), known & (mean == 1)
    low[never], high[never] = 0.0, np.broadcast_to(missed[:, None], mean.shape)[never]
    low[always], high[always] = np.broadcast_to(1 - missed[:, None], mean.shape)[always], 1.0
    return mean, low, high


def _at(in_order: Floats, place: Floats) -> Floats:
    """The values at a place, maybe between two, of each column of cells; NaN where there is none."""
    known = np.isfinite(place)
    place = np.where(known, place, 0.0)
    below = np.floor(place).astype(np.int64)
    above = np.ceil(place).astype(np.int64)
    column, part = np.arange(len(place)), (place - below)[:, None]
    ends: Floats = in_order[below, column] * (1 - part) + in_order[above, column] * part
    ends[~known] = np.nan
    return ends


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
    clusters_in: npt.NDArray[np.int64]
    clusters_out: npt.NDArray[np.int64]


def clustered_differences(
    n_in: npt.NDArray[np.int64],
    s_in: Floats,
    n_all: npt.NDArray[np.int64],
    s_all: Floats,
    noise: tuple[float, float] | None = None,
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
    error = np.sqrt(((score_in - score_out) ** 2).sum(axis=0))
    looks = [(error, np.minimum(df, clusters - 1.0))]
    if noise is not None:
        pull = (n_in * (1 - share) - n_out * share).sum(axis=2) / size
        looks.append((np.sqrt(noise[0] / size + noise[1] * (pull**2).sum(axis=0)), np.full(len(size), clusters - 1.0)))
    p, reach = np.zeros(len(size)), np.zeros(len(size))
    for usual, freedom in looks:
        usual = np.where((usual > 0) & (freedom >= 1), usual, np.nan)
        freedom = np.maximum(freedom, 1.0)
        p = np.maximum(p, 2 * stdtr(freedom, -np.abs(difference / usual)))
        reach = np.maximum(reach, usual * stdtrit(freedom, 0.5 + level / 2))
    return Differences(
        inside=s_in.sum(axis=(0, 2)) / rows_in.sum(axis=0),
        outside=s_out.sum(axis=(0, 2)) / rows_out.sum(axis=0),
        difference=difference,
        error=error,
        df=looks[0][1],
        p=p,
        reach=reach,
        clusters_in=(rows_in > 0).sum(axis=0),
        clusters_out=(rows_out > 0).sum(axis=0),
    )


def _scores(n: npt.NDArray[np.int64], s: Floats) -> tuple[Floats, Floats]:
    """The mean of each column, and what each cluster contributes to its error."""
    rows = n.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = s.sum(axis=0) / rows
        score = (s - mean * n) / rows / np.sqrt(1 - n / rows)
    return mean, np.where(np.isfinite(score), score, 0.0)


def clustered_contrast(n: npt.NDArray[np.int64], s: Floats, signs: Floats) -> tuple[float, float]:
    """A sum of means with signs, such as an interaction of two features, and its error; NaN where a mean is of nothing.

    >>> n = np.ones((4, 4), np.int64)
    >>> s = np.array([[0, 1, 1, 3], [1, 1, 1, 3], [0, 0, 1, 2], [0, 1, 0, 2.0]])
    >>> value, error = clustered_contrast(n, s, np.array([1, -1, -1, 1]))
    >>> round(value, 2), round(error, 2)
    (1.25, 0.25)

    Numbers and sums are by cluster (rows) and cell (columns); the error allows for clusters as `clustered_differences`
    does.
    """
    if not n.sum(axis=0).all():
        return np.nan, np.nan
    mean, score = _scores(n, s)
    return float(mean @ signs), float(np.sqrt(((score @ signs) ** 2).sum()))


def clustered_last(n: npt.NDArray[np.int64], s: Floats, x: Floats) -> tuple[float, float]:
    """The last coefficient of `clustered_ols` and its error, from rows that are alike counted together.

    Numbers and sums of y are by cluster (rows) and pattern (columns); row p of `x` says what pattern p is, without the
    intercept. With few patterns, as yes-or-no columns have, this is many times faster. NaN where the other columns
    already tell the last.

    >>> n, s = np.array([[2, 1], [1, 0], [0, 2], [0, 1]]), np.array([[3, 4.0], [2, 0], [0, 10], [0, 5]])
    >>> value, error = clustered_last(n, s, np.array([[0.0], [1.0]]))
    >>> round(value, 3)
    3.083
    """
    others, last = np.column_stack([np.ones(len(x)), x[:, :-1]]), x[:, -1]
    number, sums = n.sum(axis=0).astype(np.float64), s.sum(axis=0)
    rows, clusters = number.sum(), int((n.sum(axis=1) > 0).sum())
    gram = others.T @ (number[:, None] * others)
    back = np.linalg.pinv(gram, rcond=NOTHING_LEFT, hermitian=True)
    own = last - others @ (back @ (others.T @ (number * last)))
    size = float(number @ own**2)
    columns = int(np.linalg.matrix_rank(gram, tol=NOTHING_LEFT * rows, hermitian=True)) + 1
    if size <= NOTHING_LEFT * float(number @ last**2) or clusters < 2 or rows <= columns:
        return np.nan, np.nan
    value = float(sums @ own) / size
    fitted = others @ (back @ (others.T @ (sums - number * last * value))) + last * value
    scores = (s - n * fitted) @ own / size
    variance = float((scores**2).sum()) * clusters / (clusters - 1) * (rows - 1) / (rows - columns)
    return value, float(np.sqrt(variance)) if variance > 0 else np.nan
