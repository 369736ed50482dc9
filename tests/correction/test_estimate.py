"""The paired t test of two systems: as published and as SciPy has it, exact far out, silent where nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from karat.correction.estimate import Difference, Estimate

#: Darwin's maize: crossed less self-fertilised plants, in eighths of an inch.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])


def estimated(differences: np.ndarray) -> Estimate:
    """Two systems, the first of which gets nothing on any query."""
    return Estimate.of_values("plain", ("a", "b"), np.column_stack([np.zeros(len(differences)), differences]))


def paired(differences: np.ndarray, level: float = 0.95) -> Difference:
    return estimated(differences).difference(0, 1, level)


def test_darwins_maize_as_fisher_has_it() -> None:
    found = paired(MAIZE)
    assert found.difference / found.standard_error == pytest.approx(2.148, abs=5e-4)
    assert found.p == pytest.approx(0.0497, abs=5e-5)
    assert estimated(MAIZE).df[0, 1] == 14
    assert found.difference == pytest.approx(314 / 15)


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_every_figure_is_scipys(values: list[int]) -> None:
    column = np.array(values) / 10
    found, other = paired(column, level=0.9), ttest_1samp(column, 0.0)
    turned = estimated(column).difference(1, 0, 0.9)
    interval = other.confidence_interval(0.9)
    assert (found.p, turned.p) == pytest.approx((other.pvalue, other.pvalue), rel=1e-9)
    assert found.difference / found.standard_error == pytest.approx(other.statistic, rel=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)
    assert (turned.low, turned.high) == pytest.approx((-interval.high, -interval.low), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("t", [5.0, 1e3, 1e8])
def test_p_values_far_out_are_exact(t: float) -> None:
    """With two degrees of freedom p = 1 - t / sqrt(2 + t^2), written so that nothing cancels."""
    shape = np.array([-1.0, 0.0, 1.0])  # sd 1, so a mean of t / sqrt(3) has this t
    root = np.sqrt(2 + t**2)
    assert paired(shape + t / np.sqrt(3)).p == pytest.approx(2 / (root * (root + t)), rel=1e-6)


def test_a_clear_difference_over_many_queries_is_not_rounded_to_zero() -> None:
    rng = np.random.default_rng(0)
    assert 0 < paired(rng.normal(1.0, 0.5, size=300)).p < 1e-100


def test_systems_that_score_alike_everywhere_have_p_1_and_no_interval() -> None:
    # 0.1 + 0.2 is not 0.3 in a computer: that is no difference between two systems.
    for same in (0.0, 0.1 + 0.2 - 0.3):
        found = paired(np.full(20, same))
        assert found.p == 1
        assert found.difference == pytest.approx(0, abs=1e-15)
        assert np.isnan([found.low, found.high]).all()


def test_the_same_difference_on_every_query_has_no_interval_and_the_p_of_its_signs() -> None:
    first = np.array([0.2, 0.1, 0.0, 0.6])
    values = np.column_stack([first, [0.3, 0.2, 0.1, 0.7]])
    found = Estimate.of_values("plain", ("a", "b"), values).difference(0, 1)
    assert found.difference == pytest.approx(0.1)
    assert np.isnan([found.low, found.high]).all()
    assert found.p == 2 / 2**4


@pytest.mark.parametrize("steps", [[0.3 - 0.2, 0.2 - 0.1, 0.1, 0.7 - 0.6], [0.1] * 3])
def test_the_same_difference_from_a_system_without_spread_is_no_proof(steps: list[float]) -> None:
    found = paired(np.array(steps))
    assert found.difference == pytest.approx(0.1)
    assert np.isnan([found.low, found.high]).all()


def test_a_single_query_cannot_tell() -> None:
    for value in (0.5, 0.0):
        found = paired(np.array([value]))
        assert np.isnan([found.p, found.low, found.high]).all()
        assert found.difference == value


@pytest.mark.parametrize("queries", [10, 50])
def test_95_percent_intervals_cover_95_percent(queries: int) -> None:
    rng = np.random.default_rng(queries)
    found = [paired(column) for column in rng.normal(0.02, 0.2, size=(queries, 20_000)).T]
    held = np.mean([one.low <= 0.02 <= one.high for one in found])
    assert 0.945 <= held <= 0.955
