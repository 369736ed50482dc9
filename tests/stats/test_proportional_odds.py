"""The proportional odds model finds what statsmodels finds, and the truth where it is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from karat.errors import NotConverged
from karat.stats.proportional_odds import ProportionalOdds, proportional_odds

CUTS, SLOPES = np.array([-1.5, 0.0, 0.8, 2.5]), np.array([1.0, -0.5, 0.0])


def drawn(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    below = expit(CUTS - (x @ SLOPES)[:, None])
    return (rng.random(n)[:, None] > below).sum(axis=1).astype(float), x


def test_the_fit_is_that_of_statsmodels() -> None:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    y, x = drawn(400, seed=1)
    fit = proportional_odds(y, x)
    other = OrderedModel(y, x, distr="logit")
    theirs = other.fit(method="bfgs", disp=False, gtol=1e-8)
    assert fit.slopes == pytest.approx(theirs.params[:3], abs=2e-4)
    assert fit.cuts == pytest.approx(other.transform_threshold_params(theirs.params)[1:-1], abs=2e-4)


def test_many_labels_lead_to_the_truth() -> None:
    y, x = drawn(40_000, seed=2)
    fit = proportional_odds(y, x)
    assert fit.cuts == pytest.approx(CUTS, abs=0.08)
    assert fit.slopes == pytest.approx(SLOPES, abs=0.05)


def test_probabilities_are_those_of_the_formula_and_add_up() -> None:
    model = ProportionalOdds(np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0]), np.array([2.0]))
    first, second = 1 / (1 + np.exp(2)), 1 / (1 + np.exp(1))
    assert model.probabilities([[1.0]])[0] == pytest.approx([first, second - first, 1 - second])
    y, x = drawn(300, seed=3)
    assert proportional_odds(y, x, ridge=1).probabilities(x).sum(axis=1) == pytest.approx(np.ones(300))


def test_a_ridge_holds_slopes_down_and_saves_separated_grades() -> None:
    y, x = drawn(200, seed=4)
    assert np.abs(proportional_odds(y, x, ridge=100).slopes).sum() < np.abs(proportional_odds(y, x).slopes).sum()
    apart = np.array([[0.0], [1.0], [2.0], [3.0]])
    held = proportional_odds([0, 0, 1, 1], apart, ridge=1)
    assert held.slopes[0] > 0
    with pytest.raises(NotConverged):
        proportional_odds([0, 0, 1, 1], apart * 1e-3)


def test_one_grade_is_certain() -> None:
    assert proportional_odds([2, 2], [[0.0], [1.0]]).probabilities([[5.0]]).tolist() == [[1.0]]


def test_the_gradient_is_right_at_rare_grades() -> None:
    y, x = drawn(500, seed=5)
    y[y == 3] = 2
    y[:2] = 3
    fit = proportional_odds(y, x)
    shares = fit.probabilities(x).mean(axis=0)
    # At the maximum the expected share of the lowest grades is near the observed one.
    assert shares == pytest.approx(np.bincount(y.astype(int)) / 500, abs=0.01)
