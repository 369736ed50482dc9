"""Does the corrected difference hold on real labels? 33 LLM judges against NIST's labels (LLMJudge, TREC DL 2023).

    python benchmarks/llm_judges.py [--studies 100] [--gold 200] [--judges NAME ...] [--seed 0]

NIST's labels are the truth. Each study takes one LLM's labels, makes two runs out of the labels of two other LLMs (each
label plus normal noise of 0.6 ranks all judged passages of a query), draws gold labels with `plan_gold`, and asks for
the difference of the runs on these 25 queries. Prints, for each judge, how often the 95 % interval held the true
difference and how wide it was: nDCG@10 and DCG@10 with the calibrated judge, DCG@10 with labels as they are, and
nDCG@10 from gold labels for whole queries, as many labels in all.

Needs the research data (KARAT_DATA, or shared/data beside the project).
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from karat.estimate.evidence import Evidence
from karat.estimate.gold_sample import Gold
from karat.estimate.with_gold import with_gold
from karat.plan import plan_gold, plan_gold_queries
from karat.records import Judgments, Runs
from karat.records.runs import together
from karat.scoring import Scorer

NOISE = 0.6
MEASURES = ("nDCG@10", "DCG@10")


def read(path: Path) -> dict[tuple[str, str], float]:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    fields = [line.split() for line in text.splitlines()]
    return {(row[0], row[2]): float(row[3]) for row in fields if len(row) >= 4}


def data() -> tuple[pl.DataFrame, dict[str, np.ndarray]]:
    """Queries, passages and NIST's labels; every judge's label of each, what is above 3 or missing set to 3 and 0."""
    there = [os.environ.get("KARAT_DATA"), Path(__file__).parents[2] / "shared" / "data"]
    folder = next(Path(place) / "llmjudge" for place in there if place and (Path(place) / "llmjudge").exists())
    gold = read(folder / "gold.qrels")
    keys = sorted(gold)
    frame = pl.DataFrame({"query": [k[0] for k in keys], "doc": [k[1] for k in keys], "truth": [gold[k] for k in keys]})
    judges = {}
    for path in sorted((folder / "submissions").iterdir()):
        labels = read(path)
        judges[path.name.split(".")[0]] = np.clip([labels.get(key, 0.0) for key in keys], 0, 3)
    return frame, judges


def difference(runs: Runs, scorer: Scorer, queries: list[str]) -> tuple[np.ndarray, float]:
    scores = scorer.score(runs)
    wide = scores.queries.pivot("system", index="query", values=scores.measures[0]).sort("query")
    values = wide.filter(pl.col("query").is_in(queries)).select(runs.systems).to_numpy()
    return values, float((values[:, 1] - values[:, 0]).mean())


def study(frame: pl.DataFrame, judges: dict[str, np.ndarray], judge: str, n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    others = [name for name in judges if name != judge]
    names = frame.select("query", "doc")
    lists = [
        names.with_columns(
            system=pl.lit(side), score=pl.Series(judges[others[k]] + NOISE * rng.normal(size=frame.height))
        )
        for side, k in zip("AB", rng.choice(len(others), 2, replace=False), strict=True)
    ]
    runs = together([Runs.of(part) for part in lists])
    labels = Judgments.of(names.with_columns(label=pl.Series(judges[judge])))
    true = Judgments.of(frame.rename({"truth": "label"}))
    queries = sorted(frame["query"].unique())
    found: dict[str, Any] = {}
    plan = plan_gold(labels, runs, "nDCG@10", n, seed=seed)
    whole = plan_gold_queries(labels, runs, "nDCG@10", n, seed=seed)
    evidence = None
    for name, measure, drawn, calibrated in (
        ("nDCG@10", "nDCG@10", plan, True),
        ("DCG@10", "DCG@10", plan, True),
        ("DCG@10 as is", "DCG@10", plan, False),
        ("nDCG@10 whole", "nDCG@10", whole, True),
    ):
        scorer = Scorer(labels, [measure], draws=0)
        judged, _ = difference(runs, scorer, queries)
        right = difference(runs, Scorer(true, [measure], draws=0), queries)[1]
        filled = drawn.frame.drop("label").join(frame.rename({"truth": "label"}), on=["query", "doc"])
        gold = Gold.of(Judgments.of(filled))
        if drawn is whole or evidence is None:
            evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, gold)
        made = with_gold(runs, scorer, gold, queries, judged, evidence, fixed=True, calibrated=calibrated)
        estimate = made.estimates.get("ppi")
        if estimate is None:
            continue
        one = estimate.difference(0, 1)
        found[name] = (one.low <= right <= one.high, (one.high - one.low) / 2, one.difference - right)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--gold", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--judges", nargs="*", default=None)
    asked = parser.parse_args()
    frame, judges = data()
    chosen = [name for name in judges if asked.judges is None or name in asked.judges]
    names = ("nDCG@10", "DCG@10", "DCG@10 as is", "nDCG@10 whole")
    print(f"{asked.studies} studies a judge, seeds {asked.seed}.., {asked.gold} gold labels, these 25 queries only")
    print(f"{'judge':<26}" + "".join(f"{name:>22}" for name in names) + "   (held / median half-width)")
    every: list[dict[str, Any]] = []
    start = time.perf_counter()
    for judge in chosen:
        rows = [study(frame, judges, judge, asked.gold, asked.seed + number) for number in range(asked.studies)]
        every += rows
        print(f"{judge:<26}" + _cells(rows, names), flush=True)
    print(f"{'all':<26}" + _cells(every, names))
    print(f"{(time.perf_counter() - start) / len(every):.2f} s a study")


def _cells(rows: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    cells = ""
    for name in names:
        got = np.array([row[name] for row in rows if name in row], dtype=float)
        cells += f"{got[:, 0].mean():>12.3f} / {np.median(got[:, 1]):.4f}" if len(got) else f"{'-':>22}"
    return cells


if __name__ == "__main__":
    main()
