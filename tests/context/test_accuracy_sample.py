"""Judges are a sample: intervals of how often labels in context are told right hold for judges like these."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.context import context_accuracy
from karat.context.document_pairs import Graded
from karat.context.predictors import PREDICTORS, fit, parts
from karat.records import Judgments
from karat.stats.arrays import Floats, Ints
from simulated import about, studies

#: Documents of a query besides the first of its list and another, `x`, that they are read after.
DOCS = 4
LIKE_THESE = "intervals are about judges like these and queries like these"


def study(seed: int, *, judges: int = 10, queries: int = 40, apart: bool = True) -> Judgments:
    """A judge for each query, who says after `x` what he said alone as often as what he said after the first.

    How often he does so is his habit (`apart`), or the query's nature.
    """
    rng = np.random.default_rng(seed)
    judge = rng.permutation(np.arange(queries) % judges)
    keeps = rng.beta(7, 3, (judges if apart else queries, 2))[judge if apart else np.arange(queries)]
    truth = rng.integers(0, 5, (queries, DOCS, 1))
    up = rng.random((queries, DOCS, 2)) < 0.5
    other = np.where(truth == 0, 1, np.where(truth == 4, 3, np.where(up, truth + 1, truth - 1)))
    answers = np.where(rng.random((queries, DOCS, 2)) < keeps[:, None], truth, other)
    labels = np.concatenate([answers, truth], axis=2).reshape(-1)
    query = np.arange(queries)
    docs = pl.DataFrame({"query": np.repeat(query, DOCS * 3), "doc": np.tile(np.repeat(np.arange(DOCS), 3), queries)})
    docs = docs.with_columns(pl.format("d{}", "doc").alias("doc"), label=pl.Series(labels))
    docs = docs.with_columns(context=pl.Series([None, "first", "x"] * (DOCS * queries)))
    alone = pl.DataFrame({"query": np.repeat(query, 2), "doc": ["first", "x"] * queries, "label": 2})
    whole = pl.concat([docs, alone.cast({"label": pl.Int64})], how="diagonal")
    who = pl.Series(judge)[whole["query"]]
    return Judgments.of(
        whole.with_columns(pl.format("q{}", "query").alias("query"), pl.format("j{}", who).alias("judge"))
    )


def _pairs(judgments: Judgments) -> tuple[Floats, Ints, Ints]:
    """The two grades of each judged pair, the grade in context, and the query, by number."""
    pairs = Graded.of(judgments).training()
    query = pairs["query"].rank("dense").cast(pl.Int64).to_numpy() - 1
    return pairs.select("alone", "above").to_numpy(), pairs["grade"].cast(pl.Int64).to_numpy(), query


@pytest.mark.evidence
def test_intervals_hold_what_the_models_tell_of_all_judges_like_these() -> None:
    everybody, said, _ = _pairs(study(10_001, judges=300, queries=900))
    held, seeds, folds = 0, studies(3, 200), 3
    for seed in seeds:
        judgments = study(seed)
        x, y, query = _pairs(judgments)
        fold = parts(query, folds, seed=0)
        learnt = [
            fit(PREDICTORS["grades"], x[rest], y[rest], query[rest], 5, temperature=1.0)
            for rest in (fold != number for number in range(folds))
        ]
        truth = np.mean([model.probabilities(everybody).argmax(axis=1) == said for model in learnt])
        told = context_accuracy(judgments, folds=folds).frame.row(0, named=True)
        held += told["low"] <= truth <= told["high"]
    assert held / len(seeds) == about(0.95, len(seeds), off=0.015)


def test_judges_who_differ_make_intervals_wider_than_queries_alone() -> None:
    judgments = study(3)
    ours = context_accuracy(judgments)
    these = context_accuracy(Judgments.of(judgments.frame.drop("judge")))
    (one, low, high), (other, low_these, high_these) = (
        found.frame.select("accuracy", "low", "high").row(0) for found in (ours, these)
    )
    assert one == other
    assert high - low > 1.2 * (high_these - low_these)
    assert LIKE_THESE in ours.notes
    assert (
        "intervals are about these judges: fewer than 5 with names do not tell what others like them do" in these.notes
    )


def test_whoever_graded_a_document_alone_or_the_one_above_has_a_part_in_the_pair() -> None:
    """By hand: b after a was graded by eve, b alone by bob, a alone by ann and again by eve."""
    rows = [
        ("a", None, "ann"),
        ("a", None, "eve"),
        ("b", None, "bob"),
        ("b", "a", "eve"),
        ("c", None, "ann"),
        ("c", "a", "tom"),
        ("d", None, "joe"),
        ("d", "a", "joe"),
    ]
    given = Graded.of([{"query": "q", "doc": d, "context": c, "judge": j, "label": 1} for d, c, j in rows])
    judged = given.judged(given.training())
    assert judged is not None
    # Judges by name: ann 0, bob 1, eve 2, joe 3, tom 4. Pairs: b, c and d after a.
    assert list(zip(*(part.tolist() for part in judged), strict=True)) == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 2),
        (1, 4),
        (2, 0),
        (2, 2),
        (2, 3),
    ]
