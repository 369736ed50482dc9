"""Measures that read a document after the one above it, by hand; and what no contextual nDCG may do."""

from __future__ import annotations

from dataclasses import fields
from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.measures.base import MEASURES

ALONE = {"a": 2, "b": 2, "c": 1}
AFTER = {("b", "a"): 0, ("a", "b"): 1, ("c", "a"): 3, ("c", "b"): 1}
LABELS = [{"query": "q", "doc": doc, "label": grade, "context": None} for doc, grade in ALONE.items()] + [
    {"query": "q", "doc": doc, "label": grade, "context": above} for (doc, above), grade in AFTER.items()
]
CONTEXT_MEASURES = [
    name for name in MEASURES if any(parameter.name == "context" for parameter in fields(MEASURES[name]))
]


def value(measure: str, order: str, labels: object = LABELS) -> float:
    run = {"q": {doc: float(-rank) for rank, doc in enumerate(order)}}
    return float(kt.score(labels, run, measure, draws=0).queries.to_series(-1)[0])


def test_every_measure_takes_half_alone_and_half_after_the_one_above() -> None:
    u = [2, 0.5 * 2 + 0.5 * 0, 0.5 * 1 + 0.5 * 1]  # a; b after a; c after b
    assert value("CG(context=0.5)@3", "abc") == pytest.approx(4)
    assert value("DCG(context=0.5)@3", "abc") == pytest.approx(u[0] + u[1] / log2(3) + u[2] / 2)
    assert value("CCG(context=0.5)@3", "abc") == pytest.approx(2 + (2 + 1) / log2(3) + (2 + 1 + 1) / 2)
    assert value("CCG_single(context=0.5)@3", "abc") == pytest.approx(3 * 2 + 2 * 1 / log2(3) + 1 / 2)
    content = [(2**grade - 1) / 2**3 for grade in u]  # 3 is the highest label there is
    by_hand = content[0] + (1 - content[0]) * (content[1] / 2 + (1 - content[1]) * content[2] / 3)
    assert value("ERR(context=0.5)@3", "abc") == pytest.approx(by_hand)
    assert value("DCG(context=0.5,gains='exp')@3", "abc") == pytest.approx(3 + 1 / log2(3) + 1 / 2)


def test_the_ideal_of_a_contextual_ndcg_has_every_document_at_its_best() -> None:
    # a is worth most alone (2; after b 1.5), b alone (2; after a 1), c after a (0.5 + 1.5 = 2; alone 1).
    ideal = 2 + 2 / log2(3) + 2 / 2
    assert value("nDCG(context=0.5)@3", "abc") == pytest.approx((2 + 1 / log2(3) + 1 / 2) / ideal)
    assert value("nDCG(context=0.5)@2", "ac") == pytest.approx(1)
    assert value("nDCG(context=0.5)@2", "ab") == pytest.approx((2 + 1 / log2(3)) / (2 + 2 / log2(3)))


def test_without_context_ndcg_is_as_before() -> None:
    plain = [row for row in LABELS if row["context"] is None]
    for order in permutations("abc"):
        assert value("nDCG@3", "".join(order)) == value("nDCG@3", "".join(order), plain)
        assert value("nDCG(context=0)@3", "".join(order)) == value("nDCG@3", "".join(order), plain)


def test_a_document_judged_in_context_only_has_its_place_in_the_ideal() -> None:
    rows = [*LABELS, {"query": "q", "doc": "d", "label": 4, "context": "a"}]
    assert value("nDCG(context=1)@2", "ad", rows) == pytest.approx((2 + 4 / log2(3)) / (4 + 3 / log2(3)))


@pytest.mark.parametrize("name", CONTEXT_MEASURES)
def test_weight_0_is_the_limit_of_small_weights(name: str) -> None:
    # "d" is judged in context only, and -2 marks junk: neither is worth anything alone.
    extra = [("d", 4, "a"), ("e", -2, None), ("f", 3, "e")]
    rows = [*LABELS, *({"query": "q", "doc": doc, "label": label, "context": above} for doc, label, above in extra)]
    for order in ("abc", "dab", "adb", "aed", "efd"):
        at_zero = value(f"{name}(context=0)@3", order, rows)
        assert at_zero == pytest.approx(value(f"{name}(context=1e-6)@3", order, rows), abs=1e-4)


@pytest.mark.parametrize("name", CONTEXT_MEASURES)
def test_at_weight_0_labels_in_context_change_nothing(name: str) -> None:
    rows = [*LABELS, {"query": "q", "doc": "d", "label": 4, "context": "a"}]
    alone = [row for row in rows if row["context"] is None]
    top = ",max_rel=4" if any(parameter.name == "max_rel" for parameter in fields(MEASURES[name])) else ""
    for order in ("abc", "dab", "adb"):
        with_others = kt.score(
            rows,
            {"q": {doc: float(-rank) for rank, doc in enumerate(order)}},
            [f"{name}(context=0{top})@3", "CCG(context=0.5)@3"],  # the second measure keeps the labels in context
            draws=0,
        )
        assert with_others.queries.to_series(-2)[0] == pytest.approx(value(f"{name}(context=0{top})@3", order, alone))


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_no_ranking_is_above_one(seed: int, context: float) -> None:
    rng = np.random.default_rng(seed)
    docs = "abcd"
    rows = [{"query": "q", "doc": d, "label": int(rng.integers(0, 5)), "context": None} for d in docs]
    rows += [
        {"query": "q", "doc": d, "label": int(rng.integers(0, 5)), "context": above}
        for d in docs
        for above in docs
        if d != above and rng.random() < 0.7
    ]
    places = [(order, doc, rank) for order in permutations(docs) for rank, doc in enumerate(order, 1)]
    runs = kt.Runs.of([{"system": "".join(order), "query": "q", "doc": d, "rank": r} for order, d, r in places])
    found = kt.score(rows, runs, f"nDCG(context={context!r},gains='exp')@3", draws=0).queries.to_series(-1)
    assert len(found) == 24
    assert found.is_between(-1e-12, 1 + 1e-12).all()


def test_a_contextual_ndcg_says_how_many_documents_have_no_label_in_context() -> None:
    run = {"q": {"c": 2.0, "a": 1.0}}
    notes = kt.score(LABELS, run, "nDCG(context=0.5)@2", draws=0).notes
    assert any("1 of 1 documents have no label given the one above" in note for note in notes)


def test_a_list_with_gaps_has_no_context() -> None:
    with pytest.raises(kt.BadInput, match="nDCG takes context or judged_only"):
        kt.nDCG(context=0.5, judged_only=True)
