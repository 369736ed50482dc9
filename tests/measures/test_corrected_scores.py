"""With gold labels, the corrected score is the score, and the uncorrected one stands beside it, in every form."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.measures.scores import Scores
from karat.simulate.graded_pair import graded_pair

QUERIES, DEPTH = 20, 10


def judged(relevant: int) -> dict[str, dict[str, int]]:
    """The same grades in every query: the first documents are relevant."""
    return {f"q{q}": {f"d{d}": int(d < relevant) for d in range(DEPTH)} for q in range(QUERIES)}


def gold_rows(relevant: int) -> list[dict[str, object]]:
    return [
        {"query": query, "doc": doc, "label": grade, "probability": 1.0}
        for query, docs in judged(relevant).items()
        for doc, grade in docs.items()
    ]


RUN = {f"q{q}": {f"d{d}": 20.0 - d for d in range(DEPTH)} for q in range(QUERIES)}


@pytest.fixture(scope="module")
def scores() -> Scores:
    """The judge calls every document relevant; gold labels say three of ten."""
    return kt.score(judged(10), {"mine": RUN}, ["P@10", "AP", "Judged@10"], gold=gold_rows(3), draws=200)


def test_the_corrected_score_is_the_value_in_frames(scores: Scores) -> None:
    row = scores.to_frame().row(0, named=True)
    assert row["value"] == pytest.approx(0.3)
    assert row["uncorrected"] == 1.0
    assert row["n_gold"] == QUERIES * DEPTH


def test_a_score_that_cannot_be_corrected_has_no_value() -> None:
    gold = [row for row in gold_rows(3) if row["doc"] in ("d0", "d5")]
    frame = kt.score(judged(10), RUN, ["AP"], gold=[row | {"probability": 0.2} for row in gold]).to_frame()
    assert math.isnan(frame["value"][0])
    assert frame["uncorrected"][0] == 1.0
    assert "whole queries" in frame["reason"][0]


def test_measures_without_label_errors_stay_as_they_are(scores: Scores) -> None:
    row = scores.to_frame().row(2, named=True)
    assert (row["measure"], row["value"], row["n_gold"], row["reason"]) == ("Judged@10", 1.0, 0, "")


def test_json_has_both_scores(scores: Scores) -> None:
    score = json.loads(json.dumps(scores.to_dict()))["systems"][0]["scores"]["P@10"]
    assert score["value"] == pytest.approx(0.3)
    assert score["uncorrected"]["value"] == 1.0


def test_the_sentence_and_repr_begin_with_the_corrected_score(scores: Scores) -> None:
    assert scores.finding.startswith("mine has P@10 0.3")
    assert "corrected with 200 gold labels; uncorrected 1.0" in scores.finding
    assert "P@10 0.3" in repr(scores).splitlines()[1]


def test_markdown_latex_and_notebooks_have_both_scores(scores: Scores) -> None:
    markdown = scores.to_markdown()
    assert "| P@10 | P@10 uncorrected |" in markdown
    assert "| 0.3" in markdown
    latex = scores.to_latex()
    assert "P@10 & P@10, uncorrected" in latex
    assert "P@10 uncorrected</th>" in scores._repr_html_()


def test_plots_have_both_scores(scores: Scores) -> None:
    drawn = json.dumps(scores.plot().to_dict())
    assert "P@10, mine, corrected" in drawn
    assert "P@10, mine, uncorrected" in drawn


def test_systems_are_ranked_by_corrected_scores() -> None:
    """The judge calls what only "liked" retrieves relevant, and gold labels say that none of it is."""
    labels = {q: {**{f"g{d}": 1 for d in range(3)}, **{f"b{d}": 1 for d in range(5)}} for q in RUN}
    truth = {q: {doc: int(doc.startswith("g")) for doc in docs} for q, docs in labels.items()}
    rows = [
        {"query": q, "doc": d, "label": g, "probability": 1.0} for q, docs in truth.items() for d, g in docs.items()
    ]
    liked = {q: {f"b{d}": 9.0 - d for d in range(5)} for q in RUN}
    right = {q: {f"g{d}": 9.0 - d for d in range(3)} for q in RUN}
    found = kt.score(labels, {"liked": liked, "right": right}, "P@5", gold=rows, draws=200)
    assert found.best_first() == ["right", "liked"]
    assert "right has the highest P@5" in found.finding
    assert "Uncorrected labels favour liked (1.0" in found.finding


def test_fixed_queries_leave_only_the_gold_sample_to_chance() -> None:
    """All documents have a gold label: on these queries nothing is random, however much queries differ."""
    labels = {f"q{q}": {f"d{d}": int(d < q % 10) for d in range(DEPTH)} for q in range(QUERIES)}
    rows = [
        {"query": q, "doc": d, "label": g, "probability": 1.0} for q, docs in labels.items() for d, g in docs.items()
    ]
    sampled = kt.score(judged(10), RUN, "P@10", gold=rows).to_frame().row(0, named=True)
    fixed = kt.score(judged(10), RUN, "P@10", gold=rows, queries="fixed").to_frame().row(0, named=True)
    assert sampled["value"] == fixed["value"] == pytest.approx(0.45)
    assert sampled["high"] - sampled["low"] > 0.2
    assert math.isnan(fixed["low"])
    assert math.isnan(fixed["uncorrected_low"])


def test_fixed_queries_without_gold_labels_are_refused() -> None:
    with pytest.raises(kt.BadInput, match="gold="):
        kt.score(judged(10), RUN, "P@10", queries="fixed")


def test_a_uniform_sample_is_not_said_to_be_drawn_for_pairs() -> None:
    """Gold labels drawn uniformly from what is retrieved: nDCG lacks those of the ideal ranking, and that is said."""
    labels = {q: docs | {f"x{n}": 1 for n in range(10)} for q, docs in judged(6).items()}
    gold = [row | {"probability": 0.5} for n, row in enumerate(gold_rows(3)) if n % 2]
    reason = kt.score(labels, RUN, "nDCG@10", gold=gold).to_frame()["reason"][0]
    assert "ideal ranking" in reason
    assert "compare systems" not in reason
    assert "--" not in reason


@pytest.mark.parametrize("measure", ["P@10", "DCG@10"])
def test_each_score_is_corrected_over_its_own_queries(measure: str) -> None:
    """A system's corrected score does not depend on which queries another system misses."""
    study = graded_pair(60, shift=1.0, seed=4)
    labels, runs = study.judgments(), study.runs()
    names = labels.frame["query"].unique().sort().to_list()
    cut = [runs[0], runs[1].frame.filter(~pl.col("query").is_in(names[:15]))]
    size = labels.frame.height
    gold = study.gold(np.random.default_rng(1).random(size) < 0.4, np.full(size, 0.4))
    both = kt.score(labels, cut, measure, gold=gold, draws=0)
    assert both.means["n"].to_list() == both.uncorrected_means["n"].to_list() == [60, 45]
    alone = [kt.score(labels, one, measure, gold=gold, draws=0).means["value"][0] for one in cut]
    assert both.means["value"].to_list() == pytest.approx(alone)
