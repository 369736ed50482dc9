"""Power of the paired t test: how likely a difference is seen, and how many queries it takes."""

from __future__ import annotations

from math import inf, isfinite, sqrt

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput, Undefined
from karat.stats.arrays import Floats

#: More queries than this nobody judges: the answer is then that the difference is out of reach.
MOST = 1_000_000_000


def paired_power(difference: float, sd: float, n: npt.ArrayLike, *, alpha: float = 0.05) -> Floats:
    """The chance that a paired t test over n queries calls a true mean difference, `sd` being that of a query's.

    >>> paired_power(0.5, 1.0, [20, 34]).round(3).tolist()
    [0.565, 0.808]

    It counts calls in either direction, and is the noncentral t distribution's, so it is right for few queries too if
    differences are about normal. With fewer than two queries nothing can be seen and the power is 0.

    Reference: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), 2.3.
    """
    from scipy.special import nctdtr, ndtr, stdtrit

    _check(sd, alpha)
    numbers = np.asarray(n, dtype=np.float64)
    enough = numbers >= 2
    used = np.where(enough, numbers, 2.0)
    shift = abs(difference) / sd * np.sqrt(used)
    edge = stdtrit(used - 1, 1 - alpha / 2)
    below = nctdtr(used - 1, shift, edge)
    below = np.where(np.isnan(below), ndtr(edge - shift), below)
    # SciPy gives NaN for some tails that are smaller than 1e-20.
    far = np.nan_to_num(nctdtr(used - 1, shift, -edge))
    power: Floats = np.where(enough, np.clip(1 - below + far, 0.0, 1.0), 0.0)
    return power


def queries_needed(difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """The fewest queries with which a paired t test sees a difference with this power.

    >>> queries_needed(0.5, 1.0)
    34
    >>> queries_needed(0.02, 0.2)
    787
    """
    _check(sd, alpha, power)
    if not isfinite(difference) or difference == 0:
        raise BadInput.at("the difference", expected="a number other than 0", found=str(difference))
    high = 2
    while paired_power(difference, sd, high, alpha=alpha) < power:
        high *= 2
        if high > MOST:
            raise Undefined(
                f"a difference of {difference:g} is out of reach: more than {MOST:,} queries with a standard "
                f"deviation of {sd:g}"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if paired_power(difference, sd, middle, alpha=alpha) < power:
            low = middle
        else:
            high = middle
    return high


def smallest_difference(n: int, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference that a paired t test over n queries sees with this power.

    >>> round(smallest_difference(34, 1.0), 3)
    0.495
    """
    _check(sd, alpha, power)
    if n < 2:
        raise Undefined("fewer than two queries show no difference, however large")
    low, high = 0.0, sd
    while paired_power(high, sd, n, alpha=alpha) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if paired_power(middle, sd, n, alpha=alpha) < power:
            low = middle
        else:
            high = middle
    return high


def sampled_sd(variance: float, gold_variance: float, share: float) -> float:
    """The standard deviation of a query's difference when only a share of its documents has a gold label.

    >>> round(sampled_sd(0.04, 0.005, 0.1), 3)
    0.292

    `variance` is that of the true differences, `gold_variance` the R of the documents: the mean over queries of the sum
    of squared weight (of one system less the other) times squared error of the predicted gain. What is not drawn adds
    R (1/share - 1).
    """
    if not 0 < share <= 1:
        raise BadInput.at("the share of gold labels", expected="above 0, at most 1", found=f"{share:g}")
    if not (0 <= variance < inf and 0 <= gold_variance < inf):
        raise BadInput.at("the variances", expected="numbers from 0", found=f"{variance:g} and {gold_variance:g}")
    return sqrt(variance + gold_variance * (1 / share - 1))


def _check(sd: float, alpha: float, power: float = 0.8) -> None:
    if not 0 < sd < inf:
        raise BadInput.at("the standard deviation", expected="a number above 0", found=f"{sd:g}")
    if not 0 < alpha < 1:
        raise BadInput.at("alpha", expected="a share such as 0.05", found=f"{alpha:g}")
    if not alpha < power < 1:
        raise BadInput.at("the power", expected="a share above alpha, such as 0.8", found=f"{power:g}")
