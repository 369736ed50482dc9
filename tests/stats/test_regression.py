"""Regression with clustered errors: statsmodels' figures, and plain words where the data cannot tell."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from karat.stats.cluster_robust import clustered_differences, clustered_ols


def clustered(seed: int, n: int = 120, clusters: int = 15, columns: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, clusters, n)
    x = rng.normal(size=(n, columns)) * np.array([1, 100, 0.01])[:columns] + np.array([0, 1000, 5])[:columns]
    x[:, 0] = x[:, 0] > 0
    y = 1 + x @ np.array([0.5, 0.01, 10])[:columns] + rng.normal(size=clusters)[cluster] + rng.normal(size=n)
    return y, x, cluster


@given(st.integers(0, 50))
def test_coefficients_errors_and_p_are_those_of_statsmodels(seed: int) -> None:
    """statsmodels with use_correction (its default) has CR1 times G/(G-1) (N-1)/(N-K); use_t takes G - 1."""
    y, x, cluster = clustered(seed)
    ours = clustered_ols(y, x, cluster)
    theirs = sm.OLS(y, sm.add_constant(x)).fit(cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True)
    assert ours.coefficients == pytest.approx(theirs.params, rel=1e-7)
    assert ours.errors == pytest.approx(theirs.bse, rel=1e-7)
    assert ours.p == pytest.approx(theirs.pvalues, rel=1e-6, abs=1e-12)
    assert np.column_stack(ours.intervals()) == pytest.approx(theirs.conf_int(), rel=1e-6)
    assert (ours.n, ours.clusters, ours.df[0]) == (120, len(set(cluster)), len(set(cluster)) - 1)


def test_with_the_intercept_alone_it_is_the_t_test_of_the_clusters_means() -> None:
    """Clusters of equal size: by hand, the mean and its error are those of the clusters' means."""
    rng = np.random.default_rng(1)
    y = (rng.normal(size=(10, 1)) + rng.normal(size=(10, 4))).ravel()
    fit = clustered_ols(y, np.zeros((40, 0)), np.repeat(np.arange(10), 4))
    means = y.reshape(10, 4).mean(axis=1)
    assert fit.coefficients[0] == pytest.approx(means.mean())
    assert fit.errors[0] == pytest.approx(means.std(ddof=1) / np.sqrt(10))


def test_columns_that_others_tell_are_named_and_the_rest_is_unharmed() -> None:
    y, x, cluster = clustered(3)
    wide = np.column_stack([x, x[:, 0] * 2 - x[:, 1], np.full(len(y), 7.0), 1 - x[:, 0]])
    fit = clustered_ols(y, wide, cluster, ["a", "b", "c", "sum", "constant", "not a"])
    assert fit.left_out == ("sum", "constant", "not a")
    assert np.isnan(fit.coefficients[4:]).all()
    assert fit.coefficients[:4] == pytest.approx(clustered_ols(y, x, cluster).coefficients)
    assert fit.errors[:4] == pytest.approx(clustered_ols(y, x, cluster).errors)


def test_one_cluster_or_a_perfect_fit_is_no_certainty() -> None:
    y, x, cluster = clustered(4)
    alone = clustered_ols(y, x, np.zeros(len(y)))
    assert np.isfinite(alone.coefficients).all()
    assert np.isnan(alone.errors).all()
    assert np.isnan(np.column_stack(alone.intervals())).all()
    perfect = clustered_ols(2 * x[:, 0] + 1, x, cluster)
    assert perfect.coefficients[:2] == pytest.approx([1, 2])
    assert np.isnan(perfect.p).all()


def test_a_column_of_one_cluster_has_no_error() -> None:
    """The scores of a cluster with its own column sum to nothing, which is not the same as no doubt."""
    y, _, cluster = clustered(5)
    fit = clustered_ols(y, (cluster == 2)[:, None], cluster)
    assert np.isnan(fit.errors[1])
    assert np.isfinite(fit.errors[0])


def test_no_rows_give_no_figures() -> None:
    fit = clustered_ols([], np.zeros((0, 2)), [])
    assert fit.n == fit.clusters == 0
    assert np.isnan(fit.coefficients).all()


