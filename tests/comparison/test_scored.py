"""Scores that are there already give the verdict that labels and runs give."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt
from karat.comparison import compare_scores
from karat.errors import BadInput

LABELS = {f"q{i}": {"good": 1, "fair": i % 2, "bad": 0} for i in range(24)}
A = {f"q{i}": {"good": 1.0, "fair": 2.0 + i % 3, "bad": 1.5} for i in range(24)}
B = {f"q{i}": {"good": 3.0, "fair": 2.0, "bad": 1.0 if i % 5 else 4.0} for i in range(24)}


def test_the_verdict_is_that_of_labels_and_runs() -> None:
    runs = {"a": A, "b": B}
    wanted = kt.compare(LABELS, runs, "nDCG@3", seed=3)
    found = compare_scores(kt.score(LABELS, runs, ["P@1", "nDCG@3"]), "nDCG@3", seed=3)
    assert (found.finding, found.verdict, found.reason) == (wanted.finding, wanted.verdict, wanted.reason)
    assert found.pairs.equals(wanted.pairs)
    assert found.by_query.equals(wanted.by_query)
    assert wanted.tests is not None
    assert found.tests is not None
    assert found.tests.equals(wanted.tests)


def test_what_cannot_be_compared_is_said() -> None:
    scores = kt.score(LABELS, {"a": A, "b": B}, ["P@1"])
    with pytest.raises(BadInput, match=r"a measure of the scores \(P@1\), found AP"):
        compare_scores(scores, "AP")
    with pytest.raises(BadInput, match="two systems or more"):
        compare_scores(kt.score(LABELS, A, ["P@1"]))
    one = kt.Scores.of_queries(pl.DataFrame({"system": ["a", "b"], "query": ["q", "q"], "P@1": [0.0, 1.0]}), ["P@1"])
    assert compare_scores(one).verdict == "cannot say"
