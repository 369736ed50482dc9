"""Measures worked out by hand: the sums are written out, so that a reader can check them with a pencil."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import karat as kt

LABELS = {"q": {"a": 3, "b": 0, "c": 1, "d": 2, "x": 2}}  # x is never retrieved
RUN = {"q": {"a": 5.0, "b": 4.0, "u": 3.0, "c": 2.0, "d": 1.0}}  # u is not judged


def value(measure: str, labels: object = LABELS, run: object = RUN, profile: str = "trec_eval") -> float:
    return float(kt.score(labels, run, measure, profile=profile, draws=0).means["value"][0])


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("P@3", 1 / 3),
        ("P@10", 3 / 10),
        ("R@5", 3 / 4),
        ("RR", 1.0),
        ("RR(rel=2)", 1.0),
        ("AP", (1 / 1 + 2 / 4 + 3 / 5) / 4),
        ("AP(rel=2)", (1 / 1 + 2 / 5) / 3),
        ("AP@4", (1 / 1 + 2 / 4) / 4),
        ("Rprec", 2 / 4),
        ("Success@1", 1.0),
        ("Judged@5", 4 / 5),
        ("Judged@3", 2 / 3),
        ("Bpref", (1 + (1 - 1 / 1) + (1 - 1 / 1)) / 4),
        ("CG@4", 3 + 0 + 0 + 1),
        ("DCG@5", 3 / log2(2) + 1 / log2(5) + 2 / log2(6)),
        ("DCG(gains=exp)@5", 7 / log2(2) + 1 / log2(5) + 3 / log2(6)),
        ("DCG(discount=zipf)@5", 3 / 1 + 1 / 4 + 2 / 5),
        (
            "nDCG@5",
            (3 + 1 / log2(5) + 2 / log2(6)) / (3 + 2 / log2(3) + 2 / log2(4) + 1 / log2(5)),
        ),
        ("nDCG(gains={0:0,1:0.5,2:0.6,3:1})@2", 1 / (1 + 0.6 / log2(3))),
        ("nDCG(gains=[0,0.5,0.6,1],discount='zipf')@2", 1 / (1 + 0.6 / 2)),
        ("RBP(p=0.5)", 0.5 * (1 + 0.5**3 + 0.5**4)),
        ("RBP(p=0.5,rel=2)@4", 0.5 * 1),
        ("RBP(p=0.5,gains={0:0,1:0.2,2:0.5,3:1})", 0.5 * (1 + 0.2 * 0.5**3 + 0.5 * 0.5**4)),
        ("RBP_residual(p=0.5)", 1 - 0.5 * (1 + 0.5 + 0.5**3 + 0.5**4)),
        ("ERR(max_rel=3)", 7 / 8 + (1 / 8) * (1 / 8) / 4 + (1 / 8) * (7 / 8) * (3 / 8) / 5),
        ("ERR(max_rel=4)@4", 7 / 16 + (9 / 16) * (1 / 16) / 4),
        # Judged only: the list is a, b, c, d.
        ("P(judged_only=True)@3", 2 / 3),
        ("AP(judged_only=True)", (1 / 1 + 2 / 3 + 3 / 4) / 4),
    ],
)
def test_measures_on_one_list(measure: str, expected: float) -> None:
    assert value(measure) == pytest.approx(expected, abs=1e-12)


def test_gap_sums_over_pairs_of_documents() -> None:
    q = {1: 0.3, 2: 1.0}
    labels = {"q": {"a": 1, "b": 2, "c": 0, "d": 1, "missed": 2}}
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    # Rank 1, grade 1: q1. Rank 2, grade 2: q1 + q2. Rank 4, grade 1: three documents at q1.
    numerator = q[1] / 1 + (q[1] + q[2]) / 2 + (3 * q[1]) / 4
    judged = 2 * q[1] + 2 * q[2]
    listed = 2 * q[1] + 1 * q[2]
    assert value("GAP(gains={0:0,1:0.3,2:1})", labels, run) == pytest.approx(numerator / judged)
    assert value("GAP(gains={0:0,1:0.3,2:1},within='list')", labels, run) == pytest.approx(numerator / listed)


def test_gap_of_two_levels_is_ap() -> None:
    labels = {"q": {"a": 0, "b": 1, "c": 1}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert value("GAP", labels, run) == pytest.approx(value("AP", labels, run))


def test_gap_refuses_gains_that_fall() -> None:
    with pytest.raises(kt.BadInput, match="values from 0 to 1 that rise"):
        value("GAP(gains={0:0,1:1,2:0.5,3:1})")


def test_a_discount_may_be_a_power_of_the_rank() -> None:
    labels = {"q": {"a": 2, "b": 1, "c": 0}}
    run = {"q": {"c": 4.0, "x": 3.0, "y": 2.0, "a": 1.0}}
    assert value("DCG(discount=0.5)@4", labels, run) == pytest.approx(2 / 4**0.5)
    assert value("nDCG(discount=2)@4", labels, run) == pytest.approx(2 / 16 / (2 + 1 / 4))
    assert value("DCG(discount=1)@4", labels, run) == value("DCG(discount='zipf')@4", labels, run)
    with pytest.raises(kt.BadInput, match="a power of the rank"):
        value("DCG(discount=-1)@4")


CONTEXT = [
    {"query": "q", "doc": "a", "label": 1},
    {"query": "q", "doc": "b", "label": 1},
    {"query": "q", "doc": "b", "label": 0.2, "context": "a"},
    {"query": "q", "doc": "b", "label": 0.7, "context": "z"},
]


def test_ccg_is_the_double_sum_and_the_single_sum_has_its_own_name() -> None:
    run = {"q": {"a": 2.0, "b": 1.0}}
    same = [{"query": "q", "doc": d, "label": 1} for d in "ab"]
    assert value("CCG(context=0)@2", same, run) == pytest.approx(1 + 2 / log2(3))  # 2.262
    assert value("CCG_single(context=0)@2", same, run) == pytest.approx(2 + 1 / log2(3))  # 2.631


def test_a_document_is_worth_what_it_adds_to_the_one_above() -> None:
    run = {"q": {"a": 2.0, "b": 1.0}}
    u2 = 0.5 * 1 + 0.5 * 0.2
    assert value("CCG(context=0.5)@2", CONTEXT, run) == pytest.approx(1 + (1 + u2) / log2(3))
    assert value("DCG(context=0.5)@2", CONTEXT, run) == pytest.approx(1 + u2 / log2(3))
    assert value("CG(context=1)@2", CONTEXT, run) == pytest.approx(1.2)
    # The other way round nothing is known of a after b, and b stands first: both keep their own label.
    turned = {"q": {"b": 2.0, "a": 1.0}}
    assert value("CG(context=1)@2", CONTEXT, turned) == pytest.approx(2.0)
    notes = kt.score(CONTEXT, turned, "CG(context=1)@2", draws=0).notes
    assert any("1 of 1 documents have no label given the one above" in note for note in notes)


def test_conditional_labels_do_not_touch_other_measures() -> None:
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert value("DCG@2", CONTEXT, run) == pytest.approx(1 + 1 / log2(3))
    assert value("P@2", CONTEXT, run) == 1.0


def test_real_labels_are_not_cut_to_whole_numbers() -> None:
    labels = {"q": {"a": 0.5, "b": 1.5}}
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert value("DCG", labels, run) == pytest.approx(0.5 + 1.5 / log2(3))
    assert value("DCG(gains=exp)", labels, run) == pytest.approx(2**0.5 - 1 + (2**1.5 - 1) / log2(3))
    assert value("P@2", labels, run) == 0.5
    assert value("P(rel=0.5)@2", labels, run) == 1.0


def test_subtopics_count_by_their_weights() -> None:
    labels = [
        {"query": "q", "doc": "a", "subtopic": "1", "label": 1},
        {"query": "q", "doc": "b", "subtopic": "2", "label": 1},
        {"query": "q", "doc": "c", "subtopic": "3", "label": 0},
    ]
    run = {"q": {"a": 2.0, "c": 1.0}}
    weights = kt.Queries.of(
        [{"query": "q"}],
        [{"query": "q", "subtopic": s, "weight": w} for s, w in [("1", 0.6), ("2", 0.2), ("3", 0.2)]],
    )

    def weighted(measure: str) -> float:
        return float(kt.score(labels, run, measure, weights=weights, draws=0).means["value"][0])

    # Subtopic 3 has no relevant document, so 1 and 2 share the weight: 0.75 and 0.25.
    assert value("StRecall@2", labels, run) == pytest.approx(0.5)
    assert weighted("StRecall@2") == pytest.approx(0.75)
    assert weighted("P_IA@2") == pytest.approx(0.75 * 0.5)
    assert weighted("AP_IA") == pytest.approx(0.75)
    # Ideal: a (worth 1.5 of an average subtopic), then b (0.5).
    assert weighted("alpha_nDCG@2") == pytest.approx(1.5 / (1.5 + 0.5 / log2(3)))


def test_a_missing_weight_is_named() -> None:
    labels = [{"query": "q", "doc": "a", "subtopic": s, "label": 1} for s in "12"]
    weights = kt.Queries.of([{"query": "q"}], [{"query": "q", "subtopic": "1", "weight": 1.0}])
    with pytest.raises(kt.BadInput, match="a weight for subtopic 2 of query q"):
        kt.score(labels, {"q": {"a": 1.0}}, "AP_IA", weights=weights)


def test_err_refuses_grades_above_its_top() -> None:
    with pytest.raises(kt.BadInput, match="expected grades up to 2, found 3"):
        value("ERR(max_rel=2)@5")


def test_gains_must_name_every_grade_above_zero() -> None:
    with pytest.raises(kt.BadInput, match="a gain for the grade 3"):
        value("nDCG(gains={1:1,2:2})@5")


def test_labels_for_whole_queries_come_before_those_of_subtopics() -> None:
    rows = [
        {"query": "q", "doc": "a", "label": 0, "subtopic": None},
        {"query": "q", "doc": "a", "label": 3, "subtopic": "1"},
        {"query": "q", "doc": "b", "label": 1, "subtopic": None},
        {"query": "q", "doc": "c", "label": 2, "subtopic": "2"},
    ]
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    both = kt.score(rows, run, ["P@1", "P@2", "P@3"], draws=0)
    assert both.means["value"].to_list() == [0.0, 0.5, 1 / 3]
    assert "measures without subtopics take the labels for whole queries where there are some" in both.notes
    only = kt.score([row for row in rows if row["subtopic"]], run, ["P@1", "P@2", "P@3"], draws=0)
    assert only.means["value"].to_list() == [1.0, 0.5, 2 / 3], "nobody judged whole queries: the highest label stands"


@pytest.mark.parametrize("size", [1, 3, 40])
def test_the_best_list_is_the_same_counted_out_or_sorted(size: int) -> None:
    """Few documents a query are sorted, many are counted: the ideal of each is its highest gains, discounted."""
    rng = np.random.default_rng(size)
    labels = {f"q{i}": {f"d{j}": int(rng.integers(0, 5)) for j in range(size)} for i in range(30)}
    run = {query: {doc: float(rng.random()) for doc in docs} for query, docs in labels.items()}
    found = kt.score(labels, run, "nDCG@10").queries
    for query, score in found.select("query", "nDCG@10").iter_rows():
        gained = sorted(run[query], key=lambda doc: -run[query][doc])[:10]
        best = sorted(labels[query].values(), reverse=True)[:10]
        ideal = sum(gain / log2(rank + 2) for rank, gain in enumerate(best))
        mine = sum(labels[query][doc] / log2(rank + 2) for rank, doc in enumerate(gained))
        assert score == pytest.approx(mine / ideal if ideal else 0.0, abs=1e-12)
