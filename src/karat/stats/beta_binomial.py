"""Chances that at least so many of so many say yes: binomial, and beta-binomial with its fit."""

from __future__ import annotations

import numpy as np

from karat.stats.arrays import Floats, Ints


def binomial_tail(need: Ints | int, of: int, p: Floats | float) -> Floats:
    """P(at least `need` of `of` say yes), each with probability p; NaN where p is, unless nobody needs to.

    >>> [round(float(binomial_tail(m, n - 1, 0.30)), 3) for m, n in [(1, 3), (2, 3), (2, 4), (2, 5)]]
    [0.51, 0.09, 0.216, 0.348]
    """
    from scipy.special import betainc

    least, chance = np.asarray(need), np.asarray(p, dtype=np.float64)
    some = betainc(np.clip(least, 1, of), np.clip(of - least + 1, 1, of), chance) if of else np.zeros_like(chance)
    unless_none: Floats = np.where(np.isnan(chance), np.nan, np.where(least > of, 0.0, some))
    tail: Floats = np.where(least <= 0, 1.0, unless_none)
    found: Floats = tail[()]  # a number for numbers
    return found


def beta_binomial_tail(need: Ints | int, of: int, a: Floats | float, b: Floats | float) -> Floats:
    """P(at least `need` of `of` say yes), the probability itself drawn from Beta(a, b).

    >>> round(float(beta_binomial_tail(1, 2, 1.0, 1.0)), 4)  # uniform opinions: 0, 1 and 2 are equally likely
    0.6667
    """
    from scipy.special import betaln, binom

    least = np.asarray(need)
    tail: Floats = np.zeros(np.broadcast(least, a, b).shape)
    for yes in range(of + 1):
        tail = tail + (yes >= least) * binom(of, yes) * np.exp(betaln(yes + a, of - yes + b) - betaln(a, b))
    return tail


def hypergeometric_tail(need: int, of: int, yes: Ints, among: Ints) -> Floats:
    """P(at least `need` of `of` say yes) who are drawn from `among` people of whom `yes` do.

    >>> hypergeometric_tail(1, 2, np.array([0, 1, 2]), np.array([4, 4, 4])).round(4).tolist()  # 1 - C(4 - yes, 2) / 6
    [0.0, 0.5, 0.8333]
    """
    from scipy.special import binom

    # Nobody can draw more than there are: such terms are 0, also where the function of real numbers is not.
    ways = (
        np.where(of - j <= among - yes, binom(yes, j) * binom(among - yes, of - j), 0.0) for j in range(need, of + 1)
    )
    tail: Floats = sum(ways, start=np.zeros(len(yes))) / binom(among, of)
    return tail


def fit_beta_binomial(yes: Ints, of: Ints, weight: Floats) -> tuple[float, float]:
    """The Beta(a, b) of opinions that makes so many yes of so many most likely, documents weighted.

    Where the data cannot tell (no weight, or all say the same) both are NaN or an extreme fit at the mean.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    kept = (weight > 0) & (of > 0)
    if not kept.any():
        return float("nan"), float("nan")
    # Documents with the same votes are one term: a hundred thousand labels come down to some dozens.
    pairs, place = np.unique(np.stack([yes[kept], of[kept]]), axis=1, return_inverse=True)
    w = np.bincount(place.ravel(), weights=weight[kept])
    k, n = pairs[0].astype(np.float64), pairs[1].astype(np.float64)
    mean = float(np.clip((w @ (k / n)) / w.sum(), 1e-6, 1 - 1e-6))

    def loss(x: Floats) -> float:
        m, s = 1 / (1 + np.exp(-x[0])), np.exp(x[1])
        a, b = m * s, (1 - m) * s
        return -float(w @ (betaln(k + a, n - k + b) - betaln(a, b)))

    # Mean and size of the beta on unbounded scales; the size is kept where binomial and beta-binomial differ.
    start = np.array([np.log(mean / (1 - mean)), np.log(10.0)])
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-14, 14), (-7, 14)])
    m, s = 1 / (1 + np.exp(-found.x[0])), float(np.exp(found.x[1]))
    return float(m * s), float((1 - m) * s)
