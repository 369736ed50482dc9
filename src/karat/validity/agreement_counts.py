"""Agreement from counts: how often a measure and users point the same way, with tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.errors import BadInput
from karat.stats.signs import binomial_p, share_interval, welch_p

TIES = ("out", "in")


def figures(agree: int, equal: int, disagree: int, tied: int, ties: str, level: float) -> dict[str, Any]:
    """One column of a table of agreement: counts, shares, the interval of the first, and tests against chance.

    >>> small = figures(25, 2, 15, 0, "out", 0.95)
    >>> small["n"], round(small["agree_share"], 3), round(small["p"], 3)
    (42, 0.595, 0.154)

    Pairs tied on the measure are left out of the base (`ties` "out") or are a row of it ("in"). `p` is the binomial
    test of agree against disagree; `t_p` is the paper's t-test of the two, which finds too much: they share their
    pairs.

    Reference: Sanderson et al. (SIGIR 2010), Tables 1 to 9.
    """
    n = agree + equal + disagree + (tied if ties == "in" else 0)
    low, high = share_interval(agree, n, level)
    base = n or np.nan
    return {
        "agree": agree,
        "equal": equal,
        "disagree": disagree,
        "ties": tied,
        "n": n,
        "agree_share": agree / base,
        "low": low,
        "high": high,
        "equal_share": equal / base,
        "disagree_share": disagree / base,
        "ties_share": tied / base if ties == "in" else np.nan,
        "p": binomial_p(agree, disagree),
        "t_p": welch_p(agree, n, disagree, n),
    }


def check_ties(ties: str) -> None:
    """Refuse anything but out and in."""
    if ties not in TIES:
        raise BadInput.at("the ties", expected=" or ".join(TIES), found=f'"{ties}"')
