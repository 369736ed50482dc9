"""Tests on wins and losses: as scipy has them, by counting every pattern of signs, and the paper's verdicts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_ind
from statsmodels.stats.proportion import proportion_confint

from karat.errors import BadInput
from karat.stats.hypothesis_tests import binomial_p, flip_p, share_interval, welch_p


def zeros_and_ones(wins: int, n: int) -> np.ndarray:
    return np.r_[np.ones(wins), np.zeros(n - wins)]


def test_the_papers_two_comparisons_of_columns() -> None:
    """88 of 122 against 72 of 125 is significant at 0.05; 25 of 42 against 25 of 36 is not."""
    assert welch_p(88, 122, 72, 125) == pytest.approx(0.017, abs=0.0005)
    assert welch_p(25, 42, 25, 36) > 0.05


@pytest.mark.parametrize("counts", [(88, 122, 72, 125), (25, 42, 25, 36), (1, 2, 5, 9), (14, 18, 146, 229)])
def test_welchs_test_is_scipys(counts: tuple[int, int, int, int]) -> None:
    wins, n, other_wins, other_n = counts
    expected = ttest_ind(zeros_and_ones(wins, n), zeros_and_ones(other_wins, other_n), equal_var=False).pvalue
    assert welch_p(*counts) == pytest.approx(expected, rel=1e-10)


def test_without_spread_or_with_one_case_there_is_no_test() -> None:
    assert np.isnan(welch_p(3, 3, 5, 5))
    assert np.isnan(welch_p(1, 1, 2, 5))
    assert np.isnan(binomial_p(0, 0))
    assert np.isnan(flip_p([0, 0]))
    with pytest.raises(BadInput):
        binomial_p(-1, 2)
    with pytest.raises(BadInput):
        flip_p([0.5])


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_binomial_is_scipys_and_that_of_clusters_of_one(wins: int, losses: int) -> None:
    if wins + losses:
        expected = binomtest(wins, wins + losses).pvalue
        assert binomial_p(wins, losses) == pytest.approx(expected, rel=1e-9)
        assert flip_p([1] * wins + [-1] * losses) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_flipping_counts_every_pattern_of_signs(sums: list[int]) -> None:
    if not any(sums):
        return
    every = [
        abs(sum(s * sign for s, sign in zip(sums, signs, strict=True))) for signs in product((1, -1), repeat=len(sums))
    ]
    assert flip_p(sums) == pytest.approx(np.mean(np.array(every) >= abs(sum(sums))), abs=1e-12)


def test_darwins_maize_has_the_published_p_value() -> None:
    maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert flip_p(maize) == pytest.approx(1726 / 32768, abs=1e-12)


@pytest.mark.parametrize(("wins", "n"), [(50, 78), (0, 12), (12, 12), (1, 3)])
def test_the_interval_of_a_share_is_wilsons(wins: int, n: int) -> None:
    assert share_interval(wins, n) == pytest.approx(proportion_confint(wins, n, method="wilson"), abs=1e-9)
    low, high = share_interval(wins, n)
    assert low < high
    assert np.isnan(share_interval(0, 0)).all()
