"""Each run left out in turn: what only it had judged is gone, and its score is off by that."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt
from karat.errors import BadInput
from karat.simulate import context_study
from karat.users import reuse

#: Two lists of three; c is of one alone, d of two alone; b after a is in both, in other places.
RUNS = {"one": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "two": {"q": {"a": 3.0, "d": 2.0, "b": 1.0}}}
ROWS = [
    *[{"query": "q", "doc": doc, "label": label} for doc, label in (("a", 2), ("b", 2), ("c", 1), ("d", 1))],
    {"query": "q", "doc": "b", "label": 1, "context": "a"},
    {"query": "q", "doc": "c", "label": 0, "context": "b"},
    {"query": "q", "doc": "d", "label": 0, "context": "a"},
    {"query": "q", "doc": "b", "label": 2, "context": "d"},
]


def test_a_small_study_by_hand() -> None:
    found = reuse(ROWS, RUNS, "CG(context=1)@3", sources=["judged", "backed off"])
    told = {(row["source"], row["system"]): row for row in found.frame.iter_rows(named=True)}
    # With all labels: one has 2 + 1 + 0, two has 2 + 0 + 2.
    assert [told["judged", name]["score"] for name in ("one", "two")] == [3.0, 4.0]
    # Without one, c and c after b are gone; b after a stays, as two has both: 2 + 1 + nothing.
    assert told["judged", "one"]["reused"] == 3.0
    # Without two, d is gone with both labels in context that it is in: 2 + nothing, and b keeps its own 2.
    assert told["judged", "two"]["reused"] == 4.0
    # Backed off, b after d is b after the first, which stays: 2 + nothing + 1.
    assert told["backed off", "two"]["reused"] == 3.0
    assert told["backed off", "two"]["off"] == -1.0
    assert (told["backed off", "two"]["rank"], told["backed off", "two"]["reused_rank"]) == (1, 1)
    assert told["judged", "one"]["tau"] == 1.0
    assert "without one 2 labels of 8 would not have been given" in found.notes
    assert "without two 3 labels of 8 would not have been given" in found.notes


def test_a_run_that_brings_nothing_new_is_scored_as_before() -> None:
    study = context_study(seed=1, queries=15)
    best = study.runs.frame.filter(pl.col("system") == "better")
    twins = pl.concat([best, best.with_columns(system=pl.lit("twin"))])
    found = reuse(study.judgments, twins, depth=5).frame
    assert found["off"].abs().max() == 0
    assert found["source"].unique(maintain_order=True).to_list() == ["judged", "backed off", "predicted"]


def test_a_run_with_documents_of_its_own_loses_them() -> None:
    """Nobody else shows them: what is off is the worth of the documents that only the run left out has."""
    study = context_study(seed=1, queries=30, scheme="pairs", spam=0.0)
    found = reuse(study.judgments, study.runs, "CG(context=0)@5", sources=["judged"], depth=5)
    shown = study.runs.frame.filter(pl.col("score").rank("ordinal", descending=True).over("system", "query") <= 5)
    alone = kt.consensus(study.judgments).frame.filter(pl.col("context").is_null()).select("query", "doc", "label")
    for row in found.frame.iter_rows(named=True):
        mine = shown.filter(pl.col("system") == row["system"])
        others = shown.filter(pl.col("system") != row["system"])
        lost = mine.join(others, on=["query", "doc"], how="anti").join(alone, on=["query", "doc"])
        assert lost.height
        assert row["off"] == pytest.approx(-lost["label"].sum() / 30)


def test_one_run_has_nothing_to_be_left_out_of() -> None:
    with pytest.raises(BadInput, match="two or more"):
        reuse(ROWS, {"one": RUNS["one"]})
