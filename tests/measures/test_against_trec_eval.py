"""Thousands of ranked lists scored by karat and by trec_eval itself (pytrec_eval 0.5): equal to 1e-9.

They come in studies of up to eight queries and of thousands, with ties in score, labels below 0, queries without
relevant documents, queries that only one side knows, and lists shorter than every cutoff.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import example, given, settings
from hypothesis import strategies as st

import karat as kt
from measures_against import Labels, Run, assert_same, many
from measures_against import per_query as values_of
from simulated import studies

NAMES = {
    "P_1": "P@1",
    "P_3": "P@3",
    "P_10": "P@10",
    "recall_2": "R@2",
    "recall_10": "R@10",
    "success_1": "Success@1",
    "success_5": "Success@5",
    "recip_rank": "RR",
    "map": "AP",
    "map_cut_3": "AP@3",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "infAP": "infAP",
    "ndcg": "nDCG",
    "ndcg_cut_1": "nDCG@1",
    "ndcg_cut_3": "nDCG@3",
    "ndcg_cut_10": "nDCG@10",
}
ASKED = {
    "P.1,3,10",
    "recall.2,10",
    "success.1,5",
    "recip_rank",
    "map",
    "map_cut.3",
    "Rprec",
    "bpref",
    "infAP",
    "ndcg",
    "ndcg_cut.1,3,10",
}

QUERIES = st.sampled_from([f"q{n}" for n in range(1, 9)])
DOCS = st.sampled_from([f"d{n}" for n in range(14)] + ["D", "dé", "d1x"])
# Few different scores make many ties; halves are the same number in 32 and 64 bits.
SCORES = st.integers(-3, 6).map(lambda n: n / 2)
LABELS = st.integers(-2, 3)


def oracle_labels(labels: Labels) -> bool:
    # pytrec_eval ends the interpreter on a query whose labels are all below 0.
    return any(max(docs.values()) >= 0 for docs in labels.values())


labels_made = st.dictionaries(QUERIES, st.dictionaries(DOCS, LABELS, min_size=1, max_size=12), min_size=4).map(
    lambda labels: {q: docs for q, docs in labels.items() if max(docs.values()) >= 0}
)
runs_made = st.dictionaries(QUERIES, st.dictionaries(DOCS, SCORES, min_size=1, max_size=14), min_size=4)


def per_query(labels: Labels, run: Run, measures: list[str]) -> dict[str, dict[str, float]]:
    return values_of(kt.score(labels, run, measures, draws=0))


@settings(max_examples=len(studies(32, 240)))
@given(labels_made, runs_made)
@example({"q1": {"d1": 0}}, {"q1": {"d1": 1.0}})
@example({"q1": {"d1": 1, "d2": -1, "d3": 0}}, {"q1": {"d3": 1.0, "d2": 1.0, "d1": 1.0, "d9": 1.0}})
def test_karat_scores_as_trec_eval_does(labels: Labels, run: Run) -> None:
    if not set(labels) & set(run):
        return
    theirs = pytrec_eval.RelevanceEvaluator(labels, ASKED).evaluate(run)
    assert_same(theirs, per_query(labels, run, list(NAMES.values())), NAMES)


@settings(max_examples=len(studies(12, 90)))
@given(labels_made, runs_made, st.sampled_from([2, 3]))
def test_a_higher_relevance_level_is_trec_evals(labels: Labels, run: Run, rel: int) -> None:
    if not set(labels) & set(run):
        return
    leveled = {"P_3": f"P(rel={rel})@3", "map": f"AP(rel={rel})", "recip_rank": f"RR(rel={rel})"}
    leveled |= {"bpref": f"Bpref(rel={rel})", "Rprec": f"Rprec(rel={rel})", "recall_10": f"R(rel={rel})@10"}
    leveled |= {"infAP": f"infAP(rel={rel})"}
    theirs = pytrec_eval.RelevanceEvaluator(labels, ASKED, relevance_level=rel).evaluate(run)
    assert_same(theirs, per_query(labels, run, list(leveled.values())), leveled)


@settings(max_examples=len(studies(12, 90)))
@given(labels_made, runs_made)
def test_judged_only_is_trec_evals_minus_j(labels: Labels, run: Run) -> None:
    if not set(labels) & set(run):
        return
    names = {theirs: ours for theirs, ours in NAMES.items() if ours not in ("Bpref", "infAP")}
    names = {
        theirs: f"{ours.partition('@')[0]}(judged_only=True)" + "".join(ours.partition("@")[1:])
        for theirs, ours in names.items()
    }
    theirs = pytrec_eval.RelevanceEvaluator(labels, ASKED, judged_docs_only_flag=True).evaluate(run)
    assert_same(theirs, per_query(labels, run, list(names.values())), names)


@settings(max_examples=len(studies(32, 240)))
@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=20), st.data())
def test_trec_eval9_orders_by_32_bit_scores(scores: list[float], data: st.DataObject) -> None:
    # A score and its neighbours a hair away tie in 32 bits and not in 64.
    scores += [math.nextafter(s, math.inf) for s in scores]
    labels = {"q": {f"d{i}": data.draw(st.integers(0, 1)) for i in range(len(scores))}}
    run = {"q": {f"d{i}": s for i, s in enumerate(scores)}}
    theirs = pytrec_eval.RelevanceEvaluator(labels, {"map", "recip_rank"}).evaluate(run)["q"]
    ours = kt.score(labels, run, ["AP", "RR"], profile="trec_eval9", draws=0).means["value"]
    assert ours[0] == pytest.approx(theirs["map"], abs=1e-9)
    assert ours[1] == pytest.approx(theirs["recip_rank"], abs=1e-9)


def test_deep_lists_of_many_queries_score_alike() -> None:
    rng = np.random.default_rng(7)
    labels: Labels = {}
    run: Run = {}
    for q in range(60):
        docs = rng.choice(3000, 400, replace=False)
        labels[f"q{q}"] = {f"d{d}": int(g) for d, g in zip(docs[:250], rng.integers(-1, 4, 250), strict=True)}
        run[f"q{q}"] = {f"d{d}": float(s) for d, s in zip(rng.permutation(docs), rng.integers(0, 99, 400), strict=True)}
    theirs = pytrec_eval.RelevanceEvaluator(labels, ASKED).evaluate(run)
    assert_same(theirs, per_query(labels, run, list(NAMES.values())), NAMES)


def test_a_query_with_only_negative_labels_scores_zero_where_pytrec_eval_ends_the_interpreter() -> None:
    values = per_query(
        {"q1": {"d1": -1}, "q2": {"d1": 1}}, {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, list(NAMES.values())
    )
    assert set(values["q1"].values()) == {0.0}
    assert values["q2"]["AP"] == 1.0


@settings(max_examples=len(studies(12, 90)))
@given(labels_made.filter(oracle_labels), runs_made)
def test_order_of_rows_does_not_matter(labels: Labels, run: Run) -> None:
    if not set(labels) & set(run):
        return
    backwards = {q: dict(reversed(docs.items())) for q, docs in reversed(run.items())}
    names = list(NAMES.values())
    assert per_query(labels, run, names) == per_query(labels, backwards, names)


@pytest.mark.thorough
def test_thousands_of_lists_score_as_trec_eval_does() -> None:
    test_karat_scores_as_trec_eval_does.hypothesis.inner_test(*many(1))  # type: ignore[attr-defined]
    for rel in (2, 3):
        test_a_higher_relevance_level_is_trec_evals.hypothesis.inner_test(*many(rel), rel)  # type: ignore[attr-defined]
    test_judged_only_is_trec_evals_minus_j.hypothesis.inner_test(*many(4))  # type: ignore[attr-defined]
    test_order_of_rows_does_not_matter.hypothesis.inner_test(*many(5))  # type: ignore[attr-defined]
