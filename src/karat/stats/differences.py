"""Differences of means inside and outside many slices at once, rows in clusters such as the labels of one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.stats.arrays import Floats, Ints
from karat.stats.two_way import Variance, combined


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
