"""Quantiles of Student's t without loading a statistics library, which would double the time of a small command."""

from __future__ import annotations

from math import pi, sqrt, tan


def t_quantile(p: float, df: int) -> float:
    """The p-quantile of Student's t with `df` degrees of freedom, to 1 % for p from 0.005 to 0.995.

    >>> round(t_quantile(0.975, 49), 3)
    2.01

    Exact for one and two degrees of freedom, otherwise Fisher and Cornish's expansion around the normal
    quantile (Abramowitz and Stegun 26.7.5).
    """
    if df == 1:
        return tan(pi * (p - 0.5))
    if df == 2:
        return (2 * p - 1) / sqrt(2 * p * (1 - p))
    from statistics import NormalDist

    z = NormalDist().inv_cdf(p)
    return (
        z
        + (z**3 + z) / (4 * df)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * df**4)
    )
