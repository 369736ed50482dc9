"""Tests of agreement: two measures on the same pairs, two parts of a split, and an interval over queries."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.differences import clustered_differences
from karat.stats.signs import binomial_p, flip_p, share_interval, welch_p
from karat.stats.totals import totals
from karat.validity.pair_scores import PairScores


def ratio_interval(
    query: Ints, part: Floats | Bools, base: Bools, resampling: Resampling, *, signed: bool = False
) -> tuple[float, float]:
    """A bootstrap interval, over queries, of the sum of `part` by the number of `base`; `signed` parts go below 0."""
    cells = np.unique(query[base], return_inverse=True)[1]
    number = int(cells.max()) + 1 if len(cells) else 0
    if number < FEWEST or not resampling.draws:
        return np.nan, np.nan
    above, below = totals(cells, part[base], number), np.bincount(cells).astype(np.float64)
    if np.ptp(above / below) == 0:  # in all queries or in none: as wide as a share of so many queries is
        return _alike(float(above[0] / below[0]), number, resampling.level, signed)
    drawn = np.concatenate([(times @ above) / (times @ below) for times in resampling.times(number)])
    return resampling.ends(drawn, number)


def _alike(value: float, number: int, level: float, signed: bool) -> tuple[float, float]:
    """The interval where all queries have one value: a difference of 0 may be one either way."""
    if abs(value) not in (0.0, 1.0):
        return np.nan, np.nan
    low, high = share_interval(number if value else 0, number, level)
    if value == 0 and signed:
        return -high, high
    return (low, high) if value >= 0 else (-high, -low)


def between_parts(
    compared: PairScores, place: int, one: str, two: str, parts: dict[str, Bools], ties: str
) -> dict[str, object]:
    """The share of agreement in one part of a split against that in another."""
    difference = compared.difference[:, place]
    known = ~np.isnan(difference) & (True if ties == "in" else difference != 0)
    agree = np.sign(np.nan_to_num(difference)) * compared.users > 0
    sides = [parts[one] & known, parts[two] & known]
    (wins, n), (other_wins, other_n) = ((int((agree & side).sum()), int(side.sum())) for side in sides)
    p = np.nan
    if n and other_n:
        n_in, n_out = (np.bincount(compared.query[side], minlength=compared.queries) for side in sides)
        s_in, s_out = (totals(compared.query[side], agree[side], compared.queries) for side in sides)
        seen = n_in + n_out > 0
        found = clustered_differences(
            n_in[seen, None, None], s_in[seen, None, None], (n_in + n_out)[seen, None], (s_in + s_out)[seen, None]
        )
        p = float(found.p[0])
    return {
        "first": one,
        "second": two,
        "first_share": wins / n if n else np.nan,
        "second_share": other_wins / other_n if other_n else np.nan,
        "welch_p": welch_p(wins, n, other_wins, other_n),
        "p": p,
    }


def between_measures(compared: PairScores, resampling: Resampling) -> list[dict[str, object]]:
    """Every two measures on the same pairs: those in which users prefer a side and both measures are defined.

    Where one of the two ties in all of them there is nothing to compare: the figures are NaN.
    """
    rows: list[dict[str, object]] = []
    for one, two in combinations(range(len(compared.measures)), 2):
        gaps = compared.difference[:, [one, two]]
        base = ~np.isnan(gaps).any(axis=1) & (compared.users != 0)
        if not ((gaps != 0) & base[:, None]).any(axis=0).all():
            base = np.zeros_like(base)
        # Twice the credit, so that it is a whole number: 2 for agreeing, 1 for a tie, 0 for disagreeing.
        credit = 1 + np.sign(np.nan_to_num(gaps)) * compared.users[:, None]
        more = np.where(base, credit[:, 0] - credit[:, 1], 0.0)
        low, high = ratio_interval(compared.query, more / 2, base, resampling, signed=True)
        first, second = int((more > 0).sum()), int((more < 0).sum())
        rows.append(
            {
                "first": compared.measures[one],
                "second": compared.measures[two],
                "first_better": first,
                "second_better": second,
                "n": int(base.sum()),
                "difference": float(more[base].mean() / 2) if base.any() else np.nan,
                "low": low,
                "high": high,
                "sign_p": binomial_p(first, second),
                "p": flip_p(totals(compared.query, more, compared.queries)),
            }
        )
    return rows
