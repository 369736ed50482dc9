"""Labels in context: judged, else predicted, else backed off, else alone; and clear answers to odd studies."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.context import context_sources, label_in_context
from karat.context.document_pairs import Graded
from karat.errors import BadInput
from karat.records import Documents, Judgments, Runs
from karat.simulate.context_study import context_study


def judged(*rows: tuple[str, str, float | None, str | None]) -> Judgments:
    names = ("query", "doc", "label", "context")
    return Judgments.of([dict(zip(names, row, strict=True)) for row in rows])


def source_of(labels: Judgments, query: str, doc: str, context: str) -> tuple[float, str] | None:
    found = labels.frame.filter((pl.col("query") == query) & (pl.col("doc") == doc) & (pl.col("context") == context))
    return found.select("label", "source").row(0) if found.height else None


def taught(change: float, queries: int = 30) -> list[tuple[str, str, float | None, str | None]]:
    """Queries in which every document changes in the same way after a good one, and not after a bad one."""
    rows: list[tuple[str, str, float | None, str | None]] = []
    for n in range(queries):
        good, bad, some = 4, 0, (1, 2, 3)[n % 3]
        rows += [(f"t{n}", "good", good, None), (f"t{n}", "bad", bad, None), (f"t{n}", "some", some, None)]
        rows += [(f"t{n}", "some", some + change, "good"), (f"t{n}", "some", some, "bad")]
    return rows


RUN = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}


def test_each_label_says_where_it_comes_from() -> None:
    study = judged(
        *taught(-1),
        ("q", "a", 4, None),
        ("q", "b", 2, None),
        ("q", "c", 3, None),
        ("q", "d", 2, None),
        ("q", "b", 3, "a"),
    )
    labels = label_in_context(study, Runs.of(RUN))
    assert source_of(labels, "q", "b", "a") == (3, "judged")
    assert source_of(labels, "q", "c", "b") is not None
    assert source_of(labels, "q", "c", "b")[1] == "predicted"  # type: ignore[index]
    alone = labels.frame.filter(pl.col("context").is_null())
    assert alone["source"].unique().to_list() == ["judged"]


def test_the_model_learns_what_good_company_does() -> None:
    rows = [("q", "a", 4, None), ("q", "b", 2, None), ("r", "a", 0, None), ("r", "b", 2, None)]
    runs = Runs.of({"q": {"a": 2.0, "b": 1.0}, "r": {"a": 2.0, "b": 1.0}})
    for change, expected in ((-1, 1), (1, 3)):
        for model in ("grades", "features"):
            labels = label_in_context(judged(*taught(change), *rows), runs, model=model)
            assert source_of(labels, "q", "b", "a") == (expected, "predicted"), model
            assert source_of(labels, "r", "b", "a") == (2, "predicted"), model


def test_without_the_grade_of_the_one_above_the_label_is_backed_off_to_the_first() -> None:
    # b was never judged alone, so nothing can be predicted after it; c was judged after a, the first.
    study = judged(*taught(-1), ("q", "a", 4, None), ("q", "c", 3, None), ("q", "c", 1, "a"), ("q", "d", 2, None))
    labels = label_in_context(study, Runs.of(RUN))
    assert source_of(labels, "q", "c", "b") == (1, "backed off")
    assert source_of(labels, "q", "b", "a") is None
    assert any("1 document after another without any label" in note for note in labels.notes)


def test_without_anything_else_a_document_keeps_its_grade_alone() -> None:
    study = judged(*taught(-1), ("q", "a", 4, None), ("q", "c", 3, None))
    assert source_of(label_in_context(study, Runs.of(RUN)), "q", "c", "b") == (3, "alone")


def test_lists_with_different_first_documents_share_the_mean_of_their_back_off() -> None:
    study = judged(("q", "c", 1, "a"), ("q", "c", 2, "z"), ("q", "c", 4, None))
    runs = Runs.of({"one": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "two": {"q": {"z": 3.0, "b": 2.0, "c": 1.0}}})
    assert source_of(label_in_context(study, runs), "q", "c", "b") == (1.5, "backed off")


def test_ccg_by_hand_with_a_judged_a_predicted_and_a_backed_off_label() -> None:
    study = judged(
        *taught(-1),
        *[("q", doc, grade, None) for doc, grade in (("a", 2), ("b", 4), ("c", 2), ("e", 3))],
        ("q", "b", 3, "a"),
        ("q", "e", 1, "a"),
    )
    runs = Runs.of({"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}})
    labels = label_in_context(study, runs)
    # b after a is judged 3; c after b is predicted 2 - 1; d has no label at all; e after d is backed off to 1, after a.
    assert source_of(labels, "q", "c", "b") == (1, "predicted")
    assert source_of(labels, "q", "e", "d") == (1, "backed off")
    u = [2, (4 + 3) / 2, (2 + 1) / 2, 0, (3 + 1) / 2]
    double = sum(sum(u[: i + 1]) / log2(i + 2) for i in range(5))
    single = sum((5 - i) * u[i] / log2(i + 2) for i in range(5))
    scores = kt.score(labels, runs, ["CCG(context=0.5)@5", "CCG_single(context=0.5)@5", "CG(context=0.5)@5"], draws=0)
    assert scores.means["value"].to_list() == pytest.approx([double, single, sum(u)])


def test_a_new_ranking_is_scored_without_new_judgments() -> None:
    study = context_study(seed=3, queries=60, spam=0.0)
    old = study.runs.frame.filter(pl.col("system") == "production")
    seen = study.judgments.frame.filter(pl.col("context").is_null()).select("query", "doc").unique()
    turned = old.join(seen, on=["query", "doc"]).with_columns(pl.lit("turned").alias("system"), score=-pl.col("score"))
    runs = Runs.of(turned)
    labels = label_in_context(study.judgments, runs, depth=5)
    table = dict(context_sources(labels, runs, depth=5).frame.select("source", "share").iter_rows())
    assert table.keys() <= {"judged", "predicted"}
    assert table["predicted"] > 0.5
    scores = kt.score(labels, runs, "CCG(context=0.5)@5", draws=0)
    assert scores.means["value"][0] > 0
    assert not any("have no label given the one above" in note for note in scores.notes)


def test_the_expected_grade_is_a_real_number_within_the_scale() -> None:
    study = context_study(seed=1, queries=40)
    labels = label_in_context(
        study.judgments, study.runs, model="features", value="expected", documents=study.documents
    )
    told = labels.frame.filter(pl.col("source") == "predicted")["label"]
    assert told.n_unique() > 50
    assert told.is_between(0, 4).all()
    assert kt.score(labels, study.runs, "ERR(context=0.5)@5", draws=0).means["value"].is_between(0, 1).all()


def test_judged_labels_are_never_changed_and_all_are_kept() -> None:
    study = context_study(seed=2, queries=30, twice=0.0)
    overall = study.judgments.frame.filter(pl.col("aspect") == "overall").drop_nulls("label")
    labels = label_in_context(study.judgments, study.runs)
    key = ["query", "doc", "context"]
    kept = overall.join(labels.frame, on=key, how="left", nulls_equal=True)
    assert (kept["label"] == kept["label_right"]).all()
    assert (kept["source"] == "judged").all()
    assert not labels.frame.select(key).is_duplicated().any()


def test_the_order_of_the_rows_changes_nothing_and_the_input_stays() -> None:
    study = context_study(seed=2, queries=30)
    before = study.judgments.frame.clone()
    one = label_in_context(study.judgments, study.runs, model="features", documents=study.documents)
    rows = study.judgments.frame.sample(fraction=1, shuffle=True, seed=1)
    other = label_in_context(
        Judgments(rows, scale=study.judgments.scale), study.runs, model="features", documents=study.documents
    )
    assert one.frame.equals(other.frame)
    assert study.judgments.frame.equals(before)


def test_documents_in_a_circle_have_each_their_label() -> None:
    study = judged(("q", "a", 2, None), ("q", "b", 2, None), ("q", "a", 1, "b"), ("q", "b", 0, "a"))
    runs = Runs.of({"one": {"q": {"a": 2.0, "b": 1.0}}, "two": {"q": {"b": 2.0, "a": 1.0}}})
    labels = label_in_context(study, runs)
    scores = kt.score(labels, runs, "CG(context=1)@2", draws=0).means
    assert dict(scores.select("system", "value").iter_rows()) == {"one": 2.0, "two": 3.0}


def test_too_few_judgments_teach_nothing_and_that_is_said() -> None:
    study = judged(*[("q", doc, 2, None) for doc in "abcd"], ("q", "c", 1, "a"))
    labels = label_in_context(study, Runs.of(RUN))
    assert labels.frame.filter(pl.col("source") == "predicted").height == 0
    assert source_of(labels, "q", "c", "b") == (1, "backed off")
    assert source_of(labels, "q", "d", "c") == (2, "alone")
    assert any("nothing is predicted: 1 judgment in context" in note for note in labels.notes)


def test_without_judgments_in_context_every_document_keeps_its_grade() -> None:
    study = judged(*[("q", doc, 2, None) for doc in "abcd"])
    labels = label_in_context(study, Runs.of(RUN))
    assert labels.frame.drop_nulls("context")["source"].unique().to_list() == ["alone"]
    plain = Judgments.of({"q": dict.fromkeys("abcd", 2)})
    assert label_in_context(plain, Runs.of(RUN)).frame.equals(labels.frame)


def test_judgments_in_context_all_alike_teach_nothing() -> None:
    rows = [(query, doc, label, context) for query, doc, label, context in taught(0) if context is None]
    rows += [(f"t{n}", "some", 2, "good") for n in range(30)]
    labels = label_in_context(judged(*rows), Runs.of({"t1": {"good": 3.0, "bad": 2.0}}))
    assert any("all judgments in context are 2" in note for note in labels.notes)


def test_a_judge_who_always_answers_na_is_left_aside() -> None:
    rows: list[dict[str, Any]] = [
        {"query": "q", "doc": doc, "label": label, "context": context, "judge": judge}
        for doc, context in (("a", None), ("b", None), ("b", "a"))
        for judge, label in (("ann", 2), ("silent", None))
    ]
    labels = label_in_context(Judgments.of(rows), Runs.of({"q": {"a": 2.0, "b": 1.0}}))
    assert source_of(labels, "q", "b", "a") == (2, "judged")
    assert any("3 answers without a label" in note for note in labels.notes)
    nobody = Judgments.of([{**row, "label": None} for row in rows])
    with pytest.raises(kt.Undefined, match="every answer is N/A"):
        label_in_context(nobody, Runs.of(RUN))


def test_a_richer_model_does_without_what_is_missing_and_says_so() -> None:
    study = judged(*taught(-1), ("q", "a", 4, None), ("q", "b", 2, None))
    labels = label_in_context(study, Runs.of({"q": {"a": 2.0, "b": 1.0}}), model="features")
    said = " ".join(labels.notes)
    for lack in ("no aspects but overall", "no sites", "no texts"):
        assert lack in said
    empty = Documents.of([{"doc": "a", "text": "", "url": None}, {"doc": "b", "text": None, "url": None}])
    assert len(label_in_context(study, Runs.of({"q": {"a": 2.0, "b": 1.0}}), model="features", documents=empty))


def test_aspects_that_some_documents_miss_are_no_hindrance() -> None:
    study = context_study(seed=4, queries=30)
    frame = study.judgments.frame
    keep = (pl.col("aspect") == "overall") | (pl.col("query").hash(1) % 2 == 0)
    labels = label_in_context(Judgments(frame.filter(keep), scale=study.judgments.scale), study.runs, model="features")
    assert labels.frame["label"].is_finite().all()


def test_odd_input_is_refused_in_words() -> None:
    study = judged(("q", "a", 2, None), ("q", "b", 1, "a"))
    with pytest.raises(kt.BadInput, match="grades or features"):
        label_in_context(study, Runs.of(RUN), model="magic")
    with pytest.raises(kt.BadInput, match="grade or expected"):
        label_in_context(study, Runs.of(RUN), value="mean")  # type: ignore[arg-type]
    with pytest.raises(kt.BadInput, match="2 documents or more"):
        label_in_context(study, Runs.of(RUN), depth=1)
    with pytest.raises(kt.BadInput, match="leave the column subtopic out"):
        label_in_context(Judgments.of([{"query": "q", "doc": "a", "label": 1, "subtopic": "1"}]), Runs.of(RUN))
    fine = [(f"t{n}", "some", float(np.sqrt(n)), "good") for n in range(30)]
    rows = [row for row in taught(0) if row[3] is None]
    with pytest.raises(kt.BadInput, match="at most 20 levels, found 30 different labels"):
        label_in_context(judged(*rows, *fine), Runs.of(RUN))


def test_frames_rows_and_dictionaries_are_taken_as_they_are() -> None:
    study = judged(*taught(-1), *[("q", doc, 2, None) for doc in "abcd"])
    expected = label_in_context(study, Runs.of(RUN)).frame
    for rows in (study.frame, study.frame.rows(named=True)):
        labels = label_in_context(rows, RUN)
        assert labels.frame.equals(expected)
        assert context_sources(labels.frame, RUN).frame["source"].to_list() == ["predicted"]
    assert label_in_context(study, [RUN, RUN]).frame.equals(expected)
    with pytest.raises(kt.BadInput, match=r"expected the column context.*make them with label_in_context"):
        context_sources({"q": {"a": 1}}, RUN)


def test_documents_that_nobody_judged_tell_nothing_and_that_is_said() -> None:
    study = judged(*taught(-1), *[("q", doc, 2, None) for doc in "abcd"])
    labels = label_in_context(study, RUN, model="features", documents=[{"doc": "x", "text": "a page"}])
    assert any("no document that was judged among the 1 document given" in note for note in labels.notes)


def test_a_document_given_itself_is_left_aside() -> None:
    labels = label_in_context(judged(("q", "a", 2, None), ("q", "a", 0, "a")), Runs.of(RUN))
    assert labels.frame.height == 1
    assert any("given itself" in note for note in labels.notes)


def test_queries_of_the_runs_that_nobody_judged_are_counted() -> None:
    runs = Runs.of({**RUN, "new": {"a": 2.0, "b": 1.0}})
    labels = label_in_context(judged(("q", "a", 2, None), ("q", "b", 1, "a")), runs)
    assert any("1 query of the runs without judgments" in note for note in labels.notes)


def test_a_context_that_was_never_judged_alone_teaches_nothing_and_that_is_said() -> None:
    extra = [("q", "a", 4, None), ("q", "b", 2, None), ("q", "b", 2, "unseen")]
    labels = label_in_context(judged(*taught(-1), *extra), Runs.of({"q": {"a": 2.0, "b": 1.0}}))
    assert source_of(labels, "q", "b", "a") == (1, "predicted")
    assert any("no model learns from 1 label in context" in note for note in labels.notes)


SCORES = {f"q{n}": {f"d{m}": 9 / (m + 1.5) + n / 7 for m in range(10)} for n in range(8)}
GRADES = {f"q{n}": {f"d{m}": (m * n) % 4 for m in range(10)} for n in range(8)}


def as_frame(data: dict[str, dict[str, float]], column: str) -> pl.DataFrame:
    return pl.DataFrame([{"query": q, "doc": d, column: v} for q, docs in data.items() for d, v in docs.items()])


@pytest.mark.parametrize(
    ("run", "labels"),
    [
        ({"mine": SCORES}, GRADES),
        (Runs.of(SCORES), GRADES),
        ([Runs.of(SCORES)], GRADES),
        (SCORES, Judgments.of(GRADES)),
        (as_frame(SCORES, "score"), as_frame(GRADES, "label")),
        (as_frame(SCORES, "score").with_columns(system=pl.lit("mine")), as_frame(GRADES, "label")),
    ],
)
def test_a_run_in_the_place_of_the_labels_is_refused(run: Any, labels: Any) -> None:
    """Scores of a run are no labels: they were taken for such, and a table of nonsense came out."""
    for function in (label_in_context, context_sources):
        with pytest.raises(BadInput, match="labels come first, then the runs"):
            function(run, labels)


def test_aspects_are_those_of_pages_read_alone_and_a_judge_has_one_voice() -> None:
    """ann says 3 and later 1: the first counts; the snippet's 0 and what is said in context are of something else."""
    row = {"query": "q", "doc": "d", "aspect": "novelty", "surface": "page", "context": None}
    rows = [
        row | {"judge": "ann", "label": 1, "time": "10"},
        row | {"judge": "ann", "label": 3, "time": "9"},
        row | {"judge": "bob", "label": 2, "time": "11"},
        row | {"judge": "bob", "label": 0, "time": "12", "surface": "snippet"},
        row | {"judge": "bob", "label": 0, "time": "13", "context": "c"},
        row | {"judge": "bob", "label": 1, "time": "14", "aspect": "Overall"},
    ]
    assert Graded.of(rows).aspects.rows(named=True) == [{"query": "q", "doc": "d", "aspect novelty": 2.5}]


def test_a_label_in_context_of_several_judges_is_their_median_whatever_their_order() -> None:
    rows = [
        {"query": "q", "doc": "b", "context": "a", "judge": judge, "label": label}
        for judge, label in (("ann", 0), ("bob", 2), ("eve", 3))
    ]
    for order in (rows, rows[::-1]):
        assert context_sources(order, {"q": {"a": 2.0, "b": 1.0}}).frame["mean_label"].to_list() == [2.0]
