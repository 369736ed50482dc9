"""What a grade is worth, in the report: no heading without a figure, levels by name, models on one set of documents."""

from __future__ import annotations

import numpy as np
import pytest

import karat as kt
from karat.errors import Undefined
from karat.records import Scale
from karat.reports.grade_weights import worth_section
from karat.study import Study

SCALE = Scale.parse("Non, Rel, HRel, Key")


def study(rows: list[dict[str, object]]) -> Study:
    return Study("a study", labels=kt.Judgments.of(rows, scale=SCALE))


def test_a_level_without_documents_is_no_heading() -> None:
    # HRel, the level below the top, was given once, to a document that one judge saw.
    rows: list[dict[str, object]] = [
        {"query": f"q{n % 6}", "doc": f"d{n}", "judge": judge, "label": label}
        for n in range(24)
        for judge, label in (("x", 3 if n % 3 else 1), ("y", 3 if n % 2 else 0))
    ]
    rows.append({"query": "q0", "doc": "alone", "judge": "x", "label": 2})
    found = worth_section(study(rows), None, 100, 0)
    assert found.figures[0].title.startswith("When one user says Rel, another says Key with probability")
    assert "nan" not in " ".join([*found.said, *(figure.title for figure in found.figures)])


def test_labels_of_single_subtopics_have_no_other_user() -> None:
    rows: list[dict[str, object]] = [
        {"query": "q", "doc": f"d{n}", "subtopic": str(s), "label": (n + s) % 2} for n in range(9) for s in (1, 2, 3)
    ]
    with pytest.raises(Undefined, match="no document has 2 labels"):
        worth_section(study(rows), None, 100, 0)


def test_models_are_shown_on_documents_with_as_many_labels_as_users() -> None:
    rng = np.random.default_rng(1)
    rows: list[dict[str, object]] = [
        {"query": f"q{n % 9}", "doc": f"d{n}", "judge": f"j{j}", "label": int(rng.integers(4))}
        for n in range(120)
        for j in range(5 if n < 60 else 2)
    ]
    (figure,) = [f for f in worth_section(study(rows), None, 100, 0).figures if f.name == "weights-for-one-of-n"]
    assert "for the 60 documents with at least 5 labels" in figure.subtitle
    assert figure.data["of"].max() == 5


def test_one_standard_deviation_is_that_of_the_probability_and_none_where_draws_cannot_differ() -> None:
    """Two judges who label all documents twice: of two labels of one judge there is one way to draw both."""
    rng = np.random.default_rng(3)
    rows: list[dict[str, object]] = [
        {"query": f"q{n % 6}", "doc": f"d{n}", "judge": judge, "label": int(rng.integers(4)), "time": str(time)}
        for time in range(2)
        for n in range(60)
        for judge in "xy"
    ]
    (figure,) = [f for f in worth_section(study(rows), None, 100, 0).figures if f.name == "self-and-cross"]
    cross, own = (figure.data.filter(kind=kind) for kind in ("cross", "self"))
    assert (cross["p_high"] - cross["p"]).to_list() == pytest.approx(cross["sd"].to_list())
    assert own["sd"].is_nan().all()
    assert own["p_low"].is_nan().all()
