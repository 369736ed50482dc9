"""How often labels in context are told right: figures by hand, planted effects found, chance not taken for skill."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.context import compare_predictors, context_accuracy, label_in_context
from karat.context.page_pairs import Graded
from karat.context.pair_features import features
from karat.context.predictors import PREDICTORS, fit
from karat.records import Documents, Judgments, Runs
from karat.simulate.context_study import ContextStudy, context_study
from karat.stats.regression import clustered_ols
from simulated import about, studies


@pytest.fixture(scope="module")
def study() -> ContextStudy:
    """A study of the paper's size in which copies lose a grade and details gain half of one."""
    return context_study(seed=1, queries=457)


def row(table: pl.DataFrame, predictor: str) -> dict[str, float]:
    return table.filter(pl.col("predictor") == predictor).row(0, named=True)


@pytest.fixture(scope="module")
def compared(study: ContextStudy) -> pl.DataFrame:
    """The paper's predictor against richer ones, on held-out queries."""
    models = ("grades", "features", "ordinal")
    found = compare_predictors(study.judgments, models=models, runs=study.runs, documents=study.documents, draws=200)
    return found.frame


def test_looking_at_more_beats_the_papers_two_grades(compared: pl.DataFrame) -> None:
    for model in ("features", "ordinal"):
        found = row(compared, model)
        assert found["gain_low"] > 0
        assert found["gain_holm"] < 0.01
        assert found["error_saved_low"] > 0
        assert found["error_saved_holm"] < 0.001


def test_looking_at_more_beats_the_back_off(study: ContextStudy) -> None:
    table = compare_predictors(
        study.judgments, models=("ordinal",), against="back-off", runs=study.runs, documents=study.documents, draws=200
    ).frame
    assert row(table, "ordinal")["gain_low"] > 0
    assert row(table, "ordinal")["error_saved_holm"] < 0.001


def test_the_gain_holds_for_pairs_that_nobody_judged(study: ContextStudy) -> None:
    errors = {}
    for model in ("grades", "features"):
        labels = label_in_context(
            study.judgments, study.runs, depth=5, model=model, value="expected", documents=study.documents
        )
        told = labels.frame.filter(pl.col("source") == "predicted")
        truth = study.pairs.filter(~pl.col("judged")).drop_nulls("label")
        both = told.join(truth, on=["query", "doc", "context"], suffix="_true").sort("query", "doc", "context")
        errors[model] = both.select("query", error=(pl.col("label") - pl.col("label_true")) ** 2)
    gap = (errors["grades"]["error"] - errors["features"]["error"]).to_numpy()
    test = clustered_ols(gap, np.zeros((len(gap), 0)), errors["grades"]["query"].to_numpy())
    assert len(gap) > 2000
    assert test.intervals()[0][0] > 0.05


def test_expected_grades_come_true(compared: pl.DataFrame) -> None:
    # Ten parts of 358 with a spread of about half a grade: 0.02 is what chance alone would do.
    assert row(compared, "features")["off"] < 0.05
    assert row(compared, "ordinal")["off"] < 0.05
    assert row(compared, "alone")["off"] > 0.1


