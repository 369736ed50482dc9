"""How often a 95 % bootstrap interval holds the true mean: python benchmarks/coverage.py [--studies 4000]."""

from __future__ import annotations

import argparse

import numpy as np

from karat.stats import mean_intervals

SEED = 20


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--studies", type=int, default=4000)
    studies = arguments.parse_args().studies
    rng = np.random.default_rng(SEED)
    print(f"{studies} studies a cell, 1,000 draws each, seed {SEED}\n")
    print("| queries | near 0, as AP | in steps, as P@10 |\n|---|---|---|")
    for n in (10, 25, 50, 200):
        skewed = rng.beta(0.6, 1.8, (n, studies))
        steps = rng.binomial(10, rng.beta(0.8, 1.6, (n, studies))) / 10
        held = []
        for values, truth in ((skewed, 0.25), (steps, 0.8 / 2.4)):
            # Each column is a study; the same draws serve all columns, which the studies' independence allows.
            parts = [mean_intervals(values[:, s : s + 100], seed=s) for s in range(0, studies, 100)]
            low, high = (np.concatenate(ends) for ends in zip(*parts, strict=True))
            held.append(float(np.mean((low <= truth) & (truth <= high))))
        print(f"| {n} | {held[0]:.3f} | {held[1]:.3f} |")


if __name__ == "__main__":
    main()
