"""AP correlation: by hand, as published for sets with and without ties, and as the mean over all orders of ties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from karat.stats.rank_correlation import tau_ap, tau_ap_b

#: The three sets of ircor 1.0, Urbano's package, with the values that its tests and README print.
SETS = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        (0.8519, 0.7454, 0.8333, 0.7321),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        (0.2504, 0.2692, 0.2880, 0.2970),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        (-0.6971, -0.5558, -0.668, -0.7047),
    ),
]


def rounded(values: list[float]) -> list[float]:
    """To one digit as R rounds, which the sets with ties were made by."""
    return [float(np.round(v, 1)) for v in values]


@pytest.mark.parametrize(("x", "y", "expected"), SETS)
def test_the_published_values_come_out(x: list[float], y: list[float], expected: tuple[float, ...]) -> None:
    plain, with_ties, both, both_with_ties = expected
    assert tau_ap(x, y) == pytest.approx(plain, abs=5e-5)
    assert tau_ap(x, rounded(y)) == pytest.approx(with_ties, abs=5e-5)
    assert tau_ap_b(x, y) == pytest.approx(both, abs=5e-5)
    assert tau_ap_b(rounded(x), rounded(y)) == pytest.approx(both_with_ties, abs=5e-5)
    assert tau_ap_b(rounded(y), rounded(x)) == pytest.approx(both_with_ties, abs=5e-5)


def test_the_readmes_example_of_ircor() -> None:
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    assert tau_ap(x, y) == pytest.approx(0.7491182, abs=5e-8)
    coarse = np.round(y * 5) / 5
    assert tau_ap(x, coarse) == pytest.approx(0.6074515, abs=5e-8)
    assert tau_ap_b(np.round(x * 5) / 5, coarse) == pytest.approx(0.6269841, abs=5e-8)


def test_the_formula_by_hand() -> None:
    """Estimated order b, a, c, d of the true order a, b, c, d: C = 0, 2, 3 of 1, 2, 3; 2/3 (0 + 1 + 1) - 1 = 1/3."""
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(1 / 3)
    assert tau_ap([4, 3, 2, 1], [4, 3, 1, 2]) == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)


def test_a_swap_at_the_top_costs_more_than_one_at_the_bottom() -> None:
    truth = [4, 3, 2, 1]
    assert tau_ap(truth, [3, 4, 2, 1]) < tau_ap(truth, [4, 3, 1, 2]) < tau_ap(truth, truth) == 1
    assert tau_ap(truth, [1, 2, 3, 4]) == pytest.approx(-1)


def test_tied_estimates_count_as_the_mean_over_their_orders() -> None:
    truth, levels = np.array([5.0, 1, 4, 2, 3, 0]), np.array([2.0, 1, 1, 2, 1, 0])
    values = []
    for order in permutations(range(6)):
        jitter = np.array(order) / 100
        values.append(tau_ap(truth, levels + jitter))
    assert tau_ap(truth, levels) == pytest.approx(np.mean(values), abs=1e-12)


def test_what_is_undefined_is_said_to_be() -> None:
    assert np.isnan(tau_ap([1], [1]))
    assert np.isnan(tau_ap_b([1, 2, 3], [1, 1, 1]))
    assert np.isnan(tau_ap([1, np.nan], [1, 2]))
