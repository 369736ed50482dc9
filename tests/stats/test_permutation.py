"""Sign-flip tests: exact where they say so, valid everywhere, and sure of a family of tests as a whole."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from karat.errors import BadInput
from karat.stats.multiple_testing import holm
from karat.stats.permutation_tests import all_pairs, max_t, sign_flip
from simulated import studies

MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])


def by_force(values: np.ndarray) -> float:
    signs = np.array(list(product([1, -1], repeat=len(values))))
    return float((np.abs(signs @ values) >= abs(values.sum()) - 1e-9).mean())


def test_darwins_maize_has_1726_of_32768() -> None:
    assert sign_flip(MAIZE).p == 1726 / 32768
    # As fractions of a metre they are in no steps that a computer could see, and the answer is the same.
    irrational = MAIZE * np.pi / 7 + 1e-13 * np.arange(15)
    assert sign_flip(irrational).p == 1726 / 32768
    assert sign_flip(MAIZE).exact


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
@settings(max_examples=len(studies(24, 180)))
def test_differences_in_steps_are_as_going_through_all_signs(values: list[int]) -> None:
    tenths = np.array(values) / 10
    assert sign_flip(tenths).p == pytest.approx(by_force(tenths), rel=1e-12)


@given(st.lists(st.floats(-1, 1).filter(lambda v: abs(v) > 1e-3), min_size=1, max_size=9))
@settings(max_examples=len(studies(24, 180)))
def test_any_differences_are_as_going_through_all_signs(values: list[float]) -> None:
    assert sign_flip(values).p == pytest.approx(by_force(np.array(values)), rel=1e-12)


def test_many_differences_in_steps_are_exact_and_near_the_t_test() -> None:
    values = np.random.default_rng(0).integers(-8, 10, 400) / 10
    found = sign_flip(values)
    assert found.exact
    assert found.p == pytest.approx(float(ttest_1samp(values, 0).pvalue), rel=0.1)
    assert sign_flip(values, seed=1) == sign_flip(values, seed=2)


def test_random_signs_count_the_observed_ones_and_agree_with_the_t_test() -> None:
    values = np.random.default_rng(4).normal(0.1, 1, 300)
    found = sign_flip(values, draws=20_000, seed=1)
    assert not found.exact
    assert found.draws == 20_000
    assert found.p == pytest.approx(float(ttest_1samp(values, 0).pvalue), abs=0.012)
    far = sign_flip(values + 3, draws=999, seed=1)
    assert far.p == 1 / 1000
    assert sign_flip(values, seed=3) == sign_flip(values, seed=3)


def test_no_difference_at_all_has_p_1_and_no_queries_none() -> None:
    assert sign_flip([0.0, 0.0, 0.1 + 0.2 - 0.3]).p == 1
    assert np.isnan(sign_flip([]).p)
    assert sign_flip([0.3]).p == 1
    assert sign_flip([0.1] * 10).p == 2 / 1024
    with pytest.raises(BadInput, match="missing or infinite"):
        sign_flip([0.1, np.nan])


def test_false_alarms_with_few_and_skewed_queries_stay_below_5_percent() -> None:
    """Six to twelve differences, each as likely up as down, however unlike each other in size."""
    rng = np.random.default_rng(5)
    for queries in (6, 12):
        p = np.array(
            [sign_flip(rng.lognormal(sigma=2, size=queries) * rng.choice([-1, 1], queries)).p for _ in range(2000)]
        )
        # Of 64 signs only 2/64 is below .05; of 4,096 nearly all levels can be had.
        assert (p <= 0.05).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 2000)


def test_one_pair_is_the_plain_sign_flip_test() -> None:
    values = np.column_stack([MAIZE, np.zeros(15)])
    exact = max_t(values, draws=2**14)
    assert exact.exact
    assert exact.p[0] == exact.adjusted[0] == 1726 / 32768
    assert exact.t[0] == pytest.approx(2.148, abs=5e-4)
    drawn = max_t(values, draws=10_000, seed=1)
    assert not drawn.exact
    assert drawn.p[0] == pytest.approx(1726 / 32768, abs=0.007)


def test_adjusted_values_are_those_of_westfall_and_youngs_algorithm_done_slowly() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal([0, 0.2, 0.9, 1.0], 1, size=(9, 4)).round(1)
    pairs = all_pairs(4)
    apart = values[:, pairs[:, 0]] - values[:, pairs[:, 1]]

    def t_of(signs: np.ndarray) -> np.ndarray:
        # Differences that are alike under some signs have an infinite t.
        d = apart * signs[:, None]
        with np.errstate(divide="ignore"):
            return np.abs(d.mean(axis=0)) / (d.std(axis=0, ddof=1) / 3)

    observed = t_of(np.ones(9))
    order = np.argsort(-observed)
    draws = np.array([t_of(np.array(signs)) for signs in product([1, -1], repeat=9)])
    slow, before = np.empty(6), 0.0
    for place, pair in enumerate(order):
        highest = draws[:, order[place:]].max(axis=1)
        before = max(before, float((highest >= observed[pair] * (1 - 1e-9)).mean()))
        slow[pair] = before
    assert max_t(values).adjusted == pytest.approx(slow)
    assert max_t(values).p == pytest.approx((draws >= observed * (1 - 1e-9)).mean(axis=0))
    assert np.abs(max_t(values).t) == pytest.approx(observed)
    assert max_t(values).t == pytest.approx(ttest_1samp(apart, 0.0).statistic)


@pytest.mark.parametrize("systems", [3, 6])
def test_any_false_alarm_among_all_pairs_is_as_rare_as_promised(systems: int) -> None:
    """Systems that share the hardness of queries; unequal spread; no true difference."""
    rng, wrong, studies = np.random.default_rng(systems), 0, 1000
    for seed in range(studies):
        shared = rng.normal(0, 1, (30, 1))
        values = shared + rng.normal(0, np.linspace(0.2, 1, systems), (30, systems))
        wrong += max_t(values, draws=499, seed=seed).adjusted.min() <= 0.05
    assert 0.03 <= wrong / studies <= 0.066


def test_false_alarms_stay_rare_when_other_systems_are_far_off() -> None:
    """Two systems are far better, three are alike: the alarms that count are among the three."""
    rng, wrong, missed, studies = np.random.default_rng(9), 0, 0, 1000
    truth = np.array([0, 0, 0, 1.0, 2.0])
    alike = truth[all_pairs(5)[:, 0]] == truth[all_pairs(5)[:, 1]]
    for seed in range(studies):
        values = truth + rng.normal(0, 1, (40, 1)) + rng.normal(0, 0.4, (40, 5))
        adjusted = max_t(values, draws=499, seed=seed).adjusted
        wrong += adjusted[alike].min() <= 0.05
        missed += adjusted[~alike].max() > 0.05
    # Stepping down gives the three their full 5 %; a single step would give them about 2 %.
    assert 0.03 <= wrong / studies <= 0.066
    assert missed == 0


def test_systems_that_go_together_are_told_apart_better_than_by_holm() -> None:
    rng, more, fewer = np.random.default_rng(1), 0, 0
    for seed in range(200):
        values = rng.normal([0.25] + [0.0] * 9, 0.5, (40, 10))
        against_the_first = np.array([[other, 0] for other in range(1, 10)])
        found = max_t(values, against_the_first, draws=999, seed=seed)
        more += int((found.adjusted <= 0.05).sum())
        fewer += int((holm(found.p) <= 0.05).sum())
    assert more > 1.05 * fewer


def test_systems_that_are_copies_have_p_1_and_harm_no_one() -> None:
    values = np.random.default_rng(0).random((25, 2))
    values = np.column_stack([values, values[:, 0]])
    found = max_t(values, seed=1)
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.adjusted[1] == found.p[1] == 1
    assert np.isnan(found.t[1])
    assert found.p[0] == found.p[2]


def test_odd_input_is_answered() -> None:
    with pytest.raises(BadInput, match="leave out queries"):
        max_t(np.array([[0.1, np.nan]]))
    with pytest.raises(BadInput, match="1 draw or more"):
        max_t(np.zeros((3, 2)), draws=0)
    assert np.isnan(max_t(np.empty((0, 2))).adjusted).all()
    assert max_t(np.ones((5, 1))).adjusted.tolist() == []
    assert max_t(np.array([[0.1, 0.4]])).adjusted.tolist() == [1]


def test_the_order_of_systems_and_large_values_change_nothing() -> None:
    values = np.random.default_rng(3).random((30, 4))
    one = max_t(values, seed=2).adjusted
    other = max_t(values[:, ::-1], seed=2).adjusted
    assert one == pytest.approx(other[::-1])
    assert max_t(values + 1e6, seed=2).adjusted == pytest.approx(one)
