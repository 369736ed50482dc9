"""The paired t test of values by query, for any number of pairs of systems at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Differences that are alike but for the rounding of scores of about 1 are alike.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Paired:
    """Mean differences with error, interval and p, an entry for each column of differences.

    `effect` is the difference in standard deviations of the differences (d_z); `n` counts the rows that are known.
    """

    difference: Floats
    error: Floats
    low: Floats
    high: Floats
    p: Floats
    t: Floats
    df: Floats
    effect: Floats
    n: npt.NDArray[np.int64]


def paired_t(differences: Floats, *, level: float = 0.95) -> Paired:
    """The paired t test of each column of differences, a row per query.

    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> found = paired_t(np.array(maize)[:, None])
    >>> round(float(found.t[0]), 3), round(float(found.p[0]), 4)
    (2.148, 0.0497)

    A row that is NaN in a column is not counted there. What the data cannot tell is NaN: everything but the difference
    with fewer than two rows, and error, interval and p where all rows differ by the same amount. A t test would be
    infinitely sure then, but that says only that there are too few rows to see how they vary. One case has an answer:
    two systems that score alike on every row have p = 1, because nothing at all speaks for a difference (the sign-flip
    test says the same); the interval is NaN here as well, since how far off they may be elsewhere is not known.

    Use it for means over some twenty queries or more; with fewer and skewed ones `sign_flip` rests on less. The p value
    is right far out (1e-100), where one less the distribution function would be 0.

    Reference: Student, The Probable Error of a Mean (Biometrika 1908); d_z: Cohen, Statistical Power Analysis (1988).
    """
    from scipy.special import stdtr, stdtrit

    known = ~np.isnan(differences)
    n = known.sum(axis=0)
    filled = np.where(known, differences, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=0) / np.where(n > 0, n, np.nan)
        away = np.where(known, differences - mean, 0.0)
        sd = np.sqrt((away**2).sum(axis=0) / np.where(n > 1, n - 1, np.nan))
    largest = np.abs(filled).max(axis=0, initial=0.0)
    tolerance = ROUNDING * np.maximum(largest, 1.0)
    nothing = (largest <= ROUNDING) & (n > 0)
    sd = np.where(np.abs(away).max(axis=0, initial=0.0) <= tolerance, np.nan, sd)
    df = np.where(n > 1, n - 1.0, np.nan)
    error = sd / np.sqrt(np.maximum(n, 1))
    t = mean / error
    reach = error * stdtrit(np.where(n > 1, df, 1.0), 0.5 + level / 2)
    p = 2 * stdtr(np.where(n > 1, df, 1.0), -np.abs(t))
    return Paired(
        difference=np.where(nothing, 0.0, mean),
        error=error,
        low=mean - reach,
        high=mean + reach,
        p=np.where(nothing & (n > 1), 1.0, p),
        t=t,
        df=df,
        effect=mean / sd,
        n=n,
    )
