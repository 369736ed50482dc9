"""Do the intervals of two rounds of gold labels hold, and what is the first round worth in them?

    python benchmarks/second_round.py [--studies 400]

Two simulated systems (P@10, true difference 0.03, 80 queries, a judge who errs by document), gold labels in two rounds
with karat plan gold. Prints how often 95 % intervals hold the truth, and their mean width: for queries as a sample, and
for these queries only.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

from karat.correction.gold_sample import Gold
from karat.correction.pool import Pool
from karat.correction.ppi import powered
from karat.measures import as_measures
from karat.measures.scorer import Scorer
from karat.plan.gold_selection import GoldPlan, plan_gold
from karat.records import Judgments
from karat.records.runs import together
from karat.simulate import TwoSystems, two_systems
from karat.stats.sampling import draw, inclusion_probabilities

QUERIES, DIFFERENCE, MEASURE = 80, 0.03, "P@10"


def answered(plan: GoldPlan, study: TwoSystems) -> Judgments:
    """The plan's file with all labels filled in."""
    truth = study.gold(np.ones(len(study.truth), bool), 1.0).frame.select("query", "doc", "label")
    return Judgments.of(plan.to_frame().drop("label").join(truth, on=["query", "doc"], maintain_order="left"))


def intervals(study: TwoSystems, gold: Judgments) -> list[tuple[bool, float]]:
    """Whether the interval holds the truth, and how wide it is: for a sample of queries, and for these."""
    measure = as_measures(MEASURE)[0]
    scorer = Scorer(study.judgments(), [measure], draws=0)
    queries = sorted(set(study.judgments().frame["query"]))
    runs = together(study.runs())
    pool = Pool.of(runs, queries, measure, scorer.topics, scorer.profile, Gold.of(gold))  # type: ignore[arg-type]
    side = (study.rank[:, 1] > 0) * 1.0 - (study.rank[:, 0] > 0)
    here = float((study.truth * side).sum()) / study.depth / study.queries
    told = []
    for fixed, truth in ((False, study.difference), (True, here)):
        found = powered(pool, fixed=fixed).difference(0, 1)
        told.append((found.low <= truth <= found.high, found.high - found.low))
    return told


def unequal(study: TwoSystems, n: int, seed: int) -> Judgments:
    """A first round whose chances differ by up to seven times, for no good reason."""
    counts = (study.rank > 0).sum(axis=1) == 1
    size = np.random.default_rng(seed + 1_000_000).uniform(0.2, 1.5, len(counts))
    chance = inclusion_probabilities(np.where(counts, size, 0.0), n)
    return study.gold(draw(chance, seed=seed), chance)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=400)
    studies = parser.parse_args().studies
    for first, second in ((150, 150), (250, 60)):
        found = defaultdict(list)
        for seed in range(studies):
            study = two_systems(QUERIES, difference=DIFFERENCE, judge="by document", seed=seed)
            runs, labels = study.runs(), study.judgments()
            earlier = answered(plan_gold(labels, runs, MEASURE, first, seed=seed), study)

            def both(pilot: Judgments, study: TwoSystems = study, seed: int = seed, n: int = second) -> Judgments:
                plan = plan_gold(study.judgments(), study.runs(), MEASURE, n, pilot=pilot, seed=seed + 7)
                return answered(plan, study)

            at_once = answered(plan_gold(labels, runs, MEASURE, first + second, seed=seed + 3), study)
            found["first round only"].append(intervals(study, earlier))
            found["both rounds"].append(intervals(study, both(earlier)))
            found["as many at once"].append(intervals(study, at_once))
            alone = Judgments.of(earlier.frame.select("query", "doc", "label"))
            found["first round without its probabilities"].append(intervals(study, both(alone)))
            found["both rounds, the first unequal"].append(intervals(study, both(unequal(study, first, seed))))
        print(f"\n{first} gold labels, then {second} more; {studies} studies, seeds 0..: held and width")
        for name, told in found.items():
            held, width = np.array(told)[:, :, 0].mean(axis=0), np.array(told)[:, :, 1].mean(axis=0)
            print(f"{name:40s} sample {held[0]:.3f} {width[0]:.4f}   these {held[1]:.3f} {width[1]:.4f}", flush=True)


if __name__ == "__main__":
    main()
