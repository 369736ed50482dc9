"""Drawing with known probabilities: they sum up, no more than 1, and are what happens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import BadInput
from karat.stats.sampling import draw, inclusion_probabilities
from simulated import about, studies

SIZES = st.lists(st.floats(0, 100).filter(lambda v: v == 0 or v > 1e-6), min_size=1, max_size=60)


def test_a_large_item_is_drawn_for_sure_and_the_rest_goes_to_the_others() -> None:
    # By hand: in proportion, 8 of 12 would be 4/3; with 1 for it, the others share 1 in the proportion 1 : 1 : 2.
    assert inclusion_probabilities([1, 1, 2, 8], 2) == pytest.approx([0.25, 0.25, 0.5, 1])
    # With a floor of 0.3 two items stand on it, and 0.4 is left for the third.
    assert inclusion_probabilities([1, 1, 2, 8], 2, floor=0.3) == pytest.approx([0.3, 0.3, 0.4, 1])


@given(SIZES, st.floats(0.01, 1), st.floats(0, 0.9))
def test_probabilities_sum_to_n_and_rise_with_size(sizes: list[float], share: float, floor: float) -> None:
    size = np.array(sizes)
    n = share * (size > 0).sum()
    least = floor * n / len(size)
    pi = inclusion_probabilities(size, n, floor=least)
    assert (pi >= least).all()
    assert (pi <= 1).all()
    if (size > 0).any():
        reachable = (size > 0).sum() + least * (size == 0).sum()
        assert pi.sum() == pytest.approx(min(n, reachable), rel=1e-9, abs=1e-12)
    between = (pi > least * (1 + 1e-9)) & (pi < 1)
    ratio = pi[between] / size[between]
    assert ratio == pytest.approx(np.full(len(ratio), ratio.mean() if len(ratio) else 0.0), rel=1e-9)
    order = np.argsort(size, kind="stable")
    assert (np.diff(pi[order]) >= -1e-12).all()


def test_an_item_without_size_is_drawn_by_its_floor_only() -> None:
    assert inclusion_probabilities([0, 3, 1], 1.1, floor=[0.1, 0, 0]) == pytest.approx([0.1, 0.75, 0.25])
    assert inclusion_probabilities([0, 0], 1).tolist() == [0, 0]
    assert inclusion_probabilities([], 0).tolist() == []


def test_more_than_there_is_means_everything() -> None:
    assert inclusion_probabilities([1, 5, 0], 7).tolist() == [1, 1, 0]
    assert draw([1.0, 1, 0]).tolist() == [True, True, False]


def test_sizes_that_differ_by_orders_of_magnitude_keep_the_sum() -> None:
    size = np.concatenate([np.full(50, 1e-9), np.full(5, 1e9)])
    pi = inclusion_probabilities(size, 10)
    assert pi == pytest.approx([0.1] * 50 + [1.0] * 5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: inclusion_probabilities([1, np.nan], 1), "the sizes: expected numbers from 0, found nan"),
        (lambda: inclusion_probabilities([1, -2], 1), "found -2.0"),
        (lambda: inclusion_probabilities([1, 2], 1, floor=0.8), "a sum of 1.6; lower the floor or draw more"),
        (lambda: inclusion_probabilities([1, 2], 1, floor=1.5), "a probability from 0 to 1"),
        (lambda: inclusion_probabilities([1, 2], -1), "0 or more"),
        (lambda: draw([0.5, 1.2]), "numbers from 0 to 1, found 1.2"),
        (lambda: draw([0.5, np.nan]), "found nan"),
    ],
)
def test_what_cannot_be_drawn_is_said(call: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        call()  # type: ignore[operator]


@pytest.mark.evidence
def test_the_number_drawn_is_fixed_and_items_come_as_often_as_their_probability() -> None:
    pi = inclusion_probabilities([1, 2, 3, 4, 10, 1, 1, 40], 4, floor=0.1)
    seeds = studies(5000, 20_000)
    drawn = np.array([draw(pi, seed=seed) for seed in seeds])
    assert (drawn.sum(axis=1) == 4).all()
    assert drawn[:, pi == 1].all()
    assert list(drawn.mean(axis=0)) == [about(p, len(seeds)) for p in pi]


@pytest.mark.evidence
def test_a_sum_that_is_no_whole_number_gives_the_one_below_or_above() -> None:
    seeds = studies(4000, 20_000)
    drawn = np.array([draw([0.5, 0.7, 0.2], seed=seed) for seed in seeds])
    assert set(drawn.sum(axis=1)) == {1, 2}
    assert list(drawn.mean(axis=0)) == [about(p, len(seeds)) for p in (0.5, 0.7, 0.2)]


@given(SIZES, st.integers(0, 60), st.integers(0, 5))
def test_the_number_drawn_is_the_number_asked_for(sizes: list[float], n: int, seed: int) -> None:
    wanted = min(n, int((np.array(sizes) > 0).sum()))
    assert draw(inclusion_probabilities(sizes, n), seed=seed).sum() == wanted


def test_rounding_over_many_items_costs_no_item() -> None:
    size = np.random.default_rng(0).random(200_000)
    pi = inclusion_probabilities(size, 1234)
    assert pi.sum() == pytest.approx(1234, rel=1e-12)
    assert {int(draw(pi, seed=seed).sum()) for seed in range(20)} == {1234}


@pytest.mark.evidence
def test_totals_divided_by_probabilities_are_right_on_average() -> None:
    """Horvitz and Thompson: values that go with size for some items and against it for others."""
    rng = np.random.default_rng(3)
    size, values = rng.gamma(1.0, size=50), rng.normal(1, 1, 50)
    pi = inclusion_probabilities(size, 12, floor=0.05)
    totals = np.array([(values / pi)[draw(pi, seed=seed)].sum() for seed in studies(5000, 20_000)])
    error = totals.std() / np.sqrt(len(totals))
    assert abs(totals.mean() - values.sum()) < 3 * error


def test_the_same_seed_draws_the_same_items() -> None:
    pi = np.full(100, 0.3)
    assert np.array_equal(draw(pi, seed=5), draw(pi, seed=5))
    assert not np.array_equal(draw(pi, seed=5), draw(pi, seed=6))
