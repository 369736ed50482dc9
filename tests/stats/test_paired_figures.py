"""Figures side by side: by hand, as the plain bootstrap has them, and alike however the work is cut."""

from __future__ import annotations

import numpy as np
import pytest

from karat.stats import mean_intervals
from karat.stats.arrays import Counts, Dense
from karat.stats.paired_statistics import Cells, _jackknife, compared, one_setting, share


def sums(values: np.ndarray) -> np.ndarray:
    return np.stack([values, np.ones_like(values)], axis=2)


def test_clusters_of_one_have_the_intervals_of_the_plain_bootstrap() -> None:
    values = np.random.default_rng(0).random((30, 2))
    mean, low, high, queries = one_setting(
        sums(values), share, Cells(np.arange(30)), "plain", level=0.95, draws=500, seed=3
    )
    assert mean == pytest.approx(values.mean(axis=0))
    assert np.array([low, high]) == pytest.approx(np.array(mean_intervals(values, draws=500, seed=3)))
    assert queries.tolist() == [30, 30]


def test_means_weigh_every_row_alike_and_two_queries_give_no_interval() -> None:
    """By hand: one figure has 3 rows of sum 6 in two queries, the other 1 row of 5 in one."""
    cells = np.array([[[2.0, 2], [0, 0]], [[4, 1], [5, 1]]])
    mean, low, _, queries = one_setting(cells, share, Cells(np.arange(2)), "plain", level=0.95, draws=100, seed=0)
    assert mean.tolist() == [2.0, 5.0]
    assert np.isnan(low).all()
    assert queries.tolist() == [2, 1]


def test_work_in_parts_gives_the_same_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    pair = [sums(rng.random((120, 6))) for _ in range(2)]
    ways = (Cells(np.arange(120) % 20), Cells(np.arange(120) % 20, (np.arange(120), np.arange(120) // 12)))
    whole = [compared(pair, share, cells, "plain", level=0.95, draws=100, seed=0) for cells in ways]
    monkeypatch.setattr("karat.stats.paired_statistics.AT_ONCE", 1)
    for cells, once in zip(ways, whole, strict=True):
        parts = compared(pair, share, cells, "plain", level=0.95, draws=100, seed=0)
        for name in ("value", "low", "high", "p"):
            assert np.allclose(getattr(once, name), getattr(parts, name))


def test_a_judge_of_every_cell_alone_adds_what_he_differs_by() -> None:
    """By hand: five judges with one value each in all of six queries; queries are alike, judges are all there is."""
    query, judge = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    values = np.array([0.1, 0.3, 0.5, 0.7, 0.9])[judge][:, None]
    cells = Cells(query, (np.arange(30), judge))
    mean, low, high, _ = one_setting(sums(values), share, cells, "plain", level=0.95, draws=1, seed=0)
    # V_query + V_judge - V_both = 0 + 0.1 / 5 - (2.4 / 29) / 30, and 2.7764 is the t of 4 degrees of freedom.
    reach = 2.7764 * (0.1 / 5 - 2.4 / 29 / 30) ** 0.5
    assert (mean[0], low[0], high[0]) == pytest.approx((0.5, 0.5 - reach, 0.5 + reach), abs=1e-4)


def test_each_cluster_is_left_out_in_turn() -> None:
    """Queries, judges, and each judge's cell of each query: the jackknife by hand, of two settings and their gap."""
    rng = np.random.default_rng(3)
    query, judge = (part.ravel() for part in np.indices((8, 10)))
    both = np.stack([rng.random((80, 2)), np.ones((80, 2))], axis=2)[:, :, None]
    cells = Cells(query, (np.arange(80), judge))
    for clusters, of in zip(cells.clusters, (query, judge, 10 * query + judge), strict=True):
        left = np.array([share(both[of != one].sum(axis=0))[:, 0] for one in np.unique(of)])
        left = np.column_stack([left, left[:, 1] - left[:, 0]])
        found, number = _jackknife([Dense(both[:, 0]), Dense(both[:, 1])], share, clusters)
        assert found.variance[:, 0] == pytest.approx((len(left) - 1) * left.var(axis=0), rel=1e-9)
        assert (number == len(left)).all()


@pytest.mark.parametrize("sampled", [True, False])
def test_counts_that_are_mostly_zeros_give_what_the_same_array_gives(sampled: bool) -> None:
    rng = np.random.default_rng(5)
    query, judge = (part.ravel() for part in np.indices((8, 10)))
    cells = Cells(query, (np.arange(80), judge) if sampled else None)
    cell, figure, right = rng.integers(0, 80, 500), rng.integers(0, 3, 500), rng.random(500) < 0.7
    # Of each figure, how many were right and how many there were.
    place = np.concatenate([2 * figure[right], 2 * figure + 1])
    where = np.concatenate([cell[right], cell])
    array = np.zeros((80, 6))
    np.add.at(array, (where, place), 1.0)
    array = array.reshape(80, 3, 2)
    counts = Counts.of(where, place, 80, (3, 2))
    assert counts.whole.tolist() == array.sum(axis=0).tolist()
    given = {"level": 0.95, "draws": 50, "seed": 1}
    sparse, dense = (compared([part, array[::-1]], share, cells, "share", **given) for part in (counts, array))
    for name in ("value", "low", "high", "p", "queries"):
        assert getattr(sparse, name) == pytest.approx(getattr(dense, name), rel=1e-12, nan_ok=True)
