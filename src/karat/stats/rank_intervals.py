"""Rank intervals: the places that each system may hold, as far as the comparisons of pairs tell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Ints


def rank_intervals(
    pairs: Ints, difference: npt.ArrayLike, adjusted: npt.ArrayLike, systems: int, *, alpha: float = 0.05
) -> tuple[Ints, Ints]:
    """The best and the worst place that each system may hold, 1 being the top.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> best, worst = rank_intervals(pairs, [0.01, 0.20, 0.19], [0.60, 0.01, 0.02], 3)
    >>> best.tolist(), worst.tolist()
    ([1, 1, 3], [2, 2, 3])

    A system is at best one place below all that are shown better, and at worst one above all that are shown worse. A
    pair is shown if its adjusted p value is at most `alpha`; the sign of its difference (first less second) says which
    is better. With p values that allow for all pairs (`max_t`, `holm`) all intervals hold together with a confidence of
    1 - alpha; with plain ones they do not. Systems that are truly alike share places, and their intervals hold
    every place they share. Give all pairs: one that was not tested, or is undefined (NaN), shows nothing.

    Reference: Mohamad, Goeman and van Zwet, Simultaneous Confidence Intervals for Ranks (arXiv 1708.02428).
    """
    apart = np.asarray(difference, dtype=np.float64)
    shown = (np.asarray(adjusted, dtype=np.float64) <= alpha) & (apart != 0) & ~np.isnan(apart)
    first_wins = apart > 0
    winner = np.where(first_wins, pairs[:, 0], pairs[:, 1])[shown]
    loser = np.where(first_wins, pairs[:, 1], pairs[:, 0])[shown]
    best = 1 + np.bincount(loser, minlength=systems)
    worst = systems - np.bincount(winner, minlength=systems)
    return best.astype(np.int64), worst.astype(np.int64)
