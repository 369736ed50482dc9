"""The algebra of correcting a share for known rates of error: estimates, variances and tests, on numbers or arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.stats.arrays import Floats, Ints

#: One number, or one for each of many.
Number = float | Floats

#: Judges whose answers are not at least so many standard errors better than guessing cannot be corrected for.
CLEAR = 2.0


def corrected(score: Number, relevant: Number, nonrelevant: Number) -> Number:
    """The share of relevant documents behind the share that judges called relevant.

    >>> round(float(corrected(0.626, 43 / 59, 67 / 84)), 3)
    0.805

    `relevant` is the judges' accuracy on relevant documents, `nonrelevant` that on others.

    Reference: Rogan and Gladen (American Journal of Epidemiology 1978).
    """
    return (score - 1 + nonrelevant) / (relevant + nonrelevant - 1)


def share_variance(agreed: int | Ints, n: int) -> Number:
    """The variance of the share agreed / n; never 0.

    >>> round(float(share_variance(43, 59)), 7), round(float(share_variance(20, 20)), 7)
    (0.0033499, 0.0019722)

    Where all agreed, or none, as if one of each kind had been added: 20 right of 20 does not mean never wrong.
    """
    extreme = (np.asarray(agreed) == 0) | (np.asarray(agreed) == n)
    share = np.where(extreme, (np.asarray(agreed) + 1) / (n + 2), np.asarray(agreed) / n)
    variance = share * (1 - share) / np.where(extreme, n + 2, n)
    return float(variance) if variance.ndim == 0 else variance


def corrected_parts(
    score: Number,
    score_variance: Number,
    relevant: Number,
    nonrelevant: Number,
    relevant_variance: Number,
    nonrelevant_variance: Number,
) -> tuple[Number, Number, Number]:
    """The variance of a corrected score in its parts: from the score, and from the two accuracies.

    >>> parts = corrected_parts(0.626, 0.414**2 / 10278, 43 / 59, 67 / 84, 0.0033499, 0.0019219)
    >>> round(sum(parts) ** 0.5, 4)
    0.0903
    """
    d = relevant + nonrelevant - 1
    return (
        score_variance / d**2,
        relevant_variance * (score - 1 + nonrelevant) ** 2 / d**4,
        nonrelevant_variance * (relevant - score) ** 2 / d**4,
    )


def shared_parts(
    difference: Number, difference_variance: Number, d: Number, relevant_variance: Number, nonrelevant_variance: Number
) -> tuple[Number, Number, Number]:
    """The variance of a difference of two scores corrected with the same accuracies, in its parts.

    The corrected difference is difference / d: an accuracy that is off moves both scores, and only what it does to
    their distance is left.

    >>> parts = shared_parts(0.0125, 0.414**2 / 10278 + 0.402**2 / 20604, 0.5264, 0.0033499, 0.0019219)
    >>> round(sum(parts) ** 0.5, 5)
    0.00996
    """
    by_accuracy = difference**2 / d**4
    return difference_variance / d**2, by_accuracy * relevant_variance, by_accuracy * nonrelevant_variance


def together(parts: Sequence[Number], freedoms: Sequence[float]) -> tuple[Number, Number]:
    """The standard error of a sum whose parts have these variances, and its degrees of freedom.

    >>> error, df = together([0.04, 0.09], [9, 19])
    >>> round(float(error), 4), round(float(df), 1)
    (0.3606, 28.0)

    Reference: Welch (Biometrika 1947); Satterthwaite (Biometrics 1946). Infinite where there is no variance.
    """
    total = np.asarray(sum(np.asarray(part) for part in parts), dtype=np.float64)
    below = np.asarray(sum(np.asarray(part) ** 2 / df for part, df in zip(parts, freedoms, strict=True)))
    df = np.full(total.shape, np.inf)
    np.divide(total**2, below, out=df, where=below > 0)
    return (float(np.sqrt(total)), float(df)) if total.ndim == 0 else (np.sqrt(total), df)


def two_sided(value: Number, error: Number, df: Number = np.inf) -> Number:
    """The p value of a figure against 0, by Student's t, or by the normal distribution without `df`; NaN without error.

    >>> round(float(two_sided(1.96, 1.0)), 3)
    0.05
    """
    from scipy.special import ndtr, stdtr

    size = np.abs(np.asarray(value, dtype=np.float64))
    ratio = np.full(np.broadcast(size, error).shape, np.nan)
    np.divide(size, error, out=ratio, where=np.asarray(error) > 0)
    finite = np.isfinite(df)
    p = 2 * np.where(finite, stdtr(np.where(finite, df, 1.0), -ratio), ndtr(-ratio))
    return float(p) if p.ndim == 0 else p


def half_width(error: Number, level: float, df: Number = np.inf) -> Number:
    """How far an interval reaches to each side, by Student's t, or by the normal distribution without `df`.

    >>> round(float(half_width(1.0, 0.95)), 2), round(float(half_width(1.0, 0.95, 9)), 2)
    (1.96, 2.26)
    """
    from scipy.special import ndtri, stdtrit

    finite = np.isfinite(df)
    quantile = np.where(finite, stdtrit(np.where(finite, df, 1.0), 0.5 + level / 2), ndtri(0.5 + level / 2))
    wide = error * quantile
    return float(wide) if np.ndim(wide) == 0 else wide


def wilson(share: Number, n: Number, level: float = 0.95, df: Number = np.inf) -> tuple[Number, Number]:
    """Wilson's interval for a share of n independent answers; within 0 and 1, and never of zero width.

    Where an error tells how many answers the share amounts to, `df` are its degrees of freedom.

    >>> low, high = wilson(43 / 59, 59)
    >>> round(float(low), 3), round(float(high), 3)
    (0.604, 0.826)
    """
    z2 = np.square(half_width(1.0, level, df))
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def lang_reiczigel(
    score: Number,
    n: Number,
    relevant: Number,
    n_relevant: Number,
    nonrelevant: Number,
    n_nonrelevant: Number,
    level: float = 0.95,
) -> tuple[Number, Number]:
    """An interval for a corrected share that holds what it promises with few gold labels too; not cut at 0 and 1.

    >>> low, high = lang_reiczigel(259 / 509, 509, 84 / 127, 127, 96 / 109, 109)
    >>> round(float(low), 2), round(float(high), 2)
    (0.58, 0.87)

    Each share is moved a little to the middle before the variance is taken, so that 20 right of 20 is not taken for
    never wrong.

    Reference: Lang and Reiczigel, Confidence limits for prevalence of disease adjusted for estimated sensitivity and
    specificity (Preventive Veterinary Medicine 2014).
    """
    z2 = float(half_width(1.0, level)) ** 2
    share = (n * score + z2 / 2) / (n + z2)
    right = (n_relevant * relevant + 1) / (n_relevant + 2)
    right_not = (n_nonrelevant * nonrelevant + 1) / (n_nonrelevant + 2)
    d, value = right + right_not - 1, corrected(share, right, right_not)
    variance = right * (1 - right) / (n_relevant + 2)
    variance_not = right_not * (1 - right_not) / (n_nonrelevant + 2)
    middle = value + 2 * z2 * (value * variance - (1 - value) * variance_not)
    spread = share * (1 - share) / (n + z2) + value**2 * variance + (1 - value) ** 2 * variance_not
    half = np.sqrt(z2 * spread) / d
    return middle - half, middle + half
