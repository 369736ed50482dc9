"""Studies with little in them, or odd things, have a report that says what it can; none breaks it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.errors import Undefined
from karat.formats import write
from karat.reports import report
from karat.simulate import preference_study
from karat.study import Study
from simulated import THOROUGH


def labels(queries=6, grades=(0, 1, 2), judges=1, groups=None, docs=6):
    rng = np.random.default_rng(1)
    rows = []
    for query in range(queries):
        for doc in range(docs):
            for judge in range(judges):
                row = {"query": f"q{query}", "doc": f"d{doc}", "label": float(rng.choice(grades))}
                row |= {"judge": f"j{judge}"} if judges > 1 else {}
                rows.append(row | ({"group": groups[judge % len(groups)]} if groups else {}))
    return kt.Judgments.of(rows)


def runs(*names, queries=6, seed=2):
    rng = np.random.default_rng(seed)
    return tuple(
        kt.Runs.of({f"q{q}": {f"d{d}": float(rng.random()) for d in range(6)} for q in range(queries)}, system=name)
        for name in names
    )


def gold(queries=6):
    rows = [
        {"query": f"q{q}", "doc": f"d{d}", "label": float((q + d) % 3), "probability": 0.5}
        for q in range(queries)
        for d in (0, 2, 4)
    ]
    return kt.Judgments.of(rows)


def preferences():
    choices = ["left", "right", "equal", "left", "left", "right"]
    return kt.Preferences.of(
        [
            {"query": f"q{q}", "left": "a", "right": "b", "choice": c, "judge": f"u{q % 2}"}
            for q, c in enumerate(choices)
        ]
    )


@pytest.mark.evidence
@pytest.mark.parametrize(
    "evidence",
    [
        Study("one query", labels=labels(1), runs=runs("a", "b", queries=1)),
        Study("two queries", labels=labels(2), runs=runs("a", "b", queries=2), gold=gold(2)),
        Study("nothing relevant", labels=labels(grades=(0,)), runs=runs("a", "b")),
        Study("all at the top", labels=labels(grades=(2,), judges=3), runs=runs("a", "b")),
        Study("real grades", labels=labels(grades=(0, 0.25, 0.5, 1), judges=4), runs=runs("a", "b")),
        Study("signs in names", labels=labels(judges=4, groups=["x, y", "z: w"]), runs=runs("a, 1", "b: 2", "c[0]")),
        Study("some without group", labels=labels(judges=4, groups=["x", None]), runs=runs("a", "b"), gold=gold()),
        Study("same lists", labels=labels(), runs=(*runs("a"), *runs("b")), gold=gold(), preferences=preferences()),
        Study("other queries", labels=labels(), runs=tuple(kt.Runs.of({"z": {"d": 1.0}}, system=n) for n in "ab")),
        Study("gold alone", gold=gold(), runs=runs("a", "b")),
        Study("labels alone", labels=labels()),
        Study("many systems", labels=labels(), runs=runs(*(f"s{n}" for n in range(12)))),
    ],
    ids=lambda evidence: evidence.title,
)
def test_an_awkward_study_has_a_report(evidence):
    report = kt.report(evidence, draws=100)
    assert report.verdict
    assert len(report.sections) == 7
    assert all(section.said and section.said[0] for section in report.sections)
    assert "NaN" not in "".join(str(figure.spec) for figure in report.figures)
    # Charts are held against Vega-Lite's schema in test_page.py; for every change, some of each study are drawn.
    for figure in report.figures[:: 1 if THOROUGH else 4]:
        assert figure.svg().startswith("<svg")
    if report.scores is None:
        with pytest.raises(Undefined, match="no scores"):
            report.latex()
    else:
        assert "\\toprule" in report.latex()


def test_grades_that_are_no_whole_numbers_keep_their_names():
    report = kt.report(Study("real", labels=labels(grades=(0, 0.25, 0.5), judges=4), runs=runs("a", "b")), draws=100)
    drawn = next(figure for figure in report.figures if figure.name == "weights-for-one-of-n")
    assert drawn.data["said"].unique().sort().to_list() == ["said 0", "said 0.25"]


def test_too_few_queries_are_a_verdict_of_their_own():
    report = kt.report(Study("one", labels=labels(1), runs=runs("a", "b", queries=1)), draws=100)
    assert report.verdict == "Cannot say which is better by nDCG@10."
    assert "2 are needed" in report.reason


def test_preferences_need_no_labels_to_rank_systems():
    report = kt.report(Study("people", preferences=preferences()), draws=100)
    assert report.verdict.startswith("Users prefer a most")
    assert [figure.name for figure in report.figures] == ["users-rank-systems"]


def test_one_query_cannot_say_and_still_has_a_page():
    runs = kt.Runs.of({name: {"q": {"a": score, "b": 1.0}} for name, score in (("x", 2.0), ("y", 0.5))})
    evidence = Study("One query", labels=kt.Judgments.of({"q": {"a": 1, "b": 0}}), runs=(runs,))
    report = kt.report(evidence, draws=100)
    assert repr(report).startswith("Cannot say which is better by nDCG@10: the systems and the labels share 1 query")
    assert "Cannot say which is better" in report.html()


def test_preferences_alone_make_a_page_without_empty_sections(tmp_path: Path) -> None:
    write(preference_study(queries=12, systems=3).preferences, tmp_path / "preferences.csv")
    found = report(tmp_path, draws=100)
    html = found.html().partition("</main>")[0]
    assert html.count("<h2>") == 2
    assert "<h2>What do users prefer?</h2>" in html
    assert "<h2>Not in this report</h2>" in html
    assert len(found.verdict) < 80
    assert [table.caption for table in found.sections[-2].tables] == ["Those who answered"]
    assert "scored by" not in found.about


def test_preferences_of_other_systems_than_the_runs_say_nothing_of_these():
    found = kt.report(Study("others", labels=labels(), runs=runs("c", "d"), preferences=preferences()), draws=100)
    said = next(section for section in found.sections if section.name == "users").said
    assert said == ("Not in this report: preferences are between others (a, b, ...) than the systems of the runs.",)


def test_without_runs_no_score_is_missed_in_the_words_of_a_program():
    found = kt.report(Study("labels", labels=labels(judges=3)), draws=100)
    missing = {section.name: section.said[0] for section in found.sections if section.missing}
    assert missing["scores"] == "Not in this report: there is no run."


def test_one_judge_is_compared_with_nobody():
    rows = labels().frame.with_columns(judge=pl.lit("only"))
    found = kt.report(Study("one", labels=kt.Judgments.of(rows), runs=runs("a", "b"), gold=gold()), draws=100)
    assert "judges" not in [figure.name for figure in found.figures]
    assert "None of 1" not in found.html()


def test_a_query_that_has_its_name_for_a_text_is_named_once():
    queries = kt.Queries.of([{"query": f"q{q}", "text": f"q{q}"} for q in range(6)])
    found = kt.report(Study("names", labels=labels(), runs=runs("a", "b"), queries=queries), draws=100)
    assert "q1 (q1)" not in found.html()
