"""The verdict holds: false alarms and coverage in simulated comparisons whose truth is known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from karat.correction.estimate import Estimate
from karat.correction.inversion import independent, inversion
from karat.correction.pool import Pool
from karat.correction.ppi import powered
from karat.measures import P
from karat.simulate import TwoSystems, two_systems
from karat.simulate.two_systems import JudgeKind
from pools import pool_of_study
from simulated import about, studies

pytestmark = pytest.mark.evidence
SEEDS = studies(80, 4000)


def pool_of(study: TwoSystems, gold: int, seed: int) -> Pool:
    drawn = study.draw_gold(gold, seed)
    return pool_of_study(study, drawn, gold / len(drawn))


@cache
def verdicts(
    judge: JudgeKind, difference: float, queries: int, gold: int, fixed: bool = False
) -> dict[str, np.ndarray]:
    """Of each study and method: whether a difference was called, and whether the interval held the truth."""
    found: dict[str, list[tuple[bool, bool]]] = {"plain": [], "ppi": [], "inversion": [], "independent": []}
    for seed in SEEDS:
        study = two_systems(queries, difference=difference, judge=judge, seed=seed)
        pool = pool_of(study, gold, seed + 10_000)
        truth = difference
        if fixed:
            by_query = pool.by_query(study.truth).mean(axis=0)
            truth = by_query[1] - by_query[0]
        corrected = inversion(pool, fixed=fixed)
        estimates = {
            "plain": Estimate.of_values("plain", pool.systems, pool.by_query(pool.predicted)),
            "ppi": powered(pool, fixed=fixed),
            "inversion": corrected,
            "independent": independent(corrected),
        }
        for name, estimate in estimates.items():
            one = estimate.difference(0, 1)
            found[name].append((one.p < 0.05, one.low <= truth <= one.high))
    return {name: np.array(rows).mean(axis=0) for name, rows in found.items()}


@pytest.mark.parametrize("judge", ["fair", "lenient", "by document"])
def test_the_default_verdict_is_right_for_every_judge(judge: JudgeKind) -> None:
    found = verdicts(judge, 0.0, queries=100, gold=300)
    alarms, held = found["ppi"]
    assert alarms == about(0.05, len(SEEDS), off=0.005)
    assert held == about(0.95, len(SEEDS), off=0.005)


def test_a_lenient_judge_misleads_plain_scores_and_inversion_alike() -> None:
    found = verdicts("lenient", 0.0, queries=100, gold=300)
    assert found["plain"][0] > 0.6
    assert found["inversion"][0] > 0.6


def test_with_a_fair_judge_shared_accuracies_see_what_a_paired_t_sees_and_added_errors_see_nothing() -> None:
    found = verdicts("fair", 0.06, queries=100, gold=600)
    assert abs(found["inversion"][0] - found["plain"][0]) <= 0.02
    assert found["inversion"][1] == about(0.95, len(SEEDS), off=0.005)
    assert found["plain"][0] > 0.75
    assert found["independent"][0] < 0.3


def test_for_these_queries_only_the_interval_holds_their_own_difference() -> None:
    found = verdicts("by document", 0.05, queries=60, gold=300, fixed=True)
    assert found["ppi"][1] == about(0.95, len(SEEDS), off=0.005)
    found = verdicts("fair", 0.05, queries=60, gold=400, fixed=True)
    assert found["ppi"][1] == about(0.95, len(SEEDS), off=0.005)
    assert found["inversion"][1] == about(0.95, len(SEEDS), off=0.005)


def test_files_and_arrays_give_the_same_pool() -> None:
    from karat.correction.gold_sample import Gold
    from karat.measures.scorer import Scorer
    from karat.records.runs import together

    study = two_systems(30, difference=0.05, seed=4)
    expected = pool_of(study, 100, 7)
    gold = Gold.of(study.gold(expected.drawn, 100 / len(expected.gold)))
    scorer = Scorer(study.judgments(), [P @ 10], draws=0)
    runs = together(study.runs())
    queries = [f"{i:06d}" for i in range(30)]
    pool = Pool.of(runs, queries, P(cutoff=10), scorer.topics, scorer.profile, gold)
    for name in ("query", "weight", "predicted", "gold", "probability"):
        np.testing.assert_allclose(getattr(pool, name), getattr(expected, name))
    assert powered(pool).scores == pytest.approx(powered(expected).scores)
