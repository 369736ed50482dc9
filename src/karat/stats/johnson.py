"""The interval of a mean of skewed values: Student's, moved towards the longer tail.

Where nearly all values stand at one end of a scale and a few far from it, the mean and its error move together: a
sample without any of the few has a mean too near to the end and an error too small, and Student's interval misses what
it should hold on one side only.

Reference: Johnson, Modified t Tests and Confidence Intervals for Asymmetrical Populations (Journal of the American
Statistical Association 1978).
"""

from __future__ import annotations

import numpy as np

from karat.stats.arrays import Floats, Ints
from karat.stats.distinct import distinct
from karat.stats.totals import totals


def johnson_ends(mean: Floats, error: Floats, reach: Floats, third: Floats) -> tuple[Floats, Floats]:
    """The ends of Johnson's interval of means, from their errors, Student's quantile and third moments.

    >>> one = np.ones(1)
    >>> low, high = johnson_ends(0 * one, one, 2 * one, 0.2 * one)  # 0.2 (1 + 2 x 4) / 6 further up
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([-1.7], [2.3])

    It is as wide as Student's, and never so far off that it does not hold the mean.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = third / error**2 * (1 + 2 * reach**2) / 6
    moved = np.clip(moved, -reach * error, reach * error)
    return mean - reach * error + moved, mean + reach * error + moved


def third_moments(values: Floats, weight: Floats, cluster: Ints) -> Floats:
    """The third moment of the weighted mean of each column, whose rows depend on each other within clusters.

    >>> values, four = np.array([[0.0], [0.0], [0.0], [4.0]]), np.arange(4)
    >>> third_moments(values, np.ones(4), four).round(3).tolist()  # 24 / 4^3, blown up by .75^-1.5 as in `clustered`
    [0.577]
    """
    whole = weight.sum()
    scores = (values - weight @ values / whole) * (weight / whole)[:, None]
    number = distinct(cluster)[1]
    share = np.bincount(number, weight) / whole
    sums = np.column_stack([totals(number, column, len(share)) for column in scores.T])
    with np.errstate(divide="ignore", invalid="ignore"):
        moments: Floats = ((sums / np.sqrt(1 - share)[:, None]) ** 3).sum(axis=0)
    return moments
