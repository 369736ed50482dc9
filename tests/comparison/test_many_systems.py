"""Many systems: every pair once, with p values that allow for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from karat.comparison.interim import Look
from karat.comparison.many_systems import every_pair, family_p
from karat.comparison.prepared import Matrix
from karat.correction.estimate import Estimate
from karat.stats.multiple_testing import holm
from karat.stats.permutation_tests import max_t


def estimate(systems: int, queries: int = 60, seed: int = 1) -> tuple[Estimate, Matrix]:
    """Systems that rise and fall together, each a little better than the one before."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (queries, 1)) + rng.normal(np.arange(systems) * 0.2, 0.3, (queries, systems))
    names = tuple(f"s{n:03d}" for n in range(systems))
    ids = tuple(f"q{n}" for n in range(queries))
    return Estimate.of_values("ppi", names, values, n_gold=500), Matrix(names, ids, values, ())


def test_one_pair_of_near_duplicates_leaves_max_t_to_all_others() -> None:
    found, matrix = estimate(6)
    found.df[0, 1] = found.df[1, 0] = 3.0  # hardly a gold label tells the two apart
    pairs = every_pair(found, matrix, Look(0.95, None), draws=999, seed=1)
    assert pairs["max_t"].is_nan().to_list() == [True] + [False] * 14
    places = np.array([(a, b) for a in range(6) for b in range(a + 1, 6)])
    alone = max_t(matrix.values, places[1:], draws=999, seed=1).adjusted
    # 14 of 15 pairs have 14/15 of the chance of a false alarm, and the one the rest.
    assert pairs["max_t"][1:].to_numpy() == pytest.approx(
        np.fmax(np.minimum(alone * 15 / 14, 1), pairs["p"][1:].to_numpy())
    )
    assert family_p(pairs)[0] == pytest.approx(min(pairs["p"][0] * 15, 1))


def test_without_values_by_query_holm_decides() -> None:
    found, matrix = estimate(4)
    found.df[:] = 3.0
    pairs = every_pair(found, matrix, Look(0.95, None), draws=999, seed=1)
    assert family_p(pairs) == pytest.approx(holm(pairs["p"].to_numpy()))


def test_no_false_alarm_among_all_pairs_more_often_than_said_though_two_families_share_it() -> None:
    rng = np.random.default_rng(4)
    alarms, studies = 0, 400
    for seed in range(studies):
        values = rng.normal(0, 1, (50, 1)) + rng.normal(0, 0.5, (50, 5))
        names, ids = tuple("abcde"), tuple(f"q{n}" for n in range(50))
        found = Estimate.of_values("ppi", names, values, n_gold=500)
        found.df[0, 1] = found.df[1, 0] = 10.0
        pairs = every_pair(found, Matrix(names, ids, values, ()), Look(0.95, None), draws=399, seed=seed)
        alarms += bool((family_p(pairs) <= 0.05).any())
    assert alarms / studies <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / studies)
