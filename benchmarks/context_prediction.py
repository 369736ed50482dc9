"""How often intervals of scores by predicted labels in context hold the truth, over simulated studies.

    python benchmarks/context_prediction.py --studies 300 --first 20000 --judged 15 --redraws 20

The study is that of tests/context/test_prediction_error.py: 120 queries, all documents judged alone, some queries in
context, too, from which a model that is right in form predicts the rest. Its scores are added up here without karat's
frames, which takes a fifth of the time; predictions, draws, covariance and degrees of freedom are karat's.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

sys.path += [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "context")]
from test_prediction_error import DOCS, ORDERS, QUERIES, study, worth

from karat.comparison.comparer import both_df
from karat.context.predictors import PREDICTORS, fit, redrawn
from karat.measures.estimated_inputs import prediction_covariance

AFTER = [(d, 0) for d in range(1, DOCS)] + [(0, DOCS - 1)]
GRADES = PREDICTORS["grades"]


def off_and_covered(seed: int, judged: int, redraws: int, value: str, truth: np.ndarray) -> list[list[float]]:
    """For each system and for their difference: how far off, the standard error, and whether 95 % hold the truth."""
    alone, given = study(seed)
    known = np.zeros((QUERIES, DOCS, DOCS), bool)
    for doc, above in AFTER:
        known[:judged, doc, above] = True
    at = np.argwhere(known)
    wanted = np.unique(
        [(q, d, c) for order in ORDERS.values() for c, d in pairwise(order) for q in range(QUERIES)], axis=0
    )
    x, new = (np.stack([alone[t[:, 0], t[:, 1]], alone[t[:, 0], t[:, 2]]], 1).astype(float) for t in (at, wanted))
    grades, y = np.unique(given[known], return_inverse=True)
    grades = grades.astype(float)
    model = fit(GRADES, x, y, at[:, 0], len(grades), seed=seed)
    told = model.probabilities(new) @ grades if value == "expected" else grades[model.likeliest(new)]
    drawn = redrawn(GRADES, x, y, at[:, 0], new, grades, model.calibration.temperature, redraws, seed)

    def scores(labels: np.ndarray) -> np.ndarray:
        all_of = np.zeros(known.shape)
        all_of[tuple(wanted.T)] = labels
        all_of = np.where(known, given, all_of)
        return np.stack([worth(alone, all_of, order) for order in ORDERS.values()], axis=1)

    values = scores(told)
    more = prediction_covariance(np.array([scores(one).mean(axis=0) for one in drawn]) - values.mean(axis=0), judged)
    covariance = np.cov(values.T) / QUERIES
    df = both_df(covariance, np.full((2, 2), QUERIES - 1.0), more, 1 / (1 / (judged - 1) + 2 / redraws))
    rows = []
    for weights, a, b in (((1, 0), 0, 0), ((0, 1), 1, 1), ((-1, 1), 0, 1)):
        w = np.array(weights, float)
        off, error = w @ (values.mean(axis=0) - truth), np.sqrt(w @ (covariance + more) @ w)
        rows.append([off, error, abs(off) <= stdtrit(df[a, b], 0.975) * error])
    return rows


def main() -> None:
    """Count, and print a line for each system and for the difference."""
    asked = argparse.ArgumentParser()
    for name, default in (("studies", 300), ("first", 20_000), ("judged", 15), ("redraws", 20)):
        asked.add_argument(f"--{name}", type=int, default=default)
    asked.add_argument("--value", default="expected", choices=("expected", "grade"))
    given = asked.parse_args()
    large = study(10**6, 200_000)
    truth = np.array([worth(*large, order).mean() for order in ORDERS.values()])
    found = np.array(
        [
            off_and_covered(seed, given.judged, given.redraws, given.value, truth)
            for seed in range(given.first, given.first + given.studies)
        ]
    )
    print(given)
    for name, (off, error, held) in zip((*ORDERS, "difference"), found.transpose(1, 2, 0), strict=True):
        print(
            f"{name}: held in {held.mean():.3f} of {len(held)}; off by {off.mean():+.3f} in the mean, "
            f"spread {off.std():.3f}, standard error {np.sqrt((error**2).mean()):.3f}"
        )


if __name__ == "__main__":
    main()
