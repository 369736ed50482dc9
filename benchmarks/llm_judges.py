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
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from karat.simulate.graded_pair import GradedPair
from studies_at_once import Either, by_queries, interval, studies_at_once

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


def pair(frame: pl.DataFrame, judges: dict[str, np.ndarray], judge: str, seed: int) -> GradedPair:
    """NIST's labels, this judge's, and the ranks that two runs give all passages of a query."""
    rng = np.random.default_rng(seed)
    others = [name for name in judges if name != judge]
    query = frame["query"].rank("dense").to_numpy().astype(np.int64) - 1
    place = np.arange(len(query)) - np.searchsorted(query, query)
    rank = np.empty((len(query), 2), np.int64)
    for side, k in enumerate(rng.choice(len(others), 2, replace=False)):
        score = judges[others[k]] + NOISE * rng.normal(size=frame.height)
        rank[np.lexsort((-score, query)), side] = place + 1
    return GradedPair(query, frame["truth"].to_numpy(), judges[judge], rank)


def grow(keep: Path, chosen: list[str] | None, studies: int, gold: int, whole: int, minutes: float) -> None:
    """Studies that the file does not have yet, one of every judge at once."""
    frame, judges = data()
    new, start = not keep.exists(), time.monotonic()
    there = set() if new else set(pl.read_csv(keep, columns=["judge", "seed"]).rows())
    with keep.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(("judge", "seed", "way", "held", "half"))
        for seed in range(studies):
            names = [name for name in (chosen or judges) if (name, seed) not in there]
            # Other runs and other gold labels for every judge: studies of one seed would go right or wrong together.
            seeds = [1000 * seed + list(judges).index(name) for name in names]
            pairs = [pair(frame, judges, name, one) for name, one in zip(names, seeds, strict=True)]
            rows: list[tuple[Any, ...]] = []
            for place, measure, truth, ways in (
                studies_at_once(pairs, ("nDCG@10", "DCG@10"), gold, seeds) if names else ()
            ):
                for way in ("calibrated", "as is"):
                    if way in ways:
                        called = measure if way == "calibrated" else f"{measure} {way}"
                        rows += _row(names[place], seed, called, ways[way], truth)
            for name, study, one in zip(names, pairs, seeds, strict=True) if seed < whole else ():
                for measure, truth, estimate in by_queries(study, ("nDCG@10",), gold, one):
                    rows += _row(name, seed, f"{measure} whole", estimate, truth)
            writer.writerows(rows)
            file.flush()
            if time.monotonic() - start > 60 * minutes:
                break


def _row(judge: str, seed: int, way: str, estimate: Either, truth: float) -> list[tuple[Any, ...]]:
    low, high = interval(estimate, True)
    return [] if low is None or high is None else [(judge, seed, way, int(low <= truth <= high), (high - low) / 2)]


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
            half[way] = float(got["half"].median()) if got.height else np.nan
            line += f"{got['held'].mean() if got.height else np.nan:>9.3f} {half[way]:>8.4f}"
        held = mine.filter(pl.col("way") == WAYS[0])["held"]
        p = binomtest(int(held.sum()), len(held), 0.95, "less").pvalue
        ratios = f"{half[WAYS[1]] / half[WAYS[2]]:>14.2f}{half[WAYS[0]] / half[WAYS[3]]:>15.2f}"
        print(f"{judge:<24}{len(held):>8}{line}{ratios}{p:>8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="the file of the rows")
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--gold", type=int, default=200)
    parser.add_argument("--whole", type=int, default=10**9, help="whole queries in the first so many studies only")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the rest later")
    parser.add_argument("--judges", nargs="*", default=None)
    parser.add_argument("--table", action="store_true", help="only the table of what is there")
    asked = parser.parse_args()
    if not asked.table:
        grow(asked.keep, asked.judges, asked.studies, asked.gold, asked.whole, asked.minutes)
    show(asked.keep)


if __name__ == "__main__":
    main()
