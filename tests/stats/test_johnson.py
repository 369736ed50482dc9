"""Johnson's interval of a skewed mean: moved towards the longer tail, and held as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.stats.cluster_robust import variance_of_means
from karat.stats.student_t import johnson_ends, third_moments
from simulated import about, studies


def ends(values: np.ndarray, cluster: np.ndarray) -> tuple[float, float]:
    weight, reach = np.ones(len(values)), np.array([stats.t.ppf(0.975, len(np.unique(cluster)) - 1)])
    mean, spread = variance_of_means(values[:, None], weight, cluster, None)
    third = third_moments(values[:, None], weight, cluster)
    low, high = johnson_ends(mean, np.sqrt(spread.variance), reach, third)
    return float(low[0]), float(high[0])


def test_the_interval_of_a_symmetrical_sample_is_students() -> None:
    values = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    expected = stats.t.interval(0.95, 4, loc=0, scale=stats.sem(values))
    assert ends(values, np.arange(5)) == pytest.approx(expected)


def test_the_interval_holds_the_mean_whatever_the_level() -> None:
    values = np.array([0.0, 0.0, 0.0, 0.0, 100.0])[:, None]
    mean, spread = variance_of_means(values, np.ones(5), np.arange(5), None)
    third = third_moments(values, np.ones(5), np.arange(5))
    for level in (0.5, 0.9, 0.99, 0.9999):
        low, high = johnson_ends(mean, np.sqrt(spread.variance), stats.t.ppf([(1 + level) / 2], 4), third)
        assert low[0] <= mean[0] <= high[0]


@pytest.mark.evidence
def test_the_mean_of_rare_large_values_is_held_where_students_interval_is_short() -> None:
    """Of 25 queries with two documents, each document is wrong by a grade or two in one of ten cases."""
    seeds = studies(300, 4000)
    cluster, held, students = np.arange(50) // 2, [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        values = np.where(rng.random(50) < 0.1, rng.choice([1.0, 2.0], 50), 0.0)
        low, high = ends(values, cluster)
        held.append(low <= 0.15 <= high)
        by_query = values.reshape(25, 2).mean(axis=1)
        students.append(abs(by_query.mean() - 0.15) <= stats.t.ppf(0.975, 24) * stats.sem(by_query))
    assert np.mean(held) == about(0.945, len(seeds), off=0.01)
    assert np.mean(held) > np.mean(students) + 0.005