def test_clustered_errors_hold_the_truth_in_about_95_percent() -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        cluster = np.repeat(np.arange(40), 5)
        x = rng.normal(size=40)[cluster] + rng.normal(size=200)
        y = 0.3 * x + rng.normal(size=40)[cluster] + rng.normal(size=200)
        low, high = clustered_ols(y, x[:, None], cluster).intervals()
        held += low[1] <= 0.3 <= high[1]
    assert 0.91 <= held / 400 <= 0.98


def by_cluster(
    values: np.ndarray, cluster: np.ndarray, inside: np.ndarray, stratum: np.ndarray | None = None
) -> tuple[np.ndarray, ...]:
    """Numbers and sums by cluster and stratum, inside of one slice and of all rows."""
    stratum = np.zeros(len(values), int) if stratum is None else stratum
    shape = (cluster.max() + 1, stratum.max() + 1)
    place, cells = cluster * shape[1] + stratum, shape[0] * shape[1]
    n_in, n_all = (np.bincount(place[rows], minlength=cells).reshape(shape) for rows in (inside, slice(None)))
    s_in, s_all = (np.bincount(place[rows], values[rows], cells).reshape(shape) for rows in (inside, slice(None)))
    return n_in[:, None], s_in[:, None], n_all, s_all


@given(st.integers(0, 30))
def test_a_difference_of_means_is_that_of_the_regression_and_its_error_a_little_wider(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cluster, inside = np.repeat(np.arange(50), 6), rng.random(300) < 0.4
    y = rng.normal(size=50)[cluster] + rng.normal(size=300) + inside * 0.3
    found = clustered_differences(*by_cluster(y, cluster, inside))
    fit = clustered_ols(y, inside[:, None], cluster)
    assert found.difference[0] == pytest.approx(fit.coefficients[1])
    assert found.inside[0] - found.outside[0] == pytest.approx(fit.coefficients[1])
    assert found.error[0] == pytest.approx(fit.errors[1], rel=0.03)
    assert found.clusters_in[0] == len(np.unique(cluster[inside]))
    assert found.df[0] <= fit.df[1]


@given(st.integers(0, 30))
def test_a_difference_within_strata_is_that_of_a_regression_with_a_column_for_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cluster, stratum = np.repeat(np.arange(60), 8), rng.integers(0, 4, 480)
    inside = rng.random(480) < 0.2 + 0.15 * stratum
    y = rng.normal(size=60)[cluster] * 0.5 + rng.normal(size=480) + inside * 0.3 - 0.6 * stratum
    found = clustered_differences(*by_cluster(y, cluster, inside, stratum))
    columns = np.column_stack([stratum == 1, stratum == 2, stratum == 3, inside])
    fit = clustered_ols(y, columns, cluster)
    assert found.difference[0] == pytest.approx(fit.coefficients[-1])
    assert found.error[0] == pytest.approx(fit.errors[-1], rel=0.04)


def test_a_stratum_on_one_side_only_says_nothing() -> None:
    """By hand: stratum 0 has means 3 and 1; stratum 1 has rows inside only."""
    y, inside = np.array([3.0, 3, 1, 1, 9]), np.array([True, True, False, False, True])
    found = clustered_differences(*by_cluster(y, np.arange(5), inside, np.array([0, 0, 0, 0, 1])))
    assert found.difference[0] == pytest.approx(2)
    assert found.inside[0] == pytest.approx(5)


def test_a_difference_of_clusters_of_one_is_welchs() -> None:
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(3)
    y, inside = rng.normal(size=60), np.arange(60) < 20
    found = clustered_differences(*by_cluster(y, np.arange(60), inside))
    theirs = ttest_ind(y[inside], y[~inside], equal_var=False)
    assert (found.p[0], found.df[0]) == pytest.approx((theirs.pvalue, theirs.df))
    interval = theirs.confidence_interval()
    assert found.reach[0] == pytest.approx((interval.high - interval.low) / 2)


def test_a_slice_without_variance_is_not_more_certain_than_usual() -> None:
    rng = np.random.default_rng(4)
    cluster, inside = np.repeat(np.arange(40), 10), np.tile(np.arange(10), 40) == 0
    y = np.where(inside, 0.0, (rng.random(400) < 0.1).astype(float))
    sums = by_cluster(y, cluster, inside)
    assert clustered_differences(*sums).p[0] < 1e-6
    careful = clustered_differences(*sums, (0.1 * 0.9, 0.0))
    assert careful.p[0] > 0.01
    assert careful.reach[0] > 0.09
