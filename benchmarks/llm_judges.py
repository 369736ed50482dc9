"""Does the corrected difference hold on real labels? 33 LLM judges against NIST's labels (LLMJudge, TREC DL 2023).

    python benchmarks/llm_judges.py --keep FILE [--studies 60] [--gold 200] [--judges NAME ...]
    python benchmarks/llm_judges.py --keep FILE --table

NIST's labels are the truth. Each study takes one LLM's labels, makes two runs out of the labels of two other LLMs (each
label plus normal noise of 0.6 ranks all judged passages of a query), draws gold labels with `plan_gold`, and asks for
the difference of the runs on these 25 queries. Every interval is a row of FILE, a study of every judge before the next
of any, so that the table can be made of what is there and grow later. For each judge it has how often the 95 % interval
held the true difference and its median half-width: nDCG@10 and DCG@10 with the calibrated judge, DCG@10 with labels as
they are, and nDCG@10 from gold labels for whole queries, as many labels in all; the calibrated width by the others; and
how likely so few holds, or fewer, would be if the interval of nDCG@10 held in 95 of 100 studies.

Needs the research data (KARAT_DATA, or shared/data beside the project).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
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
WAYS = ("nDCG@10", "DCG@10", "DCG@10 as is", "nDCG@10 whole")


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
    # Other runs and other gold labels for every judge: studies of one seed would go right or wrong together.
    seed = 1000 * seed + list(judges).index(judge)
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
    for name in WAYS:
        measure, drawn, calibrated = name.split()[0], whole if "whole" in name else plan, "as is" not in name
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
        found[name] = (one.low <= right <= one.high, (one.high - one.low) / 2)
    return found


def grow(keep: Path, chosen: list[str] | None, studies: int, gold: int) -> None:
    """Studies that the file does not have yet."""
    frame, judges = data()
    new = not keep.exists()
    there = set() if new else set(pl.read_csv(keep, columns=["judge", "seed"]).rows())
    with keep.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(("judge", "seed", "way", "held", "half"))
        for seed in range(studies):
            for judge in judges if chosen is None else chosen:
                if (judge, seed) not in there:
                    found = study(frame, judges, judge, gold, seed)
                    writer.writerows([(judge, seed, way, int(held), half) for way, (held, half) in found.items()])
                    file.flush()


def show(keep: Path) -> None:
    from scipy.stats import binomtest

    rows = pl.read_csv(keep)
    every = pl.concat([rows, rows.with_columns(judge=pl.lit("all"))])
    print(
        f"{'judge':<24}{'studies':>8}" + "".join(f"{way:>18}" for way in WAYS) + "  DCG to as is  nDCG to whole       p"
    )
    for (judge,), mine in every.group_by("judge", maintain_order=True):
        line, half = "", {}
        for way in WAYS:
            got = mine.filter(pl.col("way") == way)
            half[way] = float(got["half"].median())
            line += f"{got['held'].mean():>9.3f} {half[way]:>8.4f}"
        held = mine.filter(pl.col("way") == WAYS[0])["held"]
        p = binomtest(int(held.sum()), len(held), 0.95, "less").pvalue
        ratios = f"{half[WAYS[1]] / half[WAYS[2]]:>14.2f}{half[WAYS[0]] / half[WAYS[3]]:>15.2f}"
        print(f"{judge:<24}{len(held):>8}{line}{ratios}{p:>8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="the file of the rows")
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--gold", type=int, default=200)
    parser.add_argument("--judges", nargs="*", default=None)
    parser.add_argument("--table", action="store_true", help="only the table of what is there")
    asked = parser.parse_args()
    if not asked.table:
        grow(asked.keep, asked.judges, asked.studies, asked.gold)
    show(asked.keep)


if __name__ == "__main__":
    main()
