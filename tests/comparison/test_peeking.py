"""Looking again and again: the interval so far, its first look, and how early a true difference is seen."""

from __future__ import annotations

import numpy as np
import pytest

from karat.comparison.interim import Look
from karat.correction.estimate import Difference, Estimate
from karat.errors import Undefined
from karat.stats.confidence_sequences import best_r, reaches


def peeked(differences: np.ndarray, planned: int = 100) -> Difference:
    """What is known after these queries, all of which the first system gets a quarter on."""
    values = 0.25 + np.column_stack([np.zeros(len(differences)), differences])
    return Look(planned=planned).at(Estimate.of_values("plain", ("a", "b"), values), 0, 1)


def test_a_look_is_at_the_mean_and_sd_so_far() -> None:
    values = np.random.default_rng(0).normal(1e4, 0.1, 60)
    for t in (20, 37, 60):
        so_far, found = values[:t], peeked(values[:t])
        reach = so_far.std(ddof=1) * float(reaches(t, best_r(100)))
        assert (found.low, found.high) == pytest.approx((so_far.mean() - reach, so_far.mean() + reach), rel=1e-9)
    with pytest.raises(Undefined, match="20 queries or more, and there are 19"):
        peeked(values[:19])


@pytest.mark.parametrize(
    "same",
    [
        0.0,
        0.125,
        0.1,
    ],
)
def test_values_that_do_not_vary_have_no_interval(same: float) -> None:
    found = peeked(np.full(50, same))
    assert np.isnan([found.low, found.high]).all()


def test_p_is_the_level_at_which_0_is_just_outside() -> None:
    values = np.random.default_rng(1).normal(0.3, 1.0, 80)
    p, r = peeked(values).p, best_r(100)
    reach = values.std(ddof=1) * float(reaches(80, r, alpha=p))
    assert 0 < p < 1
    assert abs(values.mean()) == pytest.approx(reach)


def test_a_true_difference_is_seen_early() -> None:
    """Half a standard deviation, planned for 100 queries: most studies stop before half of them."""
    rng = np.random.default_rng(3)
    stops = []
    for _ in range(300):
        values = rng.normal(0.5, 1.0, 200)
        looks = ((t, peeked(values[:t])) for t in range(20, 201))
        stops.append(next((t for t, found in looks if found.low > 0 or found.high < 0), 201))
    assert np.median(stops) < 50
    assert np.mean(np.array(stops) <= 100) > 0.95
