"""The paired t test: as published and as SciPy has it, right far out, and silent where the data cannot tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from karat.stats.paired import paired_t

#: Darwin's maize: crossed less self-fertilised plants, in eighths of an inch.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])


def test_darwins_maize_as_fisher_has_it() -> None:
    found = paired_t(MAIZE[:, None])
    assert found.t[0] == pytest.approx(2.148, abs=5e-4)
    assert found.p[0] == pytest.approx(0.0497, abs=5e-5)
    assert found.df[0] == 14
    assert found.difference[0] == pytest.approx(314 / 15)


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_every_figure_is_scipys(values: list[int]) -> None:
    column = np.array(values) / 10
    found, other = paired_t(np.column_stack([column, -column]), level=0.9), ttest_1samp(column, 0.0)
    interval = other.confidence_interval(0.9)
    assert found.p == pytest.approx([other.pvalue] * 2, rel=1e-9)
    assert found.t[0] == pytest.approx(other.statistic, rel=1e-9)
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)
    assert (found.low[1], found.high[1]) == pytest.approx((-interval.high, -interval.low), rel=1e-9, abs=1e-12)
    assert found.effect[0] == pytest.approx(column.mean() / column.std(ddof=1), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("t", [5.0, 1e3, 1e8])
def test_p_values_far_out_are_exact(t: float) -> None:
    """With two degrees of freedom p = 1 - t / sqrt(2 + t^2), written so that nothing cancels."""
    a = np.sqrt(3) * 1.0
    shape = np.array([-1.0, 0.0, 1.0])  # sd 1, so a mean of t / sqrt(3) has this t
    found = paired_t((shape + t / a)[:, None])
    root = np.sqrt(2 + t**2)
    assert found.p[0] == pytest.approx(2 / (root * (root + t)), rel=1e-6)


def test_a_clear_difference_over_many_queries_is_not_rounded_to_zero() -> None:
    rng = np.random.default_rng(0)
    p = paired_t(rng.normal(1.0, 0.5, size=(300, 1))).p[0]
    assert 0 < p < 1e-100


def test_systems_that_score_alike_everywhere_have_p_1_and_no_interval() -> None:
    # 0.1 + 0.2 is not 0.3 in a computer: that is no difference between two systems.
    found = paired_t(np.array([[0.0, 0.1 + 0.2 - 0.3]] * 20))
    assert found.p.tolist() == [1, 1]
    assert found.difference.tolist() == [0, 0]
    assert np.isnan([found.low, found.high, found.error, found.effect]).all()


def test_the_same_difference_on_every_query_is_no_proof() -> None:
    steps = np.array([0.3 - 0.2, 0.2 - 0.1, 0.1, 0.7 - 0.6])
    found = paired_t(steps[:, None])
    assert found.difference[0] == pytest.approx(0.1)
    assert np.isnan([found.p, found.low, found.high, found.error, found.t]).all()


@pytest.mark.parametrize("rows", [0, 1])
def test_fewer_than_two_queries_cannot_tell(rows: int) -> None:
    found = paired_t(np.full((rows, 1), 0.5))
    assert np.isnan([found.p, found.low, found.high, found.df]).all()
    assert found.n.tolist() == [rows]
    assert np.isnan(found.difference[0]) == (rows == 0)
    assert np.isnan(paired_t(np.zeros((rows, 1))).p[0])


def test_a_query_without_a_value_is_not_counted_in_that_column_only() -> None:
    values = np.random.default_rng(1).normal(size=(12, 2))
    values[[2, 5], 0] = np.nan
    found = paired_t(values)
    alone = paired_t(values[~np.isnan(values[:, 0]), :1])
    assert found.n.tolist() == [10, 12]
    assert (found.p[0], found.low[0]) == pytest.approx((alone.p[0], alone.low[0]))


@pytest.mark.parametrize("queries", [10, 50])
def test_95_percent_intervals_cover_95_percent(queries: int) -> None:
    rng = np.random.default_rng(queries)
    found = paired_t(rng.normal(0.02, 0.2, size=(queries, 20_000)))
    held = ((found.low <= 0.02) & (found.high >= 0.02)).mean()
    assert 0.945 <= held <= 0.955
