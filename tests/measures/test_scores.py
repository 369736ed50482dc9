"""Scores in Python: results that say the number, its interval, and how it was made."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt

LABELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 0}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}, "q9": {"a": 1.0}}


def test_a_result_reads_like_a_sentence() -> None:
    scores = kt.score(LABELS, RUN, [kt.RR, "P@1"], draws=0)
    text = repr(scores).splitlines()
    assert text[0] == "run has RR 0.5000 over 3 queries."
    assert "- run: 1 query of the run without labels left aside: q9" in text
    assert "- run: 1 list of queries without a relevant document: counted as 0" in text
    assert scores.to_frame().columns == ["system", "measure", "value", "low", "high", "n"]
    assert "<table>" in scores._repr_html_()


def test_systems_are_scored_side_by_side_and_alone_alike() -> None:
    frame = pl.DataFrame(
        {
            "system": ["x", "y", "x", "y"],
            "query": ["q1", "q1", "q2", "q2"],
            "doc": ["a", "b", "b", "a"],
            "score": [1.0] * 4,
        }
    )
    together = kt.score(LABELS, frame, "RR")
    for name in "xy":
        alone = kt.score(LABELS, frame.filter(pl.col("system") == name), "RR")
        assert alone.means.equals(together.means.filter(pl.col("system") == name))
    assert together.systems == ["x", "y"]
    runs = [kt.Runs.of({"q1": {"a": 1.0}}, system=name) for name in ("one", "two")]
    assert kt.score(LABELS, runs, "RR").systems == ["one", "two"]
    with pytest.raises(kt.BadInput, match="two called one"):
        kt.score(LABELS, [runs[0], runs[0]], "RR")


def test_ties_at_the_cutoff_are_counted() -> None:
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0, "b": 0.5}}
    notes = kt.score(LABELS, run, "P@1").notes
    assert "run: ties in score at rank 1 in 1 list of 2: doc ids decided" in notes
    assert kt.score(LABELS, run, "P@1").queries["P@1"].to_list() == [0.0, 1.0]


def test_unjudged_documents_are_said() -> None:
    assert "run: 33% of the top 1 have no label and count as not relevant" in kt.score(LABELS, RUN, "P@1").notes


def test_an_undefined_value_stays_out_of_the_mean() -> None:
    labels = [{"query": q, "subtopic": "1", "doc": "a", "label": int(q != "q3")} for q in ("q1", "q2", "q3")]
    scores = kt.score(labels, RUN, ["nNRBP", "P@1"])
    assert scores.means["n"].to_list() == [2, 3]
    assert scores.means["value"][0] == pytest.approx((1.0 + 0.5) / 2)
    assert scores.to_dict(by_query=True)["systems"][0]["queries"]["q3"]["nNRBP"] is None


def test_gdeval_leaves_queries_without_relevant_documents_out() -> None:
    scores = kt.score(LABELS, RUN, "nDCG@5", profile="gdeval")
    assert scores.means["n"][0] == 2
    assert "run: 1 list of queries without a relevant document: left out of the means" in scores.notes


def test_ndeval_needs_ranks() -> None:
    with pytest.raises(kt.BadInput, match="expected a run with whole numbers as ranks"):
        kt.score(LABELS, RUN, "P@1", profile="ndeval")


def test_nothing_to_score_is_an_error_not_a_zero() -> None:
    with pytest.raises(kt.BadInput, match="expected at least one label"):
        kt.score([{"query": "q1", "doc": "a", "label": None}], RUN, "P@1")
    with pytest.raises(kt.BadInput, match="expected at least one"):
        kt.score(LABELS, RUN, [])
    with pytest.raises(kt.BadInput, match="the run: expected ranked documents, found none"):
        kt.score(LABELS, {}, "P@1")


def test_other_aspects_and_snippets_are_left_aside() -> None:
    rows = [
        {"query": "q1", "doc": "a", "label": 1, "aspect": "overall", "surface": "page"},
        {"query": "q1", "doc": "a", "label": 0, "aspect": "novelty", "surface": "page"},
        {"query": "q1", "doc": "a", "label": 0, "aspect": None, "surface": "snippet"},
    ]
    scores = kt.score(rows, {"q1": {"a": 1.0}}, "P@1")
    assert scores.means["value"][0] == 1.0
    assert "1 label of single aspects left aside" in scores.notes
    with pytest.raises(kt.BadInput, match="expected some overall labels, found only labels of single aspects"):
        kt.score(rows[1:2], {"q1": {"a": 1.0}}, "P@1")


def test_public_names_are_listed_and_real() -> None:
    assert {"score", "nDCG", "read_runs", "BadInput", "Judgments"} <= set(dir(kt))
    for name in dir(kt):
        assert getattr(kt, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kt.nothing  # noqa: B018


@pytest.mark.parametrize(("queries", "warned"), [(4, False), (5, True), (9, True), (10, False)])
def test_intervals_of_five_to_nine_queries_are_said_to_be_a_guess(queries: int, warned: bool) -> None:
    labels = {f"q{i}": {"a": i % 2, "b": 1} for i in range(queries)}
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(queries)}
    notes = kt.score(labels, run, "P@1", draws=100).notes
    assert (f"{queries} queries only: the interval is a guess" in notes) == warned
    assert any("fewer than 5 queries" in note for note in notes) == (queries < 5)


def test_measures_of_diversity_say_where_labels_have_no_subtopics() -> None:
    labels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    said = "alpha_nDCG@10 looks at subtopics, and the labels have none: each query is taken for one"
    assert said in kt.score(labels, run, ["alpha_nDCG@10", "P@1"], draws=0).notes
    rows = [
        {"query": "q", "doc": "a", "label": 1, "subtopic": "1"},
        {"query": "q", "doc": "b", "label": 1, "subtopic": "2"},
    ]
    assert said not in kt.score(rows, run, "alpha_nDCG@10", draws=0).notes


ALIKE = "every document in the lists has the label 3: by such labels no order is better than another"


def test_labels_that_are_all_alike_are_said_to_tell_no_order_from_another() -> None:
    run = {"q": {f"d{n}": float(-n) for n in range(10)}}
    alike = [{"query": "q", "doc": f"d{n}", "label": 3} for n in range(10)]
    assert any(ALIKE in note for note in kt.score(alike, run, "nDCG@10", draws=0).notes)
    # One that differs, one that nobody judged, or a list of a few, are what they are.
    for rows in ([*alike[:9], {**alike[9], "label": 2}], alike[:9]):
        assert not any(ALIKE in note for note in kt.score(rows, run, "nDCG@10", draws=0).notes)
    assert not any(ALIKE in note for note in kt.score(alike[:3], {"q": {"d0": 1.0}}, "nDCG@10", draws=0).notes)
