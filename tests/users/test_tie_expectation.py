"""Expected scores of rankings with ties: what random orders give on average, exactly."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.users.measure_robustness import tied_gap, tied_ndcg

#: What each level is worth, lowest first.
WORTH = np.array([0.0, 0.25, 1.0])


@pytest.mark.parametrize("seed", range(8))
def test_the_mean_over_all_orders_of_tied_documents(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranked, judged = rng.integers(0, 3, 6), rng.integers(0, 3, 6)
    judged[0] = 2  # something has to count
    table = np.zeros((1, 3, 3))
    np.add.at(table, (0, 2 - ranked, judged), 1)
    labels = {"q": {str(doc): int(label) for doc, label in enumerate(judged)}}
    orders = [order for order in permutations(range(6)) if (np.diff(ranked[list(order)]) <= 0).all()]
    runs = {
        str(place): {"q": {str(doc): float(6 - rank) for rank, doc in enumerate(order)}}
        for place, order in enumerate(orders)
    }
    gains = "{0:0,1:0.25,2:1}"
    measures = ["AP(rel=2)", f"GAP(gains={gains})", f"nDCG(gains={gains})", f"nDCG(gains={gains},discount='zipf')"]
    scores = kt.score(labels, runs, measures, draws=0).means
    mean = scores.group_by("measure", maintain_order=True).agg(pl.col("value").mean())["value"]
    found = [
        tied_gap(table, np.array([0.0, 0.0, 1.0])),
        tied_gap(table, WORTH),
        tied_ndcg(table, WORTH),
        tied_ndcg(table, WORTH, "zipf"),
    ]
    assert [float(value[0]) for value in found] == pytest.approx(mean.to_list())


def test_a_list_with_nothing_that_counts_has_no_score() -> None:
    table = np.array([[[3.0, 0.0], [2.0, 0.0]]])
    assert np.isnan(tied_gap(table, np.array([0.0, 1.0]))).all()
    assert np.isnan(tied_ndcg(table, np.array([0.0, 1.0]))).all()
