"""Rank intervals: by hand, and holding all together as often as promised."""

from __future__ import annotations

import numpy as np
import pytest

from karat.stats.multiple_testing import holm
from karat.stats.permutation_tests import all_pairs, max_t, rank_intervals


def test_places_by_hand() -> None:
    # c is shown worse than a and b, which are not told apart; d was never compared with anyone.
    pairs = np.array([[0, 1], [0, 2], [2, 1]])
    best, worst = rank_intervals(pairs, [0.01, 0.2, -0.19], [0.6, 0.01, 0.05], 4)
    assert best.tolist() == [1, 1, 3, 1]
    assert worst.tolist() == [3, 3, 4, 4]


def test_nothing_shown_leaves_every_place_open_and_all_shown_leaves_one() -> None:
    pairs = all_pairs(4)
    best, worst = rank_intervals(pairs, np.ones(6), np.full(6, np.nan), 4)
    assert best.tolist() == [1] * 4
    assert worst.tolist() == [4] * 4
    best, worst = rank_intervals(pairs, np.full(6, -0.1), np.full(6, 0.001), 4)
    assert best.tolist() == worst.tolist() == [4, 3, 2, 1]


def test_a_difference_of_nothing_shows_nothing() -> None:
    best, worst = rank_intervals(np.array([[0, 1], [0, 2]]), [0.0, np.nan], [0.01, 0.01], 3)
    assert best.tolist() == [1, 1, 1]
    assert worst.tolist() == [3, 3, 3]
    assert rank_intervals(all_pairs(1), [], [], 1)[1].tolist() == [1]


@pytest.mark.parametrize("truth", [[0, 0, 0, 0, 0, 0], [0, 0.1, 0.1, 0.3, 0.5, 0.5], [0, 0.05, 0.1, 0.15, 0.2, 0.25]])
def test_all_intervals_hold_together_in_95_percent_of_studies(truth: list[float]) -> None:
    means, pairs = np.array(truth), all_pairs(6)
    # The places that systems truly hold: those that are alike share theirs.
    highest = 1 + (means[:, None] < means).sum(axis=1)
    lowest = 6 - (means[:, None] > means).sum(axis=1)
    rng, held, held_holm, width, studies = np.random.default_rng(6), 0, 0, 0.0, 600
    for seed in range(studies):
        values = means + rng.normal(0, 0.3, (40, 1)) + rng.normal(0, 0.2, (40, 6))
        found = max_t(values, draws=499, seed=seed)
        best, worst = rank_intervals(pairs, found.t, found.adjusted, 6)
        held += bool(((best <= highest) & (worst >= lowest)).all())
        best_holm, worst_holm = rank_intervals(pairs, found.t, holm(found.p), 6)
        held_holm += bool(((best_holm <= highest) & (worst_holm >= lowest)).all())
        width += float((worst - best).mean()) / studies
    assert held / studies >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / studies)
    assert held_holm >= held
    if len(set(truth)) > 1:
        assert width < 4.5
