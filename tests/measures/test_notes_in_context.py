"""What a reader of scores in context is told: documents judged in context only, labels that no judge gave."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt
from karat.records import Judgments

#: b was judged after a only; c and d have both; e was judged after z, which stands in no list.
ROWS = [
    *[{"query": "q", "doc": doc, "label": label} for doc, label in (("a", 2), ("c", 1), ("d", 1))],
    {"query": "q", "doc": "b", "label": 2, "context": "a", "source": "judged"},
    {"query": "q", "doc": "c", "label": 1, "context": "b", "source": "predicted"},
    {"query": "q", "doc": "d", "label": 1, "context": "c", "source": "backed off"},
    {"query": "q", "doc": "e", "label": 2, "context": "z", "source": "judged"},
]
RUN = {"q": {doc: float(-place) for place, doc in enumerate("abcdef")}}


def notes(measures: object, rows: object = ROWS, run: object = RUN) -> str:
    return "\n".join(kt.score(rows, run, measures, draws=0).notes)


def test_a_document_judged_in_context_only_is_not_said_to_have_no_judgment() -> None:
    # Of six documents f has no judgment, b and e have one in context only: which is none for a measure that has no
    # use for it.
    plain = notes("P@6")
    assert "4 labels given after another document left aside" in plain
    assert "50% of the top 6 have no label and count as not relevant" in plain
    both = notes("CG(context=0.5)@6")
    assert "17% of the top 6 have no label and count as not relevant" in both
    assert "33 % of the documents looked at (top 6) were judged in context only: not relevant alone" in both
    assert "so that a measure with context=a counts at most a of their worth" in notes("CG(context=0.5)@6")
    nothing_else = notes("CG(context=0.5)@2")
    assert "have no label" not in nothing_else
    assert "50 % of the documents looked at (top 2) were judged in context only" in nothing_else


def test_a_document_judged_in_context_only_loses_what_context_leaves_to_itself() -> None:
    for context, worth in ((0.25, 0.5), (0.5, 1.0), (1.0, 2.0)):
        means = kt.score(ROWS, RUN, f"CG(context={context})@2", draws=0).means
        assert means["value"][0] == pytest.approx(2 + worth)


def test_labels_that_no_judge_gave_are_counted_for_each_system() -> None:
    said = "of 3 labels in context looked at (top 4), 33 % predicted, 33 % backed off: no judge gave them"
    assert f"run: {said}" in notes("CG(context=0.5)@4")
    assert "of 2 labels in context looked at (top 3), 50 % predicted" in notes("CG(context=0.5)@3")
    other = {"mine": RUN, "yours": {"q": {"a": 2.0, "b": 1.0}}}
    both = notes("nDCG(context=0.5)@4", run=other)
    assert f"mine: {said}" in both
    assert "yours: of" not in both  # all of its labels are judged


def test_nothing_is_said_where_all_is_judged_or_context_does_not_count() -> None:
    assert "no judge gave" not in notes("nDCG@4")
    judged = [{**row, "source": "judged"} for row in ROWS]
    assert "no judge gave" not in notes("nDCG(context=0.5)@4", judged)
    elsewhere = [{**row, "source": "crowd.csv"} for row in ROWS]
    assert "no judge gave" not in notes("nDCG(context=0.5)@4", elsewhere)


def test_a_comparison_tells_which_labels_no_judge_gave() -> None:
    rows = [{**row, "query": f"q{n}"} for n in range(8) for row in ROWS]
    runs = {
        "mine": {f"q{n}": RUN["q"] for n in range(8)},
        "yours": {f"q{n}": {"a": 2.0, "d": 1.0, "c": float(n % 2)} for n in range(8)},
    }
    found = kt.compare(rows, runs, "CG(context=0.5)@4")
    assert any(note.startswith("mine: of 24 labels in context looked at (top 4), 33 %") for note in found.notes)


def test_expected_grades_are_scored_with_their_scale() -> None:
    scale = kt.Scale.parse("bad, fair, good")
    rows = [{**row, "label": 1.37} if row.get("source") == "predicted" else row for row in ROWS]
    labels = Judgments.of(rows, scale)
    assert "the judgments: 1 label between the grades of the scale, made by a model" in labels.notes
    assert labels.frame.filter(pl.col("source") == "predicted")["label"].to_list() == [1.37]
    assert kt.score(labels, RUN, "ERR(context=0.5)@4", draws=0).means["value"].is_between(0, 1).all()
    for wrong in ({"label": 2.5}, {"source": "judged"}, {"source": None}):
        strange = [{**row, **wrong} if row.get("source") == "predicted" else row for row in rows]
        with pytest.raises(kt.BadInput, match="expected a grade of the scale"):
            Judgments.of(strange, scale)


def test_labels_of_a_sample_are_told_where_they_are_a_sample_of_documents_alone() -> None:
    """A plan of contexts draws what is asked besides; nothing of it is to be given as gold labels."""
    drawn = [row | {"probability": 0.4 if "context" in row else 1.0} for row in ROWS]
    for measure in ("P@3", "CG(context=0.5)@3"):
        assert "of a sample" not in notes(measure, drawn)
    deeper = [{"query": "q", "doc": doc, "label": 1, "probability": 0.4} for doc in "xyz"]
    assert "of a sample" not in notes("P@3", [*drawn, *deeper])
    assert "of a sample" in notes("P@3", [row for row in [*drawn, *deeper] if "context" not in row])
    # Of aspects that are left aside nothing is said.
    novelty = [row | {"aspect": "novelty"} for row in deeper]
    plain = [{"query": "q", "doc": doc, "label": 1, "probability": 1.0, "aspect": "overall"} for doc in "abc"]
    assert "of a sample" not in notes("P@3", [*plain, *novelty])
