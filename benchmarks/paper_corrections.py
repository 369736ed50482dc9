"""Goldberg et al.'s corrections on real labels: how often do their intervals hold a true difference in P@10?

    python benchmarks/paper_corrections.py [--studies 99] [--gold 300]

The labels are those of `llm_judges.py`: NIST's are the truth, each study takes one LLM's as the bronze judge, makes two
runs of two other LLMs' labels plus noise, draws gold labels uniformly from the passages that either run shows, and
asks for the difference in P@10 (grade 2 and above) on these 25 queries by every method. A row for each method: how
often its 95 % interval held the truth, and its median half-width.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import polars as pl

import karat as kt
from llm_judges import data, pair

METHODS = ("plain", "inversion-independent", "inversion", "ppi")


def studied(frame: pl.DataFrame, judges: dict[str, np.ndarray], judge: str, seed: int, gold: int) -> pl.DataFrame:
    """What every method says of one study: method, whether its interval held the truth, and its half-width."""
    graded = pair(frame, judges, judge, seed)
    made = replace(graded, truth=(graded.truth >= 2).astype(float), label=(graded.label >= 2).astype(float))
    rng, shown = np.random.default_rng(seed), (made.rank <= 10).any(axis=1)
    drawn = np.zeros(len(shown), bool)
    drawn[rng.choice(np.flatnonzero(shown), min(gold, int(shown.sum())), replace=False)] = True
    known = made.gold(drawn, np.full(len(shown), drawn.sum() / shown.sum()))
    truth = kt.compare(made.judgments(made.truth), made.runs(), "P@10", draws=100).methods["difference"][0]
    found = kt.compare(made.judgments(), made.runs(), "P@10", gold=known, draws=100, queries="fixed").methods
    held = (pl.col("low") <= truth) & (pl.lit(truth) <= pl.col("high"))
    return found.select("method", held=held, half=(pl.col("high") - pl.col("low")) / 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=99)
    parser.add_argument("--gold", type=int, default=300)
    asked = parser.parse_args()
    frame, judges = data()
    names = sorted(judges)
    parts = [studied(frame, judges, names[seed % len(names)], seed, asked.gold) for seed in range(asked.studies)]
    known = pl.concat(parts).drop_nulls().filter(pl.col("half").is_not_nan())
    table = known.group_by("method").agg(studies=pl.len(), held=pl.col("held").mean(), half=pl.col("half").median())
    for row in sorted(table.to_dicts(), key=lambda row: METHODS.index(row["method"])):
        print(f"| {row['method']} | {row['held']:.3f} | {row['half']:.3f} | {row['studies']} |")


if __name__ == "__main__":
    main()
