"""Planning: is planned power the power there is, may one look early, and how long do many systems take?

python benchmarks/planning.py [--part power|real|pilots|looking|systems] [--studies 150] [--measure P@10] [--judge fair]

--part real needs TREC DL 2021 with LLM labels, in ../shared/data/dl21 or the folder dl21 of KARAT_DATA.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import karat as kt
from karat.comparison.prepared import Matrix
from karat.measures.scorer import Scorer
from karat.simulate.graded_pair import Erring, GradedPair, graded_pair
from karat.stats.confidence_sequences import best_r, reaches
from karat.stats.permutation_tests import max_t
from karat.stats.power import paired_power

LOOKS, SHARE = 10_000, 0.25
#: B's own documents are better than A's by so much on the logistic scale.
SHIFT = 1.0
JUDGES: tuple[Erring, ...] = ("fair", "by query", "llm")
#: Runs of TREC DL 2021.
PAIRS = (("paug_bm25", "mono_h3"), ("watprp", "pash_r2"))


def gold_labels(study: GradedPair, measure: str, n: int, seed: int) -> pl.DataFrame:
    """So many gold labels, drawn as `plan_gold` does."""
    plan = kt.plan_gold(study.judgments(), study.runs(), measure, n, seed=seed)
    truth = study.judgments(study.truth).frame.select("query", "doc", "label")
    return plan.frame.drop("label").join(truth, on=["query", "doc"])


def true_difference(measure: str) -> float:
    """Over 40,000 queries."""
    found = []
    for seed in range(9000, 9004):
        study = graded_pair(10_000, shift=SHIFT, seed=seed)
        found.append(Matrix.of(Scorer(study.judgments(study.truth), [measure], draws=0), study.runs()).values)
    a, b = np.concatenate(found).mean(axis=0)
    return float(b - a)


def spread_of(measure: str, judge: Erring, queries: int, gold: int, seed: int, draw: int) -> kt.PilotVariance:
    pilot = graded_pair(queries, shift=SHIFT, judge=judge, seed=seed)
    labels = gold_labels(pilot, measure, gold, draw)
    return kt.pilot_variance(pilot.judgments(), pilot.runs(), measure, gold=labels)


Study = tuple[pl.DataFrame, list[Any], pl.DataFrame]  # labels, runs, true grades


def simulated(judge: Erring) -> Callable[[int, int], Study]:
    """Studies of so many queries, by seed."""

    def study(queries: int, seed: int) -> Study:
        made = graded_pair(queries, shift=SHIFT, judge=judge, seed=seed)
        labels, truth = (
            one.frame.select("query", "doc", "label") for one in (made.judgments(), made.judgments(made.truth))
        )
        return labels, list(made.runs()), truth

    return study


def real(a: str, b: str) -> tuple[Study, Callable[[int, int], Study]]:
    """Two runs of TREC DL 2021 with GPT-4's labels and NIST's, and studies of its queries drawn with replacement."""
    folder = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "dl21"
    text: dict[str, Any] = {"query": pl.String, "doc": pl.String}
    judged = pl.read_csv(folder / "judges.csv.gz", schema_overrides=text | {"label": pl.Float64})
    labels = judged.filter(pl.col("judge") == "gpt4-umbrela").drop("judge")
    truth = pl.read_csv(folder / "nist.csv.gz", schema_overrides=text | {"label": pl.Float64})
    every = pl.read_csv(folder / "runs.csv.gz", schema_overrides=text)
    runs = [every.filter(pl.col("system") == name) for name in (a, b)]
    names = truth["query"].unique().sort().to_list()

    def study(queries: int, seed: int) -> Study:
        drawn = np.random.default_rng(seed).integers(0, len(names), queries)
        copies = pl.DataFrame({"query": [names[i] for i in drawn], "copy": [f"{i:05d}" for i in range(queries)]})

        def copied(frame: pl.DataFrame) -> pl.DataFrame:
            return frame.join(copies, on="query").with_columns(query="copy").drop("copy")

        return copied(labels), [copied(run) for run in runs], copied(truth)

    return (labels, runs, truth), study


def sampled(study: Study, measure: str, n: int, seed: int) -> pl.DataFrame:
    """So many gold labels of a study, sampled as `plan_gold` does."""
    labels, runs, truth = study
    return kt.plan_gold(labels, runs, measure, n, seed=seed).frame.drop("label").join(truth, on=["query", "doc"])


def power(
    name: str, measure: str, difference: float, pilot: Study, gold: int, make: Callable[[int, int], Study], studies: int
) -> None:
    """The share of studies of the planned size in which the default verdict detects the difference."""
    spread = kt.pilot_variance(pilot[0], pilot[1], measure, gold=sampled(pilot, measure, gold, 98))
    for share in (0.1, 0.25):
        plan = kt.plan_power(difference, spread, shares=[share]).shares.row(0, named=True)
        detected = 0
        for seed in range(studies):
            study = make(plan["queries"], 70_000 + seed)
            labels = sampled(study, measure, plan["gold_labels"], seed)
            found = kt.compare(study[0], study[1], measure, gold=labels, draws=100).methods
            detected += found.filter(pl.col("method") == "ppi")["p"][0] <= 0.05
        print(
            f"  {measure:8} {name:22} gold share {share:4}: difference {difference:.4f}, {plan['queries']:4} queries, "
            f"{plan['gold_labels']:4} gold labels: power {detected / studies:.3f}",
            flush=True,
        )


def pilots(measure: str, judge: Erring, studies: int) -> None:
    """The power of plans from small pilots, by the spread that a large one knows."""
    difference = true_difference(measure)
    sd = spread_of(measure, judge, 600, 1800, 99, 1).at(SHARE)
    for queries, gold in ((50, 100), (100, 300), (300, 900)):
        plans = [
            kt.plan_power(difference, spread_of(measure, judge, queries, gold, 7 * seed, seed), shares=[SHARE])
            for seed in range(studies)
        ]
        found = paired_power(difference, sd, [plan.shares["queries"][0] for plan in plans])
        low, middle, high = np.quantile(found, [0.05, 0.5, 0.95])
        print(
            f"  {measure:8} {judge:9} {queries} queries, {gold} gold labels: power {middle:.2f} "
            f"(90 % of {studies} pilots {low:.2f} to {high:.2f})",
            flush=True,
        )


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["power", "real", "pilots", "looking", "systems"])
    parser.add_argument("--studies", type=int, default=150)
    parser.add_argument("--measure", action="append")
    parser.add_argument("--judge", action="append")
    asked = parser.parse_args()
    measures, judges = asked.measure or ("P@10", "nDCG@10"), asked.judge or JUDGES
    if asked.part in (None, "power", "real"):
        print(f"Power where 0.8 was planned, {asked.studies} studies")
    for measure in measures if asked.part in (None, "power") else ():
        for judge in judges:
            make = simulated(judge)
            power(judge, measure, true_difference(measure), make(100, 99), 300, make, asked.studies)
    for measure in measures if asked.part in (None, "real") else ():
        for a, b in PAIRS:
            pilot, make = real(a, b)
            difference = abs(float(kt.compare(pilot[2], pilot[1], measure, draws=100).methods["difference"][0]))
            power(f"{a}, {b}", measure, difference, pilot, 250, make, asked.studies)
    if asked.part in (None, "pilots"):
        print(f"Planned power 0.8, gold labels for {SHARE:.0%} of what matters, {asked.studies} pilots")
        for measure in measures:
            for judge in judges:
                pilots(measure, judge, asked.studies)
    if asked.part in (None, "looking"):
        print(f"False alarms when looking after every query from 20 to 1,000 ({LOOKS:,} studies, seed 12345)")
        for kind in ("P@10", "AP"):
            for plan in (100, 400):
                sequence, repeated = looking(kind, plan)
                print(f"  {kind:5} planned {plan}: sequence {sequence:.3f}, t test each time {repeated:.3f}")
    if asked.part in (None, "systems"):
        values = np.random.default_rng(0).random((10_000, 20))
        before = time.perf_counter()
        max_t(values, draws=10_000)
        took = time.perf_counter() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"max-T, 10,000 draws, 10,000 queries, 20 systems: {took:.2f} s (peak of this process {peak:,.0f} MB)")


if __name__ == "__main__":
    main()
