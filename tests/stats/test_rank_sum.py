"""The ordinal test: Brunner and Munzel's where rows are independent, honest where they come in clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import brunnermunzel, mannwhitneyu

from karat.stats.hypothesis_tests import ordinal_test

GRADES = st.lists(st.integers(0, 4), min_size=2, max_size=60)


def test_pain_scores_give_the_published_figures() -> None:
    """Brunner and Munzel 2000, the two treatments after surgery: W = 3.1375, df = 17.683, p = 0.0057862."""
    x = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1]
    y = [3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4]
    test = ordinal_test(y, x)
    assert test.t == pytest.approx(3.1375, abs=5e-5)
    assert test.df == pytest.approx(17.683, abs=5e-4)
    assert test.p == pytest.approx(0.0057862, abs=5e-8)
    assert test.effect == pytest.approx(0.788961)
    assert (test.low, test.high) == pytest.approx((0.5952169, 0.9827052))


@given(GRADES, GRADES)
def test_without_clusters_it_is_scipys(x: list[int], y: list[int]) -> None:
    test = ordinal_test(x, y)
    assert test.effect == pytest.approx(mannwhitneyu(x, y).statistic / (len(x) * len(y)))
    assume(max(x) > min(y) and max(y) > min(x) and (len(set(x)) > 1 or len(set(y)) > 1))
    theirs = brunnermunzel(x, y)
    assert test.t == pytest.approx(-theirs.statistic)
    assert test.p == pytest.approx(theirs.pvalue)


@given(GRADES, GRADES)
def test_swapping_the_samples_turns_the_effect_around(x: list[int], y: list[int]) -> None:
    there, back = ordinal_test(x, y), ordinal_test(y, x)
    assert there.effect + back.effect == pytest.approx(1)
    assert there.p == pytest.approx(back.p, nan_ok=True)


@given(GRADES, GRADES)
def test_only_the_order_counts(x: list[int], y: list[int]) -> None:
    stretched = ordinal_test(np.exp(x), np.exp(y))
    assert stretched.p == pytest.approx(ordinal_test(x, y).p, nan_ok=True)


def test_clusters_of_one_are_nearly_the_same_as_none() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 5, 400), np.minimum(rng.integers(0, 6, 500), 4)
    plain, singles = ordinal_test(x, y), ordinal_test(x, y, np.arange(400), 400 + np.arange(500))
    assert singles.effect == plain.effect
    assert singles.t == pytest.approx(plain.t, rel=0.005)
    assert singles.p == pytest.approx(plain.p, rel=0.05)


def _rejects(rng: np.random.Generator, with_clusters: bool) -> bool:
    """Two groups label the documents of 40 queries; queries differ in how good their documents are."""
    query = np.repeat(np.arange(40), 10)
    kind = rng.random(400) < np.where(query % 2, 0.8, 0.2)
    grade = np.clip(np.round(2 + rng.normal(size=40)[query] + rng.normal(size=400)), 0, 4)
    clusters = (query[kind], query[~kind]) if with_clusters else (None, None)
    return bool(ordinal_test(grade[kind], grade[~kind], *clusters).p < 0.05)


def test_clustered_data_gives_false_alarms_only_to_the_test_that_ignores_clusters() -> None:
    rng = np.random.default_rng(4)
    honest = np.mean([_rejects(rng, True) for _ in range(500)])
    naive = np.mean([_rejects(rng, False) for _ in range(500)])
    assert 0.02 <= honest <= 0.08
    assert naive > 0.15


def test_what_cannot_be_told_is_nan() -> None:
    assert np.isnan(ordinal_test([], [1, 2]).effect)
    apart = ordinal_test([3, 4, 3], [0, 1, 1])
    assert apart.effect == 1
    assert np.isnan([apart.p, apart.low, apart.high]).all()
    alike = ordinal_test([2, 2, 2], [2, 2], [0, 0, 1], [0, 1])
    assert alike.effect == 0.5
    assert np.isnan(alike.p)
    assert np.isnan(ordinal_test([1, 2, 3], [2, 3, 1], [0, 0, 0], [0, 0, 0]).p)
