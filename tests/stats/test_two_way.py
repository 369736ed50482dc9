"""Errors by query and judge: hand-worked, as statsmodels has them, right where judges differ and where they do not."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import stdtrit
from scipy.stats import ttest_ind

from karat.stats.cluster_robust import Variance, clustered_ols, combined, variance_of_difference, variance_of_means


def crossed(
    rng: np.random.Generator, judges: int, judge: float, query: float, *, queries: int = 40, labels: int = 18
) -> tuple[np.ndarray, ...]:
    """Rows of some of the judges in each query; judges, queries and rows vary by so much."""
    who = np.argsort(rng.random((queries, labels, judges)), axis=2)[:, :, 0].ravel()
    where = np.repeat(np.arange(queries), labels)
    y = rng.normal(0, judge, judges)[who] + rng.normal(0, query, queries)[where] + rng.normal(0, 0.7, len(who))
    return y, where, who


def test_by_hand_a_mean_of_two_judges_who_label_two_queries() -> None:
    """Labels 1, 3 of ann and 2, 6 of bob, mean 3. By query: sums of residuals -3 and 3, by judge -2 and 2.

    Each is 1 / 4 of a label's weight, and half the rows: blown up by 1 / (1 - 1/2). V_query = (9 + 9) / 16 * 2 = 2.25,
    V_judge = (4 + 4) / 16 * 2 = 1; by both (4 + 0 + 1 + 9) / 16 * 4/3 = 7/6. Judges would take 1/6 away: they may not.
    """
    values, query, judge = np.array([[1.0], [3], [2], [6]]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    mean, spread = variance_of_means(values, np.ones(4), query, judge)
    assert mean[0] == 3
    assert spread.variance[0] == pytest.approx(2.25)
    assert spread.df[0] == pytest.approx(1)


def test_the_parts_are_those_of_statsmodels_where_clusters_are_many() -> None:
    """statsmodels' two-way clustering (CGM) without its correction for few clusters is near ours with 100 of each."""
    rng = np.random.default_rng(1)
    y, query, judge = crossed(rng, 100, 0.4, 0.3, queries=120, labels=20)
    x = rng.normal(size=len(y)) + rng.normal(size=100)[judge]
    ours = clustered_ols(y, x[:, None], query, judge=judge)
    theirs = sm.OLS(y, sm.add_constant(x)).fit(
        cov_type="cluster", cov_kwds={"groups": np.column_stack([query, judge])}, use_t=True
    )
    assert ours.coefficients == pytest.approx(theirs.params)
    assert ours.errors == pytest.approx(theirs.bse, rel=0.03)


def test_a_mean_is_the_regression_on_nothing() -> None:
    y, query, judge = crossed(np.random.default_rng(2), 8, 0.4, 0.3)
    _, spread = variance_of_means(y[:, None], np.ones(len(y)), query, judge)
    fit = clustered_ols(y, np.zeros((len(y), 0)), query, judge=judge)
    assert np.sqrt(spread.variance[0]) == pytest.approx(fit.errors[0])
    assert spread.df[0] == pytest.approx(fit.df[0])


def test_people_who_gave_one_label_each_add_nothing_to_queries() -> None:
    y, query, _ = crossed(np.random.default_rng(3), 8, 0.4, 0.3)
    alone = variance_of_means(y[:, None], np.ones(len(y)), query, None)[1]
    each = variance_of_means(y[:, None], np.ones(len(y)), query, np.arange(len(y)))[1]
    assert each.variance[0] == pytest.approx(alone.variance[0])


def test_queries_of_one_judge_each_leave_the_judges_alone() -> None:
    """Queries lie within judges: what judges are is all there is, and by hand it is the t test of their means."""
    rng = np.random.default_rng(4)
    judge = np.repeat(np.arange(6), 20)
    y = rng.normal(size=6)[judge] + rng.normal(size=120)
    mean, spread = variance_of_means(y[:, None], np.ones(120), np.arange(120) // 4, judge)
    means = y.reshape(6, 20).mean(axis=1)
    assert mean[0] == pytest.approx(means.mean())
    assert spread.variance[0] == pytest.approx(means.var(ddof=1) / 6, rel=0.02)
    assert spread.df[0] == pytest.approx(5, abs=0.3)


def test_a_difference_of_independent_rows_is_the_two_sample_t_test() -> None:
    rng = np.random.default_rng(5)
    y, first, rows = rng.normal(size=30), np.arange(30) < 15, np.arange(30)
    gap, spread = variance_of_difference(y, first, np.ones(30), rows, rows)
    theirs = ttest_ind(y[first], y[~first])
    assert gap / np.sqrt(spread.variance[0]) == pytest.approx(theirs.statistic)
    assert spread.df[0] == pytest.approx(28)


def test_one_judge_on_a_side_tells_nothing_and_rows_of_nobody_are_no_judge() -> None:
    y, query, judge = crossed(np.random.default_rng(6), 6, 0.4, 0.3)
    first = judge == 0
    assert np.isnan(variance_of_difference(y, first, np.ones(len(y)), query, judge)[1].variance[0])
    # Gold on one side: degrees of freedom are those of the other side's six judges, not of as many as gold has labels.
    is_gold = np.arange(len(y)) % 2 == 0
    spread = variance_of_difference(y, is_gold, np.ones(len(y)), query, np.where(is_gold, -1, judge))[1]
    assert spread.df[0] < 12


def test_degrees_of_freedom_are_those_of_the_part_that_matters() -> None:
    one, few = np.array([1.0]), np.array([4.0])
    many = np.array([59.0])
    only_queries = combined(Variance(one, many), Variance(0.01 * one, few), 0.01 * one)
    only_judges = combined(Variance(0.01 * one, many), Variance(one, few), 0.01 * one)
    assert only_queries.df[0] == pytest.approx(59, rel=0.01)
    assert only_judges.df[0] == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize("judges", [5, 10, 20])
@pytest.mark.parametrize(("judge", "query"), [(0.4, 0.15), (0.08, 0.4)])
def test_intervals_hold_the_mean_where_judges_vary_and_where_queries_do(
    judges: int, judge: float, query: float
) -> None:
    """Cameron et al. take t with the fewer clusters less 1, which is too wide where five judges are alike."""
    rng = np.random.default_rng([7, judges])
    held, careful, studies = 0, 0, 400
    for _ in range(studies):
        y, where, who = crossed(rng, judges, judge, query)
        mean, spread = variance_of_means(y[:, None], np.ones(len(y)), where, who)
        error = np.sqrt(spread.variance[0])
        held += abs(mean[0]) <= stdtrit(spread.df[0], 0.975) * error
        careful += abs(mean[0]) <= stdtrit(judges - 1, 0.975) * error
    # Three standard errors of a share of 400 studies.
    assert 0.95 - 0.033 <= held / studies <= 0.95 + 0.033
    if (judges, judge) == (5, 0.08):
        assert careful / studies > 0.97
