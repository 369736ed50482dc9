"""How narrow could an interval be? What is left of NIST's grades after the best use of an LLM's labels.

    python benchmarks/llm_limits.py [--studies 3] [--gold 200]

The studies of `llm_judges.py`: two runs, a judge, documents drawn for gold labels by how differently the runs weigh
them for DCG@10. An interval for these queries is as wide as the root of the mean of weight^2 (1/chance - 1) (grade -
prediction)^2. As NIST's labels of all documents are known, so is that sum, for any prediction: labels as they are,
weighed as best can be; calibrated on the gold labels drawn; and least squares on all of NIST's labels, which no sample
can beat. Printed is the median over studies of the width by that of the label weighed.
"""

from __future__ import annotations

import argparse

import numpy as np

from karat.correction.calibration import calibrate
from karat.stats.sampling import draw, inclusion_probabilities
from llm_judges import data, pair


def widths(
    truth: np.ndarray, label: np.ndarray, others: np.ndarray, query: np.ndarray, rank: np.ndarray, n: int, seed: int
) -> dict[str, float]:
    weight = np.where(rank <= 10, 1 / np.log2(rank + 1.0), 0.0)
    apart = np.abs(weight[:, 1] - weight[:, 0])
    counts = apart > 0
    chance = inclusion_probabilities(apart, n, floor=np.where(counts, 0.2 * n / counts.sum(), 0.0))
    square = np.where(counts, apart**2 * (1 / np.maximum(chance, 1e-9) - 1), 0.0)
    drawn = draw(chance, seed=seed)
    gold, high = np.where(drawn, truth, np.nan), np.log(rank).mean(axis=1)

    def left(predicted: np.ndarray, rows: np.ndarray = counts, by: np.ndarray = square) -> float:
        return float(np.sqrt((by[rows] * (truth - predicted)[rows] ** 2).sum()))

    def fitted(*columns: np.ndarray) -> np.ndarray:
        x = np.column_stack(columns)
        weighed = x.T * square
        return x @ np.linalg.lstsq(weighed @ x, weighed @ truth, rcond=None)[0]

    best = float((square * label * truth).sum() / (square * label**2).sum()) * label
    queries = np.eye(int(query.max()) + 1)[query]
    levels = (label[:, None] == np.unique(label)).astype(float)
    found = {
        "gold labels alone": left(np.zeros(len(truth))) / left(best),
        "label as it is, not weighed": left(label) / left(best),
        "all gold: label, rank": left(fitted(np.ones(len(truth)), label, high)) / left(best),
        "all gold: label, rank, query": left(fitted(queries, levels, high)) / left(best),
        "all gold: label, rank, query, slope of each query": left(fitted(queries, queries * label[:, None], high))
        / left(best),
        "all gold: label, rank, query, other judges' mean": left(fitted(queries, label, high, others)) / left(best),
    }
    # What was not drawn has not been seen by the fit, and stands for all.
    rest = counts & ~drawn
    by = square / np.maximum(1 - chance, 1e-9)
    for name, columns in (("", (label, high)), (", other judges' mean", (label, high, others))):
        made = calibrate(gold, np.column_stack(columns), query)
        expected = made.expected(made.grades)
        found[f"calibrated on {n} gold labels: label, rank, query{name}"] = left(expected, rest, by) / left(
            best, rest, by
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=3)
    parser.add_argument("--gold", type=int, default=200)
    asked = parser.parse_args()
    frame, judges = data()
    rows: list[dict[str, float]] = []
    for seed in range(asked.studies):
        for place, name in enumerate(judges):
            study = pair(frame, judges, name, 1000 * seed + place)
            others = np.mean([labels for other, labels in judges.items() if other != name], axis=0)
            rows.append(
                widths(study.truth, study.label, others, study.query, study.rank, asked.gold, 1000 * seed + place)
            )
    for name in rows[0]:
        print(f"{np.median([row[name] for row in rows]):.2f}  {name}")


if __name__ == "__main__":
    main()
