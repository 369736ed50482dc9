"""Prediction-powered means: the published kind of example, any predictions, and the gain of good ones."""

from __future__ import annotations

import numpy as np
import pytest

from karat.errors import BadInput, Undefined
from karat.stats.prediction import best_weight, powered_mean

Y = [0, 1, 1, 0, 1, 0, 0, 1, 1, 0]
F = [0.1, 0.8, 0.6, 0.3, 0.9, 0.2, 0.4, 0.7, 0.5, 0.1]
U = [0.2, 0.9, 0.4, 0.6, 0.1, 0.8, 0.3, 0.7, 0.5, 0.2, 0.1, 0.9, 0.6, 0.4, 0.3, 0.8, 0.2, 0.5, 0.7, 0.1]


def test_the_example_with_predictions_in_full() -> None:
    found = powered_mean(Y, F, U, weight=1, level=0.9)
    assert found.value == pytest.approx(0.505)
    assert (found.low, found.high) == pytest.approx((0.324787, 0.685213), abs=1e-6)


def test_without_predictions_it_is_the_mean_of_what_is_true() -> None:
    found = powered_mean(Y, F, U, weight=0)
    assert found.value == 0.5
    assert found.error == pytest.approx(np.sqrt(0.25 / 10))


def test_the_weight_by_hand() -> None:
    y, f, u = np.array([0.0, 1, 0, 1]), np.array([0.0, 1, 1, 0]), np.array([0.0, 1, 0, 1])
    assert best_weight(y, f, u) == 0  # no relation
    # Perfect predictions: covariance and variance are both 1/4, as many others as true values: 1 / (1 + 1).
    assert best_weight(y, y, u) == pytest.approx(0.5)
    assert best_weight(y, 1 - y, u) == 0  # worse than nothing is not trusted
    assert best_weight(y, np.full(4, 0.3), np.full(4, 0.3)) == 0


def study(rng: np.random.Generator, kind: str, n: int = 60, others: int = 1000) -> tuple[np.ndarray, ...]:
    truth = (rng.random(n + others) < 0.3).astype(float)
    noise = rng.random(n + others)
    predicted = {
        "good": lambda: np.where(noise < 0.95, truth, 1 - truth),
        "lenient": lambda: np.where(noise < 0.4, 1.0, truth),
        "useless": lambda: noise,
    }[kind]()
    return truth[:n], predicted[:n], predicted[n:]


@pytest.mark.parametrize("kind", ["good", "lenient", "useless"])
@pytest.mark.parametrize("weight", [1.0, None])
def test_95_percent_intervals_cover_whatever_the_predictions(kind: str, weight: float | None) -> None:
    rng = np.random.default_rng(5)
    found = [powered_mean(*study(rng, kind), weight=weight) for _ in range(3000)]
    held = np.mean([f.low <= 0.3 <= f.high for f in found])
    # Sixty true values, of which three or so are foretold wrongly: the normal distribution is a little too sure.
    assert 0.925 <= held <= 0.965
    assert np.mean([f.value for f in found]) == pytest.approx(0.3, abs=0.005)


def test_good_predictions_narrow_the_interval_and_useless_ones_do_not_widen_it() -> None:
    rng = np.random.default_rng(6)
    for kind, most in [("good", 0.65), ("useless", 1.02)]:
        ratios = []
        for _ in range(300):
            y, f, u = study(rng, kind)
            ratios.append(powered_mean(y, f, u).error / powered_mean(y, f, u, weight=0).error)
        assert np.mean(ratios) < most


def test_what_cannot_be_told_is_said() -> None:
    with pytest.raises(Undefined, match="fewer than two"):
        powered_mean([1], [1], [1, 0])
    with pytest.raises(BadInput, match="one for each of 2 true values, found 1"):
        powered_mean([1, 0], [1], [1, 0])
    with pytest.raises(BadInput, match="missing"):
        powered_mean([1, np.nan], [1, 1], [1, 0])
    alike = powered_mean([1, 1], [1, 1], [1, 1])
    assert np.isnan([alike.low, alike.high]).all()
