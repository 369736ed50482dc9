"""How often labels in context are told right: figures by hand, planted effects found, chance not taken for skill."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.context import context_accuracy, label_in_context
from karat.context.document_pairs import Graded
from karat.context.pair_features import features
from karat.context.predictors import PREDICTORS, fit, parts
from karat.records import Documents, Judgments
from karat.simulate.context_study import ContextStudy, context_study
from karat.stats.cluster_robust import clustered_ols


@pytest.fixture(scope="module")
def study() -> ContextStudy:
    """A study of the paper's size in which copies lose a grade and details gain half of one."""
    return context_study(seed=1, queries=457)


def test_looking_at_more_is_right_more_often_than_the_papers_two_grades(study: ContextStudy) -> None:
    beside = {"runs": study.runs, "documents": study.documents}
    rich = context_accuracy(study.judgments, model="features", draws=0, folds=5, **beside).frame.row(0, named=True)
    two = context_accuracy(study.judgments, draws=0, folds=5).frame.row(0, named=True)
    # Copies lose a grade, and only texts tell a copy.
    assert rich["accuracy"] > two["accuracy"] + 0.02
    assert rich["accuracy"] > rich["alone"] + 0.02


@pytest.fixture(scope="module")
def unjudged(study: ContextStudy) -> dict[str, pl.DataFrame]:
    """What each model expects of pairs that nobody judged, and what judges would have said."""
    found = {}
    for model in ("grades", "features"):
        documents = study.documents if model == "features" else None
        labels = label_in_context(
            study.judgments, study.runs, depth=5, model=model, value="expected", documents=documents
        )
        told = labels.frame.filter(pl.col("source") == "predicted")
        truth = study.pairs.filter(~pl.col("judged")).drop_nulls("label")
        both = told.join(truth, on=["query", "doc", "context"], suffix="_true").sort("query", "doc", "context")
        found[model] = both.select("query", expected="label", truth="label_true")
    return found


def test_the_gain_holds_for_pairs_that_nobody_judged(unjudged: dict[str, pl.DataFrame]) -> None:
    errors = {model: ((table["expected"] - table["truth"]) ** 2).to_numpy() for model, table in unjudged.items()}
    gap = errors["grades"] - errors["features"]
    test = clustered_ols(gap, np.zeros((len(gap), 0)), unjudged["grades"]["query"].to_numpy())
    assert len(gap) > 2000
    assert test.intervals()[0][0] > 0.05


def test_expected_grades_come_true(study: ContextStudy) -> None:
    """On held-out queries, in ten parts of equal size, the mean of what is expected is the mean of what comes."""
    graded = Graded.of(study.judgments)
    pairs = graded.training()
    x = features(pairs, graded, study.runs, study.documents).rich
    grades, y = np.unique(pairs["grade"].to_numpy(), return_inverse=True)
    query = pairs["query"].rank("dense").cast(pl.Int64).to_numpy()
    fold, expected = parts(query, 5, seed=0), np.zeros(len(y))
    for number in range(5):
        rest, held_out = fold != number, fold == number
        learnt = fit(PREDICTORS["features"], x[rest], y[rest], query[rest], len(grades))
        expected[held_out] = learnt.probabilities(x[held_out]) @ grades
    off = (expected - grades[y])[np.argsort(expected, kind="stable")]
    # Ten parts of 358 with a spread of about half a grade: 0.02 is what chance alone would do.
    assert np.mean([abs(part.mean()) for part in np.array_split(off, 10)]) < 0.05


def small(seed: int = 0, right: float = 0.7) -> Judgments:
    """Forty queries in which a grade stays as it was alone with this chance, and else is any other."""
    rng, rows = np.random.default_rng(seed), []
    for n in range(40):
        rows += [{"query": f"q{n}", "doc": "first", "label": 2, "context": None}]
        for d in range(4):
            grade = int(rng.integers(0, 5))
            after = grade if rng.random() < right else int((grade + rng.integers(1, 5)) % 5)
            rows += [
                {"query": f"q{n}", "doc": f"d{d}", "label": label, "context": context}
                for context, label in ((None, grade), ("first", after))
            ]
    return Judgments.of(rows)


def test_how_often_the_grade_alone_is_right_is_counted() -> None:
    frame = small().frame
    alone = frame.filter(pl.col("context").is_null()).select("query", "doc", alone="label")
    given = frame.drop_nulls("context").join(alone, on=["query", "doc"])
    told = context_accuracy(small(), draws=0)
    assert told.frame["alone"][0] == pytest.approx((given["label"] == given["alone"]).mean())
    threes = given.filter(pl.col("label") == 3)
    assert told.frame.filter(grade="3")["alone"][0] == pytest.approx((threes["alone"] == 3).mean())
    assert "the grade alone would be right on" in told.finding


def test_two_grades_tell_what_never_changes_in_a_small_study_too() -> None:
    told = context_accuracy(small(right=1.0), draws=0, folds=5).frame
    assert told["alone"][0] == 1
    # With as strong a ridge as many features need it would be less.
    assert told["accuracy"][0] > 0.95


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
    assert learnt.calibration.temperature > 2
    assert learnt.probabilities(x).sum(axis=1) == pytest.approx(np.ones(120))


def test_frames_and_rows_are_taken_as_they_are() -> None:
    study = context_study(seed=2, queries=12)
    frames = study.judgments.frame, study.runs.frame, study.documents.frame.rows(named=True)
    one, other = (
        context_accuracy(j, model="features", runs=r, documents=d, draws=0, folds=2).frame
        for j, r, d in ((study.judgments, study.runs, study.documents), frames)
    )
    assert one.equals(other)


def test_a_model_that_is_cooled_down_keeps_how_frequent_the_grades_are() -> None:
    """As logistic regression does by itself: else expected grades would be drawn to the middle of the scale."""
    rng = np.random.default_rng(1)
    x, query = rng.normal(size=(120, 60)), np.repeat(np.arange(30), 4)
    y = rng.choice(3, 120, p=[0.8, 0.15, 0.05])
    learnt = fit(PREDICTORS["features"], x, y, query, 3)
    assert learnt.calibration.temperature > 2
    assert learnt.probabilities(x).mean(axis=0) == pytest.approx(np.bincount(y) / 120, abs=1e-4)


def test_what_cannot_be_answered_is_said() -> None:
    few = Judgments.of([{"query": "q", "doc": "a", "label": 1, "context": None}])
    with pytest.raises(kt.Undefined, match="0 judgments in context of documents judged alone too"):
        context_accuracy(few)
    with pytest.raises(kt.BadInput, match="2 parts or more"):
        context_accuracy(small(), folds=1)
    with pytest.raises(kt.BadInput, match="grades or features"):
        context_accuracy(small(), model="magic")


def test_rows_that_are_counted_together_are_learnt_as_one_by_one() -> None:
    """scikit-learn's model of every row by itself, standardised by all of them, says the same."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, (300, 2)).astype(float)
    y = np.clip(x[:, 0] + rng.integers(-1, 2, 300), 0, 2).astype(np.int64)
    learnt = fit(PREDICTORS["features"], x, y, np.arange(300), 3, temperature=1.0)
    scaler = StandardScaler().fit(x)
    plain = LogisticRegression(max_iter=2000).fit(scaler.transform(x), y)
    assert learnt.probabilities(x) == pytest.approx(plain.predict_proba(scaler.transform(x)), abs=1e-6)
