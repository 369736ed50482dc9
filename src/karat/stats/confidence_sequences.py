"""Confidence sequences: intervals that still hold when one looks after every query and stops when it is clear."""

from __future__ import annotations

from math import inf, log

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput
from karat.stats.arrays import Floats

#: The first look: before, the spread of the values is too uncertain for the intervals to hold as promised.
FIRST = 20
#: Where the end of the looks is planned, this share of alpha is spent on looks up to it, the rest on looks for ever.
PLANNED = 0.8


def reaches(t: npt.ArrayLike, r: float, *, alpha: float = 0.05) -> Floats:
    """How far the interval goes to each side after t values, in standard deviations of a value.

    >>> reaches([50, 100, 200], best_r(100)).round(3).tolist()
    [0.435, 0.304, 0.217]

    With chance 1 - alpha the mean is in every one of the intervals, so one may look at any time and stop when 0 is
    outside. `r` says where the sequence is narrowest and must be fixed before the first look: `best_r` of the number
    planned. The price at that number is an interval about 1.5 times as wide as that of a single look. It rests on the
    central limit theorem: from 20 values on it holds for differences of two systems; for skewed values, such as one
    system's AP, wait for about 50.

    Reference: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic
    confidence sequences (Annals of Statistics 2024), theorem 2.2.
    """
    if not 0 < r < inf:
        raise BadInput.at("r", expected="a number above 0, such as best_r(100)", found=str(r))
    _check(alpha)
    n = np.asarray(t, dtype=np.float64)
    reach: Floats = np.sqrt(2 * (n * r + 1) / (n**2 * r) * np.log(np.sqrt(n * r + 1) / alpha))
    return reach


def best_r(t: float, alpha: float = 0.05) -> float:
    """The r for which the sequence is narrowest after t values: fix it before the first look.

    >>> round(best_r(100), 4)
    0.0821

    At that place x = t r solves x = log(1 + x) - 2 log(alpha), where the derivative of the width is 0.
    """
    _check(alpha)
    if not t >= 1:
        raise BadInput.at("the number planned", expected="1 or more", found=str(t))
    x = 1.0
    for _ in range(200):
        x = log(1 + x) - 2 * log(alpha)
    return x / t


def reach_to_the_end(now: float, end: float, middle: float, *, alpha: float = 0.05, later: bool = False) -> float:
    """How far the interval goes to each side at a look, where the variance of the estimate goes down to a known end.

    >>> round(reach_to_the_end(4.0, 1.0, 2.0), 2), round(reach_to_the_end(1.0, 1.0, 2.0), 2)
    (7.22, 2.33)

    `now` is the variance of the estimate at this look, `end` what it will be at the end of the plan, and `middle` half
    way. With chance 1 - alpha the truth is in every one of the intervals. An estimate less the truth, divided by its
    variance, goes the way of a Brownian motion whose time is the information, 1 by the variance. Two bounds hold for
    it, and the interval is the narrower: up to the end of the plan it stays within z(1 - a/4) times the root of the
    information at the end (O'Brien and Fleming's bound, a = 0.8 alpha), and for ever within the mixture's of `reaches`,
    narrowest half way (0.2 alpha). At the end it is 1.19 times as wide as an interval for one look. `later`: the plan
    was made longer after looking, so that the second alone holds.

    Reference: O'Brien and Fleming (Biometrics 1979); the information as time: Scharfstein, Tsiatis and Robins (JASA
    1997); time-uniform limits: Waudby-Smith et al. (Annals of Statistics 2024).
    """
    from scipy.special import ndtri

    _check(alpha)
    spent = (1 - PLANNED) * alpha
    # In units of the standard error half way, where the information is 1.
    ever = float(np.sqrt(middle) * reaches(middle / now, best_r(1.0, spent), alpha=spent))
    if later:
        return ever
    return min(ever, float(ndtri(1 - PLANNED * alpha / 4)) * now / float(np.sqrt(end)))


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise BadInput.at("alpha", expected="a share such as 0.05", found=str(alpha))
