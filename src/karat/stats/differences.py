"""Differences of means inside and outside many slices at once, rows in clusters such as the labels of one query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.stats.regression import NOTHING_LEFT

Floats = npt.NDArray[np.float64]


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
