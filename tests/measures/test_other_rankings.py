"""Compatibility, ties, patience and graded subtopics: against the published definitions and other tools."""

from __future__ import annotations

from math import log2

import ir_measures
import numpy as np
import pytest
from sklearn.metrics import ndcg_score

import karat as kt
from measures_against import many, per_query


def overlap(ranking: list[str], ideal: list[str], p: float, depth: int) -> float:
    """Rank-biased overlap as Clarke et al. define it: the shared part of both prefixes at each depth, summed."""
    shared = [len({*ranking[:d]} & {*ideal[:d]}) / d * p ** (d - 1) for d in range(1, depth + 1)]
    return sum(shared) / sum(p ** (d - 1) for d in range(1, depth + 1))


def compatibility(labels: dict[str, int], run: dict[str, float], p: float, depth: int, normalize: bool) -> float:
    ranking = sorted(sorted(run, reverse=True), key=lambda doc: -run[doc])  # karat's order of ties
    rank = {doc: place for place, doc in enumerate(ranking)}
    good = [doc for doc, label in labels.items() if label > 0]
    ideal = sorted(good, key=lambda doc: (-labels[doc], rank.get(doc, len(run))))
    best = overlap(ideal, ideal, p, depth) if normalize else 1.0
    return overlap(ranking, ideal, p, depth) / best if best else 0.0


@pytest.mark.parametrize(
    ("name", "p", "depth", "normalize"),
    [
        ("Compat", 0.95, 1000, True),
        ("Compat(p=0.8,normalize=False)@7", 0.8, 7, False),
        ("Compat(p=0.5)@3", 0.5, 3, True),
    ],
)
def test_compatibility_is_that_of_the_published_program(name: str, p: float, depth: int, normalize: bool) -> None:
    labels, run = many(31, 60)
    for query, values in per_query(kt.score(labels, run, name, draws=0)).items():
        assert values[name] == pytest.approx(compatibility(labels[query], run[query], p, depth, normalize), abs=1e-12)


def test_compatibility_of_labels_that_are_all_above_0_as_preferences_are() -> None:
    labels, run = many(32, 40)
    labels = {query: {doc: grade + 1 for doc, grade in of.items()} for query, of in labels.items()}
    for query, values in per_query(kt.score(labels, run, "Compat(p=0.8)@7", draws=0)).items():
        asked = compatibility(labels[query], run[query], 0.8, 7, normalize=True)
        assert values["Compat(p=0.8)@7"] == pytest.approx(asked, abs=1e-12)


def test_compatibility_is_ir_measures_to_the_depth_of_the_longer_list() -> None:
    rng = np.random.default_rng(2)
    docs = [f"d{n}" for n in range(12)]
    labels = {f"q{n}": dict(zip(docs[:9], rng.integers(0, 3, 9).tolist(), strict=True)) for n in range(40)}
    run = {f"q{n}": dict(zip(docs, (rng.permutation(12) + 1.0).tolist(), strict=True)) for n in range(40)}
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.Compat(p=0.8)], labels, run)}
    for query, values in per_query(kt.score(labels, run, "Compat(p=0.8)@12", draws=0)).items():
        assert values["Compat(p=0.8)@12"] == pytest.approx(theirs[query], abs=1e-12)


@pytest.mark.parametrize("k", [1, 3, 5, None])
def test_ndcg_over_all_orders_of_ties_is_scikit_learns(k: int | None) -> None:
    rng = np.random.default_rng(3)
    grades, scores = rng.integers(0, 4, (200, 10)), rng.integers(0, 4, (200, 10)) / 2
    labels = {f"q{q:03}": {f"d{d}": int(g) for d, g in enumerate(row)} for q, row in enumerate(grades)}
    run = {f"q{q:03}": {f"d{d}": float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}
    measure = "tie_nDCG" if k is None else f"tie_nDCG@{k}"
    ours = per_query(kt.score(labels, run, measure, draws=0))
    for q in range(200):
        theirs = ndcg_score(grades[q : q + 1], scores[q : q + 1], k=k)
        assert ours[f"q{q:03}"][measure] == pytest.approx(theirs, abs=1e-12)


def test_without_ties_it_is_ndcg() -> None:
    labels, run = many(32, 200)
    apart = {q: {d: s + place / 100 for place, (d, s) in enumerate(docs.items())} for q, docs in run.items()}
    for values in per_query(kt.score(labels, apart, ["nDCG@5", "tie_nDCG@5"], draws=0)).values():
        assert values["tie_nDCG@5"] == pytest.approx(values["nDCG@5"])


def test_patience_by_hand() -> None:
    # Grades 1, 0, 2 of at most 2: contented with chance 1/4, 0, 3/4.
    labels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    value = kt.score(labels, run, "iRBU(p=0.9)@3", draws=0).means["value"][0]
    assert value == pytest.approx(0.9 * 1 / 4 + 0.9**3 * 3 / 4 * 3 / 4)


SUBTOPICS = [
    {"query": "q", "doc": "a", "subtopic": "1", "label": 2},
    {"query": "q", "doc": "b", "subtopic": "1", "label": 1},
    {"query": "q", "doc": "b", "subtopic": "2", "label": 1},
    {"query": "q", "doc": "c", "subtopic": "2", "label": 3},
    {"query": "q", "doc": "c", "subtopic": "3", "label": 0},  # no document is about subtopic 3
]
RUN = {"q": {"b": 3.0, "a": 2.0, "x": 1.0}}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # Global gains: a 1, b 1, c 1.5.
        ("D_nDCG@2", (1 + 1 / log2(3)) / (1.5 + 1 / log2(3))),
        ("D_nDCG@1", 1 / 1.5),
        ("Dsharp_nDCG@1", 0.5 * 1 + 0.5 * 1 / 1.5),
        ("D#-nDCG(gamma=0.2)@1", 0.2 * 1 + 0.8 * 1 / 1.5),
        ("D_nDCG(gains='exp')@1", 1 / ((2**3 - 1) / 2)),
        # One subtopic after the other: b covers both, a repeats the first; alpha = beta = 1/2.
        ("NRBP@1", 0.75 / 2 * 2),
        ("NRBP@2", 0.75 / 2 * (2 + 0.5 * 0.5)),
        ("NRBP", 0.75 / 2 * (2 + 0.5 * 0.5)),
        ("nNRBP@1", 1.0),
    ],
)
def test_subtopics_with_grades_by_hand(measure: str, expected: float) -> None:
    assert kt.score(SUBTOPICS, RUN, measure, draws=0).means["value"][0] == pytest.approx(expected)


def test_a_labelled_document_is_found_where_a_thousand_are_not() -> None:
    """One label for each query of 1,000 documents: it stands where the run was made to put it."""
    rng = np.random.default_rng(4)
    place = {f"q{q}": int(rng.integers(1, 1001)) for q in range(30)}
    run = {q: {f"d{rng.integers(10**12)}-{r}": -float(r) for r in range(1, 1001)} for q in place}
    labels = {q: {list(docs)[place[q] - 1]: 1} for q, docs in run.items()}
    found = kt.score(labels, run, "RR", draws=0).queries
    assert dict(found.select("query", "RR").iter_rows()) == pytest.approx({q: 1 / rank for q, rank in place.items()})
