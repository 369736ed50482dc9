"""Are the grades of one sample higher than another's? A test that needs only their order."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput
from karat.stats.arrays import Floats, Ints, totals
from karat.stats.cluster_robust import variance_of_difference


@dataclass(frozen=True)
class Ordinal:
    """P(X > Y) + P(X = Y) / 2 with its interval and test; NaN where the data cannot tell."""

    effect: float
    low: float
    high: float
    t: float
    df: float
    p: float


def ordinal_test(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    x_cluster: npt.ArrayLike | None = None,
    y_cluster: npt.ArrayLike | None = None,
    *,
    judges: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    items: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    level: float = 0.95,
) -> Ordinal:
    """How often a value of x is above one of y (ties count half), and whether that could be chance.

    >>> test = ordinal_test([1, 2, 2, 3, 4], [0, 1, 1, 2, 1])
    >>> round(test.effect, 2), round(test.p, 3)
    (0.86, 0.016)

    0.5 means that neither is higher. Unlike a t test it does not take a step from 0 to 1 for as large as one from 3
    to 4. Without clusters it is Brunner and Munzel's test. With clusters (which the samples may share) every value's
    placement among the other sample is summed by cluster, and the variance is that of the clusters' sums; t then has
    one degree of freedom less than the sample with fewer clusters has clusters. With judges, clusters of a second kind
    by number (-1: in none), both count (`two_way`); `items` are the numbers of what both samples are about, if both are
    about the same. Samples that do not overlap at all, or do not vary, leave the test
    undefined (NaN).

    Reference: Brunner and Munzel (Biometrical Journal 2000); Obuchowski, Nonparametric Analysis of Clustered ROC Curve
    Data (Biometrics 1997).
    """
    from scipy.special import stdtr, stdtrit

    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n_x, n_y = len(first), len(second)
    if not n_x or not n_y:
        return Ordinal(*[np.nan] * 6)
    of_x, of_y = _placements(first, second), _placements(second, first)
    effect = float(of_x.mean())
    if x_cluster is None or y_cluster is None:
        variance, df = _independent(of_x, of_y)
    elif judges is not None:
        judged = (of_x, of_y)
        if items is not None:
            numbers = [np.asarray(item) for item in items]
            judged = (
                of_x - _mean_of_item(_placements(second, second), numbers[1], numbers[0]),
                of_y - _mean_of_item(_placements(first, first), numbers[0], numbers[1]),
            )
        values, by_judge, cluster, judge = (
            np.concatenate([np.asarray(side) for side in both])
            for both in ((of_x, of_y), judged, (x_cluster, y_cluster), judges)
        )
        is_first = np.arange(n_x + n_y) < n_x
        _, spread = variance_of_difference(values, is_first, np.ones(n_x + n_y), cluster, judge, by_judge)
        variance, df = float(spread.variance[0]), float(spread.df[0])
    else:
        variance, df = _clustered(of_x, of_y, np.asarray(x_cluster), np.asarray(y_cluster))
    # Placements are shares with a step of 1 / 2n: what is smaller than rounding is no variance.
    if not variance > 1e-20 or not df > 0:
        return Ordinal(effect, np.nan, np.nan, np.nan, np.nan, np.nan)
    error = float(np.sqrt(variance))
    t = (effect - 0.5) / error
    reach = float(stdtrit(df, 0.5 + level / 2)) * error
    return Ordinal(effect, max(effect - reach, 0.0), min(effect + reach, 1.0), t, df, float(2 * stdtr(df, -abs(t))))


def _placements(of: Floats, among: Floats) -> Floats:
    """The share of the other sample below each value, ties by half."""
    others = np.sort(among)
    return (np.searchsorted(others, of, "left") + np.searchsorted(others, of, "right")) / (2 * len(others))


def _independent(of_x: Floats, of_y: Floats) -> tuple[float, float]:
    n_x, n_y = len(of_x), len(of_y)
    if n_x < 2 or n_y < 2:
        return np.nan, np.nan
    v_x, v_y = of_x.var(ddof=1) / n_x, of_y.var(ddof=1) / n_y
    if v_x + v_y == 0:
        return np.nan, np.nan
    return float(v_x + v_y), float((v_x + v_y) ** 2 / (v_x**2 / (n_x - 1) + v_y**2 / (n_y - 1)))


def _clustered(
    of_x: Floats, of_y: Floats, x_cluster: npt.NDArray[np.generic], y_cluster: npt.NDArray[np.generic]
) -> tuple[float, float]:
    values, code = np.unique(np.concatenate([x_cluster, y_cluster]), return_inverse=True)
    clusters, n_x = len(values), len(of_x)
    # A high placement of y means that y is above, so it pulls the other way.
    pull = np.concatenate([(of_x - of_x.mean()) / n_x, -(of_y - of_y.mean()) / len(of_y)])
    if clusters < 2:
        return np.nan, np.nan
    sums = totals(code, pull, clusters)
    fewer = min(len(np.unique(code[:n_x])), len(np.unique(code[n_x:])))
    return float((sums**2).sum() * clusters / (clusters - 1)), float(fewer - 1)


def _mean_of_item(values: Floats, item: Ints, wanted: Ints) -> Floats:
    """The mean of the values of each item that is wanted."""
    number = int(max(item.max(), wanted.max())) + 1
    mean: Floats = (totals(item, values, number) / np.maximum(np.bincount(item, minlength=number), 1))[wanted]
    return mean


def binomial_p(wins: int, losses: int) -> float:
    """How often a fair coin is at least as one-sided: the exact two-sided sign test, NaN without any throw.

    >>> round(binomial_p(50, 24), 4)
    0.0034

    Of two columns that agree with users in b and in c pairs where the other does not, it is McNemar's exact test.
    """
    from scipy.special import bdtr

    if wins < 0 or losses < 0:
        raise BadInput.at("the counts", expected="0 or more", found=f"{wins} and {losses}")
    if not wins + losses:
        return np.nan
    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def flip_p(sums: npt.ArrayLike) -> float:
    """Clusters' sums against the same sums with signs drawn at random: the exact two-sided sign-flip test.

    >>> round(flip_p([1, 1, 1, 1, 1, 1]), 5)  # six of six heads: 2 / 64
    0.03125
    >>> round(flip_p([3, -1, 0, 2]), 5)
    0.5

    The sums are whole numbers; every pattern of signs is counted, clusters of one size together. Right
    however the members of a cluster hang together, when under the null a cluster is as likely to point the one way as
    the other. With one member each it is the sign test. NaN where all sums are 0.
    """
    from scipy.special import gammaln

    given = np.asarray(sums, np.float64)
    whole = np.rint(given)
    if not np.allclose(given, whole, atol=1e-6):
        raise BadInput.at("the sums to flip", expected="whole numbers", found=str(given[given != whole][0]))
    steps, clusters = np.unique(np.abs(whole[whole != 0]).astype(np.int64), return_counts=True)
    if not len(steps):
        return np.nan
    chance = np.ones(1)
    for step, number in zip(steps.tolist(), clusters.tolist(), strict=True):
        heads = np.arange(number + 1)
        spread = np.zeros(2 * step * number + 1)  # the sums of all clusters of this size
        spread[:: 2 * step] = np.exp(
            gammaln(number + 1) - gammaln(heads + 1) - gammaln(number - heads + 1) - number * np.log(2)
        )
        chance = np.convolve(chance, spread)
    reach = int(steps @ clusters)
    far = np.abs(np.arange(-reach, reach + 1)) >= abs(int(whole.sum()))
    return float(min(chance[far].sum(), 1.0))


def welch_p(wins: int, n: int, other_wins: int, other_n: int) -> float:
    """Whether two shares differ, by Welch's t-test of two samples of zeros and ones, two-sided.

    >>> round(welch_p(88, 122, 72, 125), 3), round(welch_p(25, 42, 25, 36), 3)
    (0.017, 0.367)

    The test of the paper on preferences. NaN where a sample has fewer than two, or neither varies.
    """
    from scipy.special import stdtr

    if min(n, other_n) < 2:
        return np.nan
    one, two = wins / n, other_wins / other_n
    error, other_error = one * (1 - one) / (n - 1), two * (1 - two) / (other_n - 1)
    total = error + other_error
    if total == 0:
        return np.nan
    df = total**2 / (error**2 / (n - 1) + other_error**2 / (other_n - 1))
    return float(2 * stdtr(df, -abs(one - two) / sqrt(total)))


def share_interval(wins: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share of independent cases; NaN without any.

    >>> [round(end, 3) for end in share_interval(50, 78)]
    [0.53, 0.739]

    Reference: Wilson (JASA 1927).
    """
    if not n:
        return np.nan, np.nan
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = wins / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