def noisy(seed: int, queries: int = 40, right: float = 0.7) -> Judgments:
    """A truth that three answers tell equally well: the grade alone, after the first document, and after another.

    The truth is what the judge says after document x; so how often `alone` and `back-off` are right is known.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(queries):
        rows += [{"query": f"q{n}", "doc": doc, "label": 2, "context": None} for doc in ("first", "x")]
        strict = rng.beta(7, 3) if right == 0.7 else right  # queries differ in how easy they are
        for d in range(4):
            truth = rng.integers(0, 5)
            answers = [truth if rng.random() < strict else (truth + rng.integers(1, 5)) % 5 for _ in range(2)]
            for context, label in ((None, answers[0]), ("first", answers[1]), ("x", truth)):
                rows.append({"query": f"q{n}", "doc": f"d{d}", "label": int(label), "context": context})
    return Judgments.of(rows)


RUNS = Runs.of({f"q{n}": {"first": 9.0, "x": 8.0, "d0": 3.0, "d1": 2.0, "d2": 1.0, "d3": 0.5} for n in range(40)})


@pytest.mark.evidence
def test_no_difference_is_found_where_there_is_none_and_intervals_cover() -> None:
    alarms, covered, seeds = 0, 0, studies(25, 800)
    for seed in seeds:
        table = compare_predictors(noisy(seed), models=(), against="back-off", runs=RUNS, draws=200, seed=seed).frame
        # Only the pairs after x have a back-off, and alone tells them as well as the back-off does.
        found = row(table, "alone")
        assert (row(table, "back-off")["n"], found["n_both"]) == (160, 160)
        alarms += found["gain_p"] < 0.05
        back = row(table, "back-off")
        covered += back["accuracy_low"] <= 0.7 <= back["accuracy_high"]
    assert alarms / len(seeds) == about(0.05, len(seeds), off=0.01)
    assert covered / len(seeds) == about(0.95, len(seeds), off=0.015)


def test_features_that_tell_nothing_are_not_taken_for_skill() -> None:
    alarms, studies = 0, 20
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        rows, words = [], []
        for n in range(40):
            grades = rng.integers(0, 3, 5)
            docs = [f"d{n}-{i}" for i in range(5)]
            rows += [
                {"query": f"q{n}", "doc": d, "label": int(g), "context": None}
                for d, g in zip(docs, grades, strict=True)
            ]
            told = np.clip(grades - (grades[0] > 1) + rng.integers(-1, 2, 5), 0, 2)
            rows += [
                {"query": f"q{n}", "doc": d, "label": int(g), "context": docs[0]}
                for d, g in zip(docs[1:], told[1:], strict=True)
            ]
            words += [{"doc": d, "text": " ".join(rng.choice(list("abcdefgh"), 20))} for d in docs]
        table = compare_predictors(
            Judgments.of(rows),
            models=("grades", "features"),
            documents=Documents.of(words),
            draws=0,
            folds=2,
            seed=seed,
        ).frame
        found = row(table, "features")
        alarms += found["gain"] > 0 and found["gain_p"] < 0.05
    assert alarms <= 3


def test_the_accuracy_of_the_grade_alone_is_counted() -> None:
    judgments = noisy(0)
    frame = judgments.frame
    alone = frame.filter(pl.col("context").is_null()).select("query", "doc", alone="label")
    given = frame.filter(pl.col("context").is_not_null()).join(alone, on=["query", "doc"])
    table = compare_predictors(judgments, models=(), against="back-off", runs=RUNS, draws=0).frame
    assert row(table, "alone")["accuracy"] == pytest.approx((given["label"] == given["alone"]).mean())
    after = given.pivot(on="context", index=["query", "doc"], values="label")
    back = row(table, "back-off")
    assert back["accuracy"] == pytest.approx((after["first"] == after["x"]).mean())
    assert back["error"] == pytest.approx(((after["first"] - after["x"]) ** 2).mean())


def test_without_runs_the_first_document_is_the_one_most_were_judged_after() -> None:
    extra = [{"query": f"q{n}", "doc": "x", "label": 1, "context": "first"} for n in range(40)]
    judgments = Judgments.of([*noisy(1).frame.rows(named=True), *extra])
    with_runs = compare_predictors(judgments, models=(), against="alone", runs=RUNS, draws=0).frame
    without = compare_predictors(judgments, models=(), against="alone", draws=0).frame
    assert row(without, "back-off")["accuracy"] == row(with_runs, "back-off")["accuracy"]


def test_accuracy_is_given_for_each_grade_and_adds_up(study: ContextStudy) -> None:
    table = context_accuracy(study.judgments, draws=200).frame
    for split in ("whole queries", "random 90/10"):
        mine = table.filter(pl.col("split") == split)
        whole, grades = mine.row(0, named=True), mine[1:]
        assert grades["grade"].to_list() == ["0", "1", "2", "3", "4"]
        assert grades["n"].sum() == whole["n"]
        assert (grades["n"] * grades["accuracy"]).sum() / whole["n"] == pytest.approx(whole["accuracy"])
        assert whole["low"] < whole["accuracy"] < whole["high"]


def test_what_is_certain_is_told_and_the_interval_still_has_width() -> None:
    rows = [
        {"query": f"q{n}", "doc": d, "label": label, "context": c}
        for n in range(20)
        for d, label, c in (("a", 2, None), ("b", n % 2, None), ("b", n % 2, "a"))
    ]
    table = context_accuracy(Judgments.of(rows)).frame
    assert table["accuracy"].to_list() == [1.0] * 6
    assert (table["low"] < 1).all()


def test_two_grades_tell_what_never_changes_in_a_small_study_too() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"query": f"q{n}", "doc": d, "label": grade, "context": context}
        for n in range(40)
        for d, grade in zip("abc", rng.integers(0, 5, 3).tolist(), strict=True)
        for context in ([None, "a"] if d != "a" else [None])
    ]
    table = compare_predictors(rows, models="grades", draws=0).frame
    assert row(table, "alone")["accuracy"] == 1
    # With as strong a ridge as many features need it would be 0.86.
    assert row(table, "grades")["accuracy"] > 0.95


def test_predictors_that_are_equally_good_are_both_named() -> None:
    rows = [
        {"query": f"q{n}", "doc": d, "label": label, "context": c}
        for n in range(30)
        for d, label, c in (("a", n % 3, None), ("b", 1, None), ("b", n % 2, "a"))
    ]
    found = compare_predictors(rows, models=("levels",), against="alone", draws=0)
    assert found.finding.startswith("None is right more often than alone; levels ")
    sure = [
        {"query": f"q{n}", "doc": d, "label": label, "context": c}
        for n in range(30)
        for d, label, c in (("a", 2, None), ("b", n % 2, None), ("b", 1 - n % 2, "a"))
    ]
    found = compare_predictors(sure, models=("grades", "levels"), against="alone", draws=0)
    assert found.finding.startswith("grades and levels are right equally often, and most often: 100.0 points more than")
    found = compare_predictors(sure, models=("grades", "levels"), against="grades", draws=0)
    assert found.finding == "None is right more often than grades; levels is so as often."


def test_frames_and_rows_are_taken_as_they_are() -> None:
    small = context_study(seed=2, queries=12)
    given = small.judgments, small.runs, small.documents
    frames = small.judgments.frame, small.runs.frame, small.documents.frame.rows(named=True)
    one, other = (context_accuracy(j, runs=r, draws=0, folds=2).frame for j, r, _ in (given, frames))
    assert one.equals(other)
    one, other = (
        compare_predictors(j, models="ordinal", against="alone", runs=r, documents=d, draws=0, folds=2).frame
        for j, r, d in (given, frames)
    )
    assert one.equals(other)


def test_a_pair_never_tells_itself() -> None:
    graded = Graded.of(
        Judgments.of(
            [
                {"query": "q", "doc": d, "label": label, "context": c}
                for d, label, c in (
                    ("a", 2, None),
                    ("b", 2, None),
                    ("c", 2, None),
                    ("c", 0, "a"),
                    ("c", 3, "b"),
                    ("b", 1, "a"),
                )
            ]
        )
    )
    told = features(graded.training(), graded, None, None)
    change = told.more[:, told.names.index("change after others")]
    unknown = told.more[:, told.names.index("no change after others")]
    # Sorted by query, doc, context: b after a (no other), c after a (+1 after b), c after b (-2 after a).
    assert change.tolist() == [0, 1, -2]
    assert unknown.tolist() == [1, 0, 0]


def test_likeness_new_words_and_sites_are_as_counted() -> None:
    graded = Graded.of(Judgments.of({"q": {"a": 1, "b": 1, "c": 1}}))
    pairs = graded.with_grades(pl.DataFrame({"query": ["q"] * 2, "doc": ["b", "c"], "context": ["a", "a"]}))
    documents = Documents.of(
        [
            {"doc": "a", "text": "horse hoof care", "url": "https://www.one.org/x"},
            {"doc": "b", "text": "horse hoof care", "url": "http://one.org/y"},
            {"doc": "c", "text": "horse saddle bridle rein", "url": "http://two.org/"},
        ]
    )
    told = features(pairs, graded, None, documents)
    column = {name: told.more[:, place].tolist() for place, name in enumerate(told.names)}
    assert column["likeness"][0] == pytest.approx(1)
    assert 0 < column["likeness"][1] < 0.5
    assert column["new words"] == pytest.approx([0, 3 / 4])
    assert column["length"] == pytest.approx([0, np.log(5 / 4)])
    assert column["same site"] == [1, 0]


def test_a_model_that_is_too_sure_of_itself_is_cooled_down() -> None:
    rng = np.random.default_rng(0)
    x, y, query = rng.normal(size=(120, 60)), rng.integers(0, 3, 120), np.repeat(np.arange(30), 4)
    learnt = fit(PREDICTORS["features"], x, y, query, 3)
    assert learnt.temperature > 2
    assert learnt.probabilities(x).sum(axis=1) == pytest.approx(np.ones(120))


def test_what_cannot_be_answered_is_said() -> None:
    few = Judgments.of([{"query": "q", "doc": "a", "label": 1, "context": None}])
    for ask in (context_accuracy, compare_predictors):
        with pytest.raises(kt.Undefined, match="0 judgments in context of documents judged alone too"):
            ask(few)
        with pytest.raises(kt.BadInput, match="2 parts or more"):
            ask(noisy(0), folds=1)
    with pytest.raises(kt.BadInput, match="grades or levels or features or ordinal"):
        context_accuracy(noisy(0), model="magic")
    with pytest.raises(kt.BadInput, match="the predictor to compare with"):
        compare_predictors(noisy(0), models=("grades",), against="magic")


def test_without_a_back_off_the_rest_is_compared_and_that_is_said() -> None:
    rows = [
        {"query": f"q{n}", "doc": d, "label": label, "context": c}
        for n in range(30)
        for d, label, c in (("a", n % 3, None), ("b", 1, None), ("b", n % 2, "a"))
    ]
    found = compare_predictors(Judgments.of(rows), models=("grades", "levels"), draws=0)
    assert any("no back-off" in note for note in found.notes)
    assert row(found.frame, "back-off")["accuracy"] is None
    assert found.to_dict()["rows"][1]["n"] == 30
