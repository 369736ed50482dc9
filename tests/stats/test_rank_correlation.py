"""Rank correlations equal scipy's, weights are repeated rows, and intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.stats import rank_correlation as ranks
from karat.stats.rank_correlation import kendall, rank_correlations, spearman
from simulated import about, studies

columns = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=15)


@given(columns)
def test_a_weight_is_a_repeated_row_and_ties_are_scipys(rows: list[tuple[int, int, int]]) -> None:
    x, y, times = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    again = np.repeat(np.arange(len(x)), times.astype(int))
    if len(np.unique(x[again])) < 2 or len(np.unique(y[again])) < 2:
        assert np.isnan(spearman(x, y, times[None])[0])
        assert np.isnan(kendall(x, y, times[None])[0])
        return
    assert spearman(x, y, times[None])[0] == pytest.approx(stats.spearmanr(x[again], y[again]).statistic)
    assert kendall(x, y, times[None])[0] == pytest.approx(stats.kendalltau(x[again], y[again]).statistic)


def test_many_rows_are_compared_by_sorting_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, times = rng.integers(0, 9, 60), rng.integers(0, 3, (4, 60))
    y = x + rng.integers(0, 9, 60)
    at_once = kendall(x, y, times)
    monkeypatch.setattr(ranks, "MOST_AT_ONCE", 10)
    assert kendall(x, y, times) == pytest.approx(at_once)


def test_p_is_scipys() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 30))
    assert rank_correlations(x[:, None], y, draws=0).p[0] == pytest.approx(stats.spearmanr(x, y).pvalue)


def test_too_few_rows_have_no_interval_and_a_constant_no_correlation() -> None:
    found = rank_correlations(np.arange(4.0)[:, None], np.array([1.0, 2, 4, 3]))
    assert np.isnan(found.spearman_ends).all()
    found = rank_correlations(np.column_stack([np.ones(9), np.arange(9)]), np.arange(9.0))
    assert np.isnan([found.spearman[0], found.kendall[0], found.spearman_ends[0, 0], found.p[0]]).all()
    assert found.spearman[1] == pytest.approx(1)


def test_a_gap_leaves_its_row_out_of_its_column_only() -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    x[3, 0] = np.nan
    found = rank_correlations(x, y, draws=0)
    rest = np.arange(20) != 3
    assert found.n.tolist() == [19, 20]
    assert found.spearman[0] == pytest.approx(stats.spearmanr(x[rest, 0], y[rest]).statistic)
    assert found.kendall[0] == pytest.approx(stats.kendalltau(x[rest, 0], y[rest]).statistic)
    assert found.spearman[1] == pytest.approx(stats.spearmanr(x[:, 1], y).statistic)


@pytest.mark.parametrize("rho", [0.0, 0.5])
@pytest.mark.evidence
def test_the_intervals_cover_the_true_correlation(rho: float) -> None:
    # For normal columns: rho_S = 6/pi asin(rho/2), tau = 2/pi asin(rho).
    truth = np.array([6 / np.pi * np.arcsin(rho / 2), 2 / np.pi * np.arcsin(rho)])
    rng = np.random.default_rng(5)
    hits, seeds = np.zeros(2), studies(40, 1000)
    for seed in seeds:
        x = rng.normal(size=60)
        y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=60)
        found = rank_correlations(x[:, None], y, draws=300, seed=seed)
        ends = np.column_stack([found.spearman_ends, found.kendall_ends])
        hits += (ends[0] <= truth) & (truth <= ends[1])
    assert list(hits / len(seeds)) == [about(0.95, len(seeds), off=0.01)] * 2


@pytest.mark.parametrize("users", [None, 25])
@pytest.mark.evidence
def test_where_nothing_is_there_something_is_found_in_about_five_studies_of_a_hundred(users: int | None) -> None:
    """Ten columns that say nearly the same: Holm would find next to nothing ever, plain p values far too much."""
    rng = np.random.default_rng(8)
    alarms, seeds = 0, studies(30, 600)
    for seed in seeds:
        who = None if users is None else np.arange(75) % users
        effect = np.zeros(75) if who is None else rng.normal(size=users)[who]
        habit = np.zeros(75) if who is None else rng.normal(size=users)[who]
        x = (rng.normal(size=75) + habit)[:, None] + 0.7 * rng.normal(size=(75, 10))
        found = rank_correlations(x, rng.normal(size=75) + effect, who, draws=100, seed=seed)
        alarms += (found.p_adjusted < 0.05).any()
    assert alarms / len(seeds) == about(0.05, len(seeds), off=0.01)
    assert alarms > 0


def test_clusters_are_drawn_whole() -> None:
    """Four copies of every row tell no more than one: the interval must not become narrower, nor p smaller."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=25)
    y = 0.4 * x + rng.normal(size=25)
    once = rank_correlations(x[:, None], y)
    copies = rank_correlations(np.tile(x, 4)[:, None], np.tile(y, 4), np.tile(np.arange(25), 4))
    assert np.ptp(copies.spearman_ends) == pytest.approx(np.ptp(once.spearman_ends), rel=0.05)
    assert copies.p[0] > 0.2 * once.p[0]


def test_values_of_either_side_that_differ_by_rounding_alone_are_tied() -> None:
    y = np.array([0.1 + 0.2, 0.3, 0.5, 0.7, 0.9, 1.0])
    exact = np.array([0.3, 0.3, 0.5, 0.7, 0.9, 1.0])
    x = np.array([2.0, 1.0, 3.0, 4.0, 6.0, 5.0])
    found = rank_correlations(x[:, None], y, draws=0)
    assert found.spearman[0] == pytest.approx(stats.spearmanr(x, exact).statistic)
    assert found.kendall[0] == pytest.approx(stats.kendalltau(x, exact).statistic)
