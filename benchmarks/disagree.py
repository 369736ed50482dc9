"""How long the disagreement model takes on as many labels as the paper's data: python benchmarks/disagree.py.

98,453 labels by 766 judges of 20,232 documents for 100 queries, made with seed 4; p with 1,000 bootstrap draws, both
models, and the experimental values of five pairs (M, N). As a ratio to reading the same labels from CSV with Polars.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl

from karat.judges import disagreement
from karat.records import Judgments

LABELS, DOCS, JUDGES, QUERIES = 98_453, 20_232, 766, 100
PAIRS = [(1, 2), (1, 3), (2, 3), (2, 4), (2, 5)]


def main() -> None:
    rng = np.random.default_rng(4)
    doc = rng.integers(0, DOCS, LABELS)
    top = rng.random(LABELS) < rng.beta(1.5, 3.5, DOCS)[doc]
    frame = pl.DataFrame(
        {
            "query": [f"q{d % QUERIES}" for d in doc],
            "doc": [f"d{d}" for d in doc],
            "label": np.where(top, 2.0, rng.integers(0, 2, LABELS)),
            "judge": [f"w{j}" for j in rng.integers(0, JUDGES, LABELS)],
        }
    )
    text = frame.write_csv().encode()
    start = time.perf_counter()
    pl.read_csv(text)
    reading = time.perf_counter() - start
    judgments = Judgments.of(frame)
    start = time.perf_counter()
    model = disagreement(judgments, 2, draws=1000)
    model.table(PAIRS)
    _ = model.intervals
    took = time.perf_counter() - start
    print(
        f"{LABELS:,} labels, 1,000 draws, {len(PAIRS)} pairs (M, N): {took:.2f} s, {took / reading:.0f} x reading them"
    )


if __name__ == "__main__":
    main()
