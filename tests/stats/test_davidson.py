"""Bradley and Terry's model with ties: a published table, closed forms, and another optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from karat.stats.davidson import chances, fit_davidson

#: The American League's East in 1987 (Agresti, Categorical Data Analysis, 2002): wins of row over column.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
)
#: The abilities against Baltimore that BradleyTerry2 prints for it.
ABILITIES = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]


def test_the_baseball_table_has_its_published_abilities() -> None:
    one, two = np.triu_indices(7, 1)
    assert (WINS + WINS.T)[one, two].tolist() == [13] * 21
    counts = np.stack([WINS[one, two], np.zeros(21), WINS[two, one]], axis=1)[None]
    fit = fit_davidson(one, two, counts, 7, prior=0.0)
    assert (fit.strength[0] - fit.strength[0, -1]).tolist() == pytest.approx(ABILITIES, abs=5e-5)
    assert fit.tie[0] == -np.inf


def test_two_players_have_a_closed_form() -> None:
    """The ratio of strengths is that of wins; the ties' weight is ties by the geometric mean of wins."""
    for wins, ties, losses in ((16, 10, 4), (3, 1, 9), (5, 20, 5)):
        fit = fit_davidson(np.array([0]), np.array([1]), np.array([[[wins, ties, losses]]]), 2, prior=0.0)
        assert np.exp(fit.strength[0, 0] - fit.strength[0, 1]) == pytest.approx(wins / losses)
        assert np.exp(fit.tie[0]) == pytest.approx(ties / np.sqrt(wins * losses))


def test_it_is_the_maximum_that_a_general_optimiser_finds() -> None:
    rng = np.random.default_rng(3)
    one, two = np.triu_indices(4, 1)
    counts = rng.poisson(6, (6, 3)).astype(float)

    def against(value: np.ndarray) -> float:
        return -float((counts * np.log(chances(np.r_[0.0, value[:3]], value[3], one, two))).sum())

    best = minimize(against, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    fit = fit_davidson(one, two, counts[None], 4, prior=0.0)
    assert (fit.strength[0, 1:] - fit.strength[0, 0]).tolist() == pytest.approx(best.x[:3].tolist(), abs=1e-4)
    assert fit.tie[0] == pytest.approx(best.x[3], abs=1e-4)


def test_many_sets_at_once_are_each_fitted_alone() -> None:
    rng = np.random.default_rng(4)
    one, two = np.triu_indices(5, 1)
    counts = rng.poisson(3, (20, 10, 3)).astype(float)
    counts[7, :, 1] = 0  # a set without ties
    together = fit_davidson(one, two, counts, 5)
    for place in (0, 7, 19):
        alone = fit_davidson(one, two, counts[[place]], 5)
        assert together.strength[place].tolist() == pytest.approx(alone.strength[0].tolist(), abs=1e-6)


def test_who_wins_always_has_a_finite_strength() -> None:
    fit = fit_davidson(np.array([0, 1]), np.array([1, 2]), np.array([[[9.0, 0, 0], [9.0, 0, 0]]]), 3)
    assert np.isfinite(fit.strength).all()
    assert fit.strength[0, 0] > fit.strength[0, 1] > fit.strength[0, 2]
