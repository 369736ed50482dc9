"""Studies to score by karat and by another tool, and how they are compared."""

from __future__ import annotations

import numpy as np

import karat as kt

Labels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def many(seed: int, queries: int = 3000) -> tuple[Labels, Run]:
    """A study of thousands of queries with ties, labels below 0 and queries that only one side knows."""
    rng = np.random.default_rng(seed)
    docs = [f"d{n}" for n in range(14)] + ["D", "d\u00e9", "d1x"]

    def some(most: int, low: int, high: int) -> dict[str, dict[str, int]]:
        known = (f"q{n}" for n in range(queries) if rng.random() < 0.8)
        chosen = ((query, rng.permutation(docs)[: rng.integers(1, most + 1)]) for query in known)
        return {
            query: dict(zip(map(str, d), rng.integers(low, high, len(d)).tolist(), strict=True)) for query, d in chosen
        }

    labels = {q: given for q, given in some(12, -2, 4).items() if max(given.values()) >= 0}
    return labels, {q: {d: s / 2 for d, s in scores.items()} for q, scores in some(14, -3, 7).items()}


def per_query(scores: kt.Scores) -> dict[str, dict[str, float]]:
    """Each query's values by measure."""
    queries: dict[str, dict[str, float]] = scores.to_dict(by_query=True)["systems"][0]["queries"]
    return queries


def assert_same(theirs: dict[str, dict[str, float]], ours: dict[str, dict[str, float]], names: dict[str, str]) -> None:
    """Fail where a query's values differ by more than 1e-9; `names` are theirs and ours."""
    assert set(theirs) == set(ours)
    off = [
        (query, our_name, values[their_name], ours[query][our_name])
        for query, values in theirs.items()
        for their_name, our_name in names.items()
        if not abs(ours[query][our_name] - values[their_name]) <= 1e-9
    ]
    assert not off
