"""Planning: is planned power the power there is, may one look early, and how long do many systems take?

python benchmarks/planning.py
"""

from __future__ import annotations

import resource
import time
from typing import get_args

import numpy as np
import polars as pl

from karat.estimate.pool import Pool
from karat.estimate.ppi import powered
from karat.plan import PilotVariance, pilot_variance, plan_power
from karat.simulate.two_systems import JudgeKind, TwoSystems, two_systems
from karat.stats.permutation import max_t
from karat.stats.power import paired_power, sampled_sd
from karat.stats.sequences import best_r, reaches

DIFFERENCE, STUDIES, LOOKS = 0.05, 2000, 10_000


def drawn(study: TwoSystems, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    matters = (study.rank > 0).sum(axis=1) == 1
    chosen = np.zeros(len(matters), bool)
    size = round(share * matters.sum())
    chosen[np.random.default_rng(seed).choice(np.flatnonzero(matters), size, replace=False)] = True
    return chosen, np.where(matters, share, 0.0)


def pool(study: TwoSystems, chosen: np.ndarray, probability: np.ndarray) -> Pool:
    return Pool(
        systems=("A", "B"),
        queries=tuple(map(str, range(study.queries))),
        docs=pl.DataFrame(),
        query=study.query,
        weight=(study.rank > 0) / study.depth,
        rank=np.where(study.rank > 0, study.rank, study.depth + 1).min(axis=1),
        predicted=study.label,
        gold=np.where(chosen, study.truth, np.nan),
        probability=np.where(chosen, probability, np.nan),
    )


def pilot_spread(queries: int, share: float, judge: JudgeKind, seed: int) -> PilotVariance:
    pilot = two_systems(queries, difference=DIFFERENCE, judge=judge, seed=seed)
    return pilot_variance(pilot.judgments(), pilot.runs(), "P@10", gold=pilot.gold(*drawn(pilot, share, seed + 1)))


def realised(judge: JudgeKind, share: float, spread: PilotVariance) -> tuple[int, float]:
    """The queries planned, and the share of studies of that size in which the default verdict sees the difference."""
    queries = plan_power(DIFFERENCE, spread, shares=[share]).shares["queries"][0]
    seen = 0
    for seed in range(STUDIES):
        study = two_systems(queries, difference=DIFFERENCE, judge=judge, seed=50_000 + seed)
        seen += powered(pool(study, *drawn(study, share, 1_000_000 + seed))).difference(0, 1).p <= 0.05
    return queries, seen / STUDIES


def looking(kind: str, plan: int) -> tuple[float, float]:
    """False alarms when one looks after every query from 20 to 1,000: by the sequence, by a t test each time."""
    from scipy.special import stdtrit

    rng, most, first, at_once = np.random.default_rng(12345), 1000, 20, 2000
    t = np.arange(1, most + 1)
    edge = stdtrit(t[first - 1 :] - 1, 0.975) / np.sqrt(t[first - 1 :])
    alarms = np.zeros(2)
    for _ in range(LOOKS // at_once):
        shape = (at_once, most)
        if kind == "P@10":
            values = (rng.binomial(10, 0.4, shape) - rng.binomial(10, 0.4, shape)) / 10
        else:
            values = rng.beta(0.6, 1.8, shape) - rng.beta(0.6, 1.8, shape)
        mean = values.cumsum(axis=1) / t
        with np.errstate(divide="ignore", invalid="ignore"):
            sd = np.sqrt(((values**2).cumsum(axis=1) / t - mean**2) * t / (t - 1))
            ratio = (np.abs(mean) / sd)[:, first - 1 :]
        alarms += [
            (ratio > reaches(t[first - 1 :], best_r(plan))).any(axis=1).sum(),
            (ratio > edge).any(axis=1).sum(),
        ]
    return float(alarms[0] / LOOKS), float(alarms[1] / LOOKS)


def main() -> None:
    print(f"Planned power 0.8 for a difference of {DIFFERENCE} in P@10; spread from a pilot of 20,000 queries")
    for judge in get_args(JudgeKind):
        spread = pilot_spread(20_000, 0.5, judge, 99)
        for share in (0.25, 1.0):
            queries, power = realised(judge, share, spread)
            print(f"  {judge:12} gold share {share:4}: {queries:4} queries, power {power:.3f} ({STUDIES:,} studies)")
    print("The power of plans from small pilots (fair judge, gold share 0.25; 200 pilots each)")
    truth = pilot_spread(20_000, 0.5, "fair", 99)
    sd = sampled_sd(truth.sd**2, truth.gold_variance or 0.0, 0.25)
    for size, share in ((50, 0.25), (100, 0.375), (400, 0.375)):
        plans = [plan_power(DIFFERENCE, pilot_spread(size, share, "fair", 7 * s), shares=[0.25]) for s in range(200)]
        power = paired_power(DIFFERENCE, sd, [plan.shares["queries"][0] for plan in plans])
        low, middle, high = np.quantile(power, [0.05, 0.5, 0.95])
        gold = round(8 * size * share)
        print(f"  {size} queries, {gold:,} gold labels: power {middle:.2f} (90 % of pilots {low:.2f} to {high:.2f})")
    print(f"False alarms when looking after every query from 20 to 1,000 ({LOOKS:,} studies, seed 12345)")
    for kind in ("P@10", "AP"):
        for plan in (100, 400):
            sequence, repeated = looking(kind, plan)
            print(f"  {kind:5} planned {plan}: sequence {sequence:.3f}, t test each time {repeated:.3f}")
    values = np.random.default_rng(0).random((10_000, 20))
    before = time.perf_counter()
    max_t(values, draws=10_000)
    took = time.perf_counter() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"max-T, 10,000 draws over 10,000 queries and 20 systems: {took:.2f} s (peak of this process {peak:,.0f} MB)")


if __name__ == "__main__":
    main()
