"""Scores corrected for judges' errors, where the truth is known: python benchmarks/corrected.py [--studies 20000]."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from karat.simulate.noisy_judges import bronze_scores
from karat.stats.rogan_gladen import corrected, corrected_parts, half_width, lang_reiczigel

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from noisy_pairs import bronze_pairs

SEED = 1


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--studies", type=int, default=20_000)
    studies = arguments.parse_args().studies
    print(f"{studies} studies a cell, seed {SEED}\n")
    algorithm_2(studies)
    intervals(studies)
    tests(studies)


def algorithm_2(studies: int) -> None:
    found = bronze_scores(studies=studies, seed=SEED)
    print("| Algorithm 2 | mean | spread | mean error | 95 % interval holds 0.4 |\n|---|---|---|---|---|")
    for row in found.summary().frame.iter_rows(named=True):
        print(
            f"| {row['score']} | {row['mean']:.3f} | {row['sd']:.4f} | {row['mean_error']:.4f} | {row['covered']:.3f} |"
        )
    ten = found.frame.with_columns(naive_error=pl.col("naive_error") * (found.queries / 10) ** 0.5)
    held = replace(found, frame=ten).covered("naive")
    print(f"| naive, divided by the root of 10 | | | | {held:.3f} |\n")


def intervals(studies: int) -> None:
    rng = np.random.default_rng(SEED)
    print(
        "| true P@1 | queries | relevant gold | other gold | normal | Lang and Reiczigel |\n|---|---|---|---|---|---|"
    )
    for truth, n, right, n_right, other, n_other in (
        (0.4, 50, 0.90, 250, 0.80, 250),
        (0.8, 10_000, 0.73, 59, 0.80, 84),
        (0.4, 500, 0.90, 30, 0.80, 30),
        (0.1, 500, 0.90, 30, 0.95, 30),
        (0.05, 500, 0.90, 100, 0.95, 100),
    ):
        score = rng.binomial(n, truth * right + (1 - truth) * (1 - other), studies) / n
        r, q = rng.binomial(n_right, right, studies) / n_right, rng.binomial(n_other, other, studies) / n_other
        parts = corrected_parts(score, score * (1 - score) / n, r, q, r * (1 - r) / n_right, q * (1 - q) / n_other)
        half = half_width(np.sqrt(np.asarray(sum(parts))), 0.95)
        normal = np.mean(np.abs(np.asarray(corrected(score, r, q)) - truth) <= half)
        low, high = lang_reiczigel(score, n, r, n_right, q, n_other)
        better = np.mean((np.asarray(low) <= truth) & (truth <= np.asarray(high)))
        gold = f"{right:.0%} of {n_right} | {other:.0%} of {n_other}".replace("%", " %")
        print(f"| {truth} | {n:,} | {gold} | {normal:.3f} | {better:.3f} |")
    print()


def tests(studies: int) -> None:
    print("| true difference | queries | gold | rejects: naive | independent | shared | shared covers |")
    print("|---|---|---|---|---|---|---|")
    for queries, gold in (((10_278, 20_604), (59, 84)), ((100, 100), (150, 150)), ((400, 400), (300, 300))):
        for difference in (0.0, 0.02, 0.1):
            frame = bronze_pairs(
                0.7,
                difference,
                queries=queries,
                n_relevant=gold[0],
                n_nonrelevant=gold[1],
                studies=studies,
                seed=SEED,
            )
            rejected = " | ".join(f"{share:.3f}" for share in frame["rejected"])
            sizes = f"{queries[0]:,} and {queries[1]:,} | {gold[0]} and {gold[1]}"
            print(f"| {difference:g} | {sizes} | {rejected} | {frame['covered'][2]:.3f} |")


if __name__ == "__main__":
    main()
