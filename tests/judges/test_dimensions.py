"""Relevance by dimension, worked by hand, and answers to awkward studies."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from karat import BadInput, Judgments, Undefined
from karat.context.aspect_correlation import change_correlation, overall_correlation, predict_overall
from karat.context.aspect_statistics import aspect_coverage, aspect_distribution
from karat.context.grade_change import grade_change, mean_change
from karat.context.setting_agreement import setting_agreement
from karat.records import Result
from karat.simulate import context_study


def predict_from_one(judgments: Judgments, **more: Any) -> Result:
    """What one aspect tells and what all do: the fifteen other subsets are models like these, and take seconds."""
    return predict_overall(judgments, [["topicality"]], **more)


ALL = (
    aspect_coverage,
    aspect_distribution,
    grade_change,
    mean_change,
    overall_correlation,
    change_correlation,
    predict_from_one,
    setting_agreement,
)


#: A study of several tests is made once.
made = cache(context_study)


def rows(
    given: list[tuple[str, str | None, dict[str, float | None]]], judge: str = "ann", query: str = "q"
) -> list[dict[str, Any]]:
    return [
        {"query": query, "doc": doc, "context": context, "aspect": aspect, "label": label, "judge": judge}
        for doc, context, grades in given
        for aspect, label in grades.items()
    ]


#: Three documents alone, of which c has no overall grade, and three in context.
BY_HAND = rows(
    [
        ("a", None, {"overall": 3, "topicality": 4, "novelty": None}),
        ("b", None, {"overall": 1, "topicality": 1, "novelty": 2}),
        ("c", None, {"overall": None, "topicality": 0, "novelty": 3}),
        ("a", "b", {"overall": 1, "topicality": 3, "novelty": 0}),
        ("b", "a", {"overall": 1, "topicality": None, "novelty": 3}),
        ("c", "a", {"overall": 2, "topicality": 2, "novelty": 2}),
    ]
)


def test_coverage_by_hand() -> None:
    frame = aspect_coverage(Judgments.of(BY_HAND)).frame
    assert frame.select("aspect", "alone", "context", "n_alone", "n_context").rows() == [
        ("topicality", 1.0, pytest.approx(2 / 3), 2, 3),
        ("novelty", 0.5, 1.0, 2, 3),
        ("all aspects", 0.5, pytest.approx(2 / 3), 2, 3),
    ]
    assert frame["alone_low"].is_nan().all()


def test_an_aspect_that_was_not_asked_about_is_not_na() -> None:
    some = [row for row in BY_HAND if not (row["doc"] == "a" and row["aspect"] == "novelty")]
    frame = aspect_coverage(Judgments.of(some)).frame
    assert frame.row(by_predicate=pl.col("aspect") == "novelty", named=True)["n_alone"] == 1


def test_distributions_by_hand() -> None:
    frame = aspect_distribution(Judgments.of(BY_HAND)).frame
    topicality = frame.filter(pl.col("aspect") == "topicality")
    every, rated = (topicality.filter(pl.col("documents") == name) for name in ("all aspects", "overall"))
    # With a grade in every aspect: b alone (1); a and c in context (3 and 2).
    assert every["alone"].to_list() == [0, 1, 0, 0, 0]
    assert every["context"].to_list() == [0, 0, 0.5, 0.5, 0]
    # With an overall grade: a and b alone (4 and 1); c, whose overall grade is N/A alone, does not count there.
    assert rated["alone"].to_list() == [0, 0.5, 0, 0, 0.5]
    assert rated["n_context"].to_list() == [2] * 5


def test_changes_by_hand() -> None:
    frame = grade_change(Judgments.of(BY_HAND)).frame
    # Overall: a falls by 2, b stays, c has none alone. Topicality: a falls by 1. Novelty: b rises by 1.
    assert frame.filter(pl.col("n") > 0).select("aspect", "size", "n", "share").rows() == [
        ("overall", 0.0, 1, 0.5),
        ("overall", 2.0, 1, 0.5),
        ("topicality", 1.0, 1, 1.0),
        ("novelty", 1.0, 1, 1.0),
    ]
    mean = mean_change(Judgments.of(BY_HAND)).frame
    assert mean.select("aspect", "change", "lower", "same", "higher").rows() == [
        ("overall", -1.0, 0.5, 0.5, 0.0),
        ("topicality", -1.0, 1.0, 0.0, 0.0),
        ("novelty", 1.0, 0.0, 0.0, 1.0),
    ]


def asked_again(context: float, again: float) -> list[dict[str, Any]]:
    """Eight documents graded 4 alone: half of them get these grades in context, and when asked again."""
    return [
        {"query": f"q{n}", "doc": "d", "context": "c" if kind == "context" else None, "label": grade, "judge": "ann"}
        for n in range(8)
        for kind, grade in (
            ("alone", 4),
            ("again", 4 if n % 2 else again),
            ("context", 4 if n % 2 else context),
        )
    ]


def test_retest_shares_of_grade_changes_sum_to_one() -> None:
    # In context half change by 1; asked again half change by 3, which nobody does in context.
    frame = grade_change(asked_again(context=3, again=1), draws=0).frame
    assert frame.select("size", "share", "retest", "beyond").rows() == [
        (0.0, 0.5, 0.5, 0.0),
        (1.0, 0.5, 0.0, 0.5),
        (3.0, 0.0, 0.5, -0.5),
    ]


def test_fewer_changes_in_context_than_on_retest_are_called_fewer() -> None:
    fewer = grade_change(asked_again(context=4, again=3), draws=0).finding
    assert fewer.endswith("in context, grades change 50.0 percentage points less often.")
    more = grade_change(asked_again(context=3, again=4), draws=0).finding
    assert more.endswith("in context, grades change 50.0 percentage points more often.")


def test_correlations_are_scipys_on_the_documents_that_count() -> None:
    study = context_study(seed=5, queries=40)
    frame = study.judgments.frame
    wide = frame.pivot("aspect", index=["query", "doc", "context", "judge"], values="label")
    found = overall_correlation(study.judgments, draws=0).frame
    for setting, chosen in (("alone", pl.col("context").is_null()), ("context", pl.col("context").is_not_null())):
        full = wide.filter(chosen).drop_nulls([name for name in wide.columns if name != "context"])
        known = found.filter(pl.col("aspect") != "overall alone").select("aspect", setting)
        assert {*known["aspect"]} == {*frame["aspect"]} - {"overall"}
        for aspect, rho in known.iter_rows():
            assert rho == pytest.approx(spearmanr(full[aspect], full["overall"]).statistic)
    alone = wide.filter(pl.col("context").is_null()).drop("context")
    both = wide.filter(pl.col("context").is_not_null()).join(alone, on=["query", "doc", "judge"])
    changes = change_correlation(study.judgments, draws=0).frame.select("first", "second", "rho", "n")
    assert changes.height == comb(frame["aspect"].n_unique(), 2)
    for first, second, rho, n in changes.iter_rows():
        used = both.drop_nulls(
            ["overall", "overall_right", *(f"{a}{e}" for a in (first, second) for e in ("", "_right"))]
        )
        change = [used[aspect] - used[f"{aspect}_right"] for aspect in (first, second)]
        assert used.height == n
        assert rho == pytest.approx(spearmanr(*change).statistic)


def test_agreement_by_hand() -> None:
    said = {"ann": [2, 0, 1, 2], "bob": [2, 0, 1, 1]}
    given = [
        row
        for judge, labels in said.items()
        for place, label in enumerate(labels)
        for row in rows([(f"d{place}", None, {"overall": label})], judge)
    ]
    # 3 of 4 alike; of all eight grades two are 0, three 1, three 2: (4 + 9 + 9)/64 by chance, whoever is called first.
    frame = setting_agreement(Judgments.of(given)).frame
    assert frame.select("figure", "alone", "n_alone", "n_context").rows() == [
        ("kappa", pytest.approx((48 - 22) / (64 - 22)), 4, 0),
        ("jaccard", pytest.approx(3 / 5), 4, 0),
    ]
    with pytest.raises(Undefined, match="No document was graded by two judges"):
        setting_agreement(Judgments.of(BY_HAND))


def test_prediction_tells_what_one_aspect_decides() -> None:
    rng = np.random.default_rng(3)
    grade, other = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    given = [
        row
        for i in range(300)
        for row in rows(
            [(f"d{i}", None, {"overall": grade[i] if grade[i] else None, "authority": grade[i], "taste": other[i]})],
            query=f"q{i % 30}",
        )
    ]
    frame = predict_overall(Judgments.of(given), [["authority"], ["taste"]]).frame
    found = {name: (alone, random) for name, alone, random in frame.select("aspects", "alone", "random_alone").rows()}
    # Overall is authority, or N/A where that is 0: told every time. Taste knows nothing: a quarter, by chance.
    assert found["authority"] == (1.0, 1.0)
    assert found["all aspects"] == (1.0, 1.0)
    assert found["taste"][0] < 0.36
    assert frame["n_alone"].to_list() == [300] * 4
    with pytest.raises(BadInput, match="expected some of authority, taste, found smell"):
        predict_overall(Judgments.of(given), [["smell"]])


@pytest.mark.parametrize("tell", ALL)
def test_a_judge_who_says_na_throughout_is_named_and_changes_nothing(tell: Callable[..., Result]) -> None:
    study = made(seed=4, queries=15, twice=1.0)
    frame = study.judgments.frame
    silent = frame.filter(pl.col("judge") == "judge-01").with_columns(
        judge=pl.lit("silent"), label=pl.lit(None, pl.Float64)
    )
    mixed = Judgments.of(pl.concat([frame, silent]))
    found = tell(mixed)
    assert found.finding
    assert found.frame.equals(tell(study.judgments).frame, null_equal=True)
    pages = silent.select("query", "doc", "context").n_unique()
    assert f"silent answered N/A throughout ({pages} documents): left out" in found.notes
    nothing = Judgments.of(frame.with_columns(label=pl.lit(None, pl.Float64)))
    with pytest.raises(Undefined, match="every answer is N/A"):
        tell(nothing)


@pytest.mark.parametrize("tell", ALL)
def test_overall_alone_is_told_as_far_as_it_goes(tell: Callable[..., Result]) -> None:
    study = made(seed=4, queries=15)
    plain = Judgments.of(study.judgments.frame.filter(pl.col("aspect") == "overall").drop("aspect"))
    if tell in (aspect_distribution, grade_change, mean_change, setting_agreement):
        assert tell(plain).frame.height
    else:
        with pytest.raises(Undefined, match="Nothing was asked but overall"):
            tell(plain)


@pytest.mark.parametrize("tell", ALL)
def test_one_setting_is_told_as_far_as_it_goes(tell: Callable[..., Result]) -> None:
    study = made(seed=4, queries=15)
    for chosen in (pl.col("context").is_null(), pl.col("context").is_not_null()):
        part = Judgments.of(study.judgments.frame.filter(chosen))
        if tell in (grade_change, mean_change, change_correlation):
            with pytest.raises(Undefined, match=r"judged in context|both alone and in context"):
                tell(part)
        else:
            found = tell(part)
            assert "nan" not in found.finding
            assert any(note.startswith("no document was judged") for note in found.notes)


@pytest.mark.parametrize("tell", ALL)
def test_one_query_has_figures_without_intervals(tell: Callable[..., Result]) -> None:
    study = context_study(seed=4, queries=1, docs=10, scheme="pairs", twice=1.0, coverage={"novelty": (1.0, 1.0)})
    found = tell(study.judgments)
    assert "nan" not in found.finding
    assert "interval" not in found.finding
    ends = [name for name in found.frame.columns if name.endswith(("low", "high"))]
    assert ends
    assert found.frame.select(pl.col(ends).is_nan().all()).row(0) == (True,) * len(ends)


@pytest.mark.parametrize("tell", ALL)
def test_nothing_and_no_overall_are_refused(tell: Callable[..., Result]) -> None:
    with pytest.raises(BadInput, match="expected at least one judgment"):
        tell(Judgments.of(pl.DataFrame(BY_HAND).clear()))
    with pytest.raises(BadInput, match="expected the aspect overall among others, found topicality"):
        tell(Judgments.of([row for row in BY_HAND if row["aspect"] == "topicality"]))
    measured = [{**row, "label": float(place)} for place, row in enumerate(BY_HAND * 2)]
    with pytest.raises(BadInput, match="at most 25 different grades"):
        tell(Judgments.of([{**row, "judge": str(place // 18)} for place, row in enumerate(measured)]))


def test_a_document_after_itself_and_an_answer_given_twice_are_left_aside_and_said() -> None:
    odd = [*BY_HAND, *rows([("a", "a", {"overall": 0})]), *rows([("a", None, {"overall": 0})])]
    found = mean_change(Judgments.of(odd))
    told = pl.exclude("retest", "n_retest")  # the second answer tells of the judge
    assert found.frame.select(told).equals(mean_change(Judgments.of(BY_HAND)).frame.select(told))
    assert found.frame.select("retest", "n_retest").row(0) == (-3.0, 1)
    assert "1 judgment of a document read after itself left aside (document a of query q)" in found.notes
    assert "1 label repeated by the same judge: the first counts" in found.notes


def test_a_document_in_context_that_this_judge_did_not_judge_alone_is_said() -> None:
    more = [*BY_HAND, *rows([("e", "a", {"overall": 4})]), *rows([("a", "b", {"overall": 0})], "bob")]
    found = mean_change(Judgments.of(more))
    assert found.frame["n"].to_list() == [2, 1, 1]
    assert "2 documents judged in context but not alone by the same judge: no change to tell" in found.notes


def test_names_of_aspects_are_read_kindly() -> None:
    kindly = [{**row, "aspect": row["aspect"].upper() + " "} for row in BY_HAND]
    kindly = [{**row, "aspect": None if row["aspect"] == "OVERALL " else row["aspect"]} for row in kindly]
    assert aspect_coverage(Judgments.of(kindly)).frame.equals(aspect_coverage(Judgments.of(BY_HAND)).frame)


@pytest.mark.parametrize("wrong", [{"level": 1.5}, {"draws": -1}, {"seed": -1}])
def test_odd_options_are_refused(wrong: dict[str, Any]) -> None:
    judgments = context_study(seed=1, queries=8, twice=1.0).judgments
    for tell in ALL:
        if tell is not mean_change:
            with pytest.raises(BadInput, match="expected"):
                tell(judgments, **wrong)
