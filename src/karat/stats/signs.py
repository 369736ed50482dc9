"""Tests on wins and losses: one by one, in clusters such as queries, and between two shares."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput


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
