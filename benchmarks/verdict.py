"""Does the verdict hold? False alarms, coverage and power of every method, in simulated comparisons with known truth.

    python benchmarks/verdict.py [--studies 2000] [--part verdict|seen|fixed|gold|power|draws]

Prints: methods against judges, without and with a true difference; intervals for these queries only; documents drawn
with care against uniformly; planned power against power realised; and how long 10,000 bootstrap draws of 10,000 queries
and 20 systems take. Labels are taken as they are; `calibrated_verdict.py` is about the calibrated judge.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from karat.correction.estimate import Estimate
from karat.correction.inversion import independent, inversion
from karat.correction.pool import Pool
from karat.correction.ppi import powered
from karat.simulate import TwoSystems, two_systems
from karat.stats import mean_intervals
from karat.stats.permutation_tests import max_t
from karat.stats.power import queries_needed
from karat.stats.sampling import draw, inclusion_probabilities

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from pools import pool_of_study

JUDGES = ("fair", "lenient", "by document")
METHODS: dict[str, Callable[[Pool], Estimate]] = {
    "plain": lambda pool: Estimate.of_values("plain", pool.systems, pool.by_query(pool.predicted)),
    "ppi": powered,
    "inversion": inversion,
    "independent": lambda pool: independent(inversion(pool)),
}


def pool_of(study: TwoSystems, gold: int, seed: int) -> Pool:
    drawn = study.draw_gold(gold, seed)
    return pool_of_study(study, drawn, gold / len(drawn))


def shares(judge: str, queries: int, gold: int, difference: float, studies: int) -> dict[str, tuple[float, float]]:
    """The share of studies in which each method called a difference, and in which its interval held the truth."""
    called, held = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0)
    for seed in range(studies):
        study = two_systems(queries, difference=difference, judge=judge, seed=seed)  # type: ignore[arg-type]
        pool = pool_of(study, gold, seed + 1_000_000)
        for name, method in METHODS.items():
            found = method(pool).difference(0, 1)
            called[name] += found.p < 0.05
            held[name] += found.low <= difference <= found.high
    return {name: (called[name] / studies, held[name] / studies) for name in METHODS}


def verdict(studies: int) -> None:
    error = np.sqrt(0.05 * 0.95 / studies)
    print(
        f"\nFalse alarms at .05 / coverage of 95 % intervals, no true difference; {studies:,} studies a cell, seeds 0.."
    )
    print(f"(standard error of a cell {error:.4f})")
    print(f"{'judge':<12} {'queries':>7} {'gold':>5}  " + "  ".join(f"{name:>13}" for name in METHODS))
    for judge in JUDGES:
        for queries in (100, 400):
            for gold in (300, 600):
                found = shares(judge, queries, gold, 0.0, studies)
                cells = "  ".join(f"{a:.3f} / {c:.3f}" for a, c in found.values())
                print(f"{judge:<12} {queries:>7} {gold:>5}  {cells}", flush=True)


def seen(studies: int) -> None:
    print(f"\nPower / coverage, true difference 0.05 in P@10; {studies:,} studies a cell, seeds 0..")
    for judge in JUDGES:
        for queries, gold in ((100, 300), (100, 600), (400, 300), (400, 600)):
            found = shares(judge, queries, gold, 0.05, studies)
            cells = "  ".join(f"{a:.3f} / {c:.3f}" for a, c in found.values())
            print(f"{judge:<12} {queries:>7} {gold:>5}  {cells}", flush=True)


def these_queries(studies: int) -> None:
    """Only the drawing of the gold documents is left to chance: P@10, and the same lists with gains of 0, 1, 3 or 7."""
    print(
        f"\nCoverage for these queries only (--queries-are fixed), uniform gold; {studies:,} studies a cell, seeds 0.."
    )
    print(f"{'judge':<12} {'queries':>7} {'gold':>5}  {'P@10':>6}  {'gains to 7':>10}")
    for judge in JUDGES:
        for queries, gold in ((30, 60), (30, 120), (100, 300), (400, 600)):
            held = np.zeros(2)
            for seed in range(studies):
                study = two_systems(queries, difference=0.05, judge=judge, seed=seed)  # type: ignore[arg-type]
                plain = pool_of(study, gold, seed + 1_000_000)
                steps = 2.0 ** np.random.default_rng(seed).integers(1, 4, (2, len(study.truth))) - 1
                truth, label = study.truth * steps[0], study.label * np.where(study.truth > 0, steps[0], steps[1])
                steep = replace(plain, predicted=label, gold=np.where(plain.drawn, truth, np.nan))
                for place, (pool, gains) in enumerate(((plain, study.truth), (steep, truth))):
                    right = pool.by_query(gains).mean(axis=0)
                    found = powered(pool, fixed=True).difference(0, 1)
                    held[place] += found.low <= right[1] - right[0] <= found.high
            print(
                f"{judge:<12} {queries:>7} {gold:>5}  {held[0] / studies:>6.3f}  {held[1] / studies:>10.3f}", flush=True
            )


def gold_drawn(studies: int) -> None:
    """Two lists of ten with one document different in each: two of eleven count."""
    queries, n = 200, 200
    print(f"\nGold drawn with care against uniformly: {queries} queries, lists of 10 that differ in 2 documents")
    many = round(n * 11 / 2)
    rows: dict[str, list[tuple[float, bool]]] = {"with care": [], "uniform": []}
    for seed in range(studies):
        study = two_systems(queries, difference=0.01, judge="by document", shared=9, seed=seed)
        counts = (study.rank > 0).sum(axis=1) == 1
        chance = inclusion_probabilities(counts.astype(float), n)
        chosen = pool_of_study(study, draw(chance, seed=seed), chance)
        uniform = pool_of(study, many, seed + 1_000_000)
        for name, pool in (("with care", chosen), ("uniform", uniform)):
            found = powered(pool).difference(0, 1)
            rows[name].append((found.high - found.low, found.low <= 0.01 <= found.high))
    for name, size in (("with care", n), ("uniform", many)):
        width, held = np.array(rows[name]).mean(axis=0)
        print(f"{name:<10} {size:>5} gold labels  interval width {width:.4f}  coverage {held:.3f}")
    print(f"spared: {1 - n / many:.1%}")


def realised_power(studies: int) -> None:
    print("\nPlanned power .80 against power realised (plain paired t, P@10)")
    for difference in (0.03, 0.05, 0.08):
        pilot = two_systems(4000, difference=difference, right=(1.0, 1.0), seed=1)
        values = pool_of_study(pilot, np.zeros(len(pilot.truth), bool), 1.0).by_query(pilot.truth)
        sd = float((values[:, 1] - values[:, 0]).std(ddof=1))
        queries = queries_needed(difference, sd)
        called = 0
        for seed in range(studies):
            study = two_systems(queries, difference=difference, right=(1.0, 1.0), seed=seed + 10)
            pool = pool_of_study(study, np.zeros(len(study.truth), bool), 1.0)
            called += METHODS["plain"](pool).difference(0, 1).p < 0.05
        print(f"difference {difference:.2f}: {queries:>5} queries planned, power realised {called / studies:.3f}")


def many_draws() -> None:
    rng = np.random.default_rng(1)
    values = rng.beta(2, 3, size=(10_000, 1)) + rng.normal(0, 0.1, size=(10_000, 20))
    for name, work in (
        ("bootstrap intervals", lambda: mean_intervals(values, draws=10_000, seed=1)),
        ("max-T of all 190 pairs", lambda: max_t(values, draws=10_000, seed=1)),
    ):
        start = time.perf_counter()
        work()
        print(f"\n{name}: 10,000 draws, 10,000 queries, 20 systems: {time.perf_counter() - start:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--part", choices=["verdict", "seen", "fixed", "gold", "power", "draws"])
    asked = parser.parse_args()
    if asked.part in (None, "draws"):
        many_draws()
    if asked.part in (None, "fixed"):
        these_queries(asked.studies)
    if asked.part in (None, "gold"):
        gold_drawn(asked.studies)
    if asked.part in (None, "power"):
        realised_power(asked.studies)
    if asked.part in (None, "verdict"):
        verdict(asked.studies)
    if asked.part in (None, "seen"):
        seen(asked.studies)


if __name__ == "__main__":
    main()
