"""Who answered what: judges paired with others only, changes by any column, answers that are none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

import karat as kt
from karat.context.aspect_correlation import overall_correlation, predict_overall
from karat.context.aspect_statistics import aspect_coverage, aspect_distribution
from karat.context.grade_change import grade_change, mean_change
from karat.context.setting_agreement import setting_agreement
from karat.labels import consensus
from karat.simulate import context_study
from simulated import about, studies


def row(doc: str, label: float | None, judge: str | None = "ann", **more: Any) -> dict[str, Any]:
    return {"query": "q", "doc": doc, "label": label, "judge": judge, **more}


def test_a_judge_of_several_subtopics_is_not_paired_with_himself() -> None:
    said = {"ann": [2, 0, 1, 2], "bob": [2, 0, 1, 1]}
    given = [
        row("d", label, judge, subtopic=str(place))
        for judge, labels in said.items()
        for place, label in enumerate(labels)
    ]
    # As four documents: 3 of 4 alike; of all eight grades two are 0, three 1, three 2, so (4 + 9 + 9)/64 by chance.
    frame = setting_agreement(given, draws=0).frame
    assert frame.select("figure", "alone", "n_alone").rows() == [
        ("kappa", pytest.approx((48 - 22) / (64 - 22)), 4),
        ("jaccard", pytest.approx(3 / 5), 4),
    ]
    with pytest.raises(kt.Undefined, match="No document was graded by two judges"):
        setting_agreement([row for row in given if row["judge"] == "ann"])


@pytest.fixture(scope="module")
def grouped() -> kt.Judgments:
    frame = context_study(seed=3, queries=24, judges=4).judgments.frame
    return kt.Judgments.of(frame.with_columns(group=pl.lit("crowd"), subtopic=pl.lit("1")))


@pytest.mark.parametrize("by", ["judge", "query", "doc", "context", "group", "subtopic", "time"])
def test_changes_are_told_by_any_column_and_add_up(grouped: kt.Judgments, by: str) -> None:
    whole = mean_change(grouped).frame.filter(pl.col("aspect") == "overall").row(0, named=True)
    parts = mean_change(grouped, by).frame.filter(pl.col("aspect") == "overall")
    assert parts["n"].sum() == whole["n"]
    assert (parts["n"] * parts["change"]).sum() / whole["n"] == pytest.approx(whole["change"])
    assert parts[by].n_unique() == parts.height


@pytest.mark.parametrize("by", ["aspect", "label", "n"])
def test_what_every_row_has_is_nothing_to_compare_by(grouped: kt.Judgments, by: str) -> None:
    named = kt.Judgments.of(grouped.frame.with_columns(n=pl.lit("x")))
    with pytest.raises(kt.BadInput, match=f"the column to compare by: expected .* found {by}"):
        mean_change(named, by)


def test_an_aspect_is_the_same_in_capitals_everywhere() -> None:
    frame = context_study(seed=3, queries=12).judgments.frame
    shouted = frame.with_columns(pl.col("aspect").str.to_uppercase() + " ")
    plain, loud = kt.Judgments.of(frame), kt.Judgments.of(shouted)
    assert set(loud.frame["aspect"]) == set(plain.frame["aspect"])
    assert consensus(loud).frame.equals(consensus(plain).frame)
    runs = {query: {"d": 1.0} for query in frame["query"].unique()}
    assert kt.score(shouted, runs, "P@1", draws=0).means.equals(kt.score(frame, runs, "P@1", draws=0).means)
    assert aspect_coverage(loud, draws=0).frame.equals(aspect_coverage(plain, draws=0).frame)


def test_a_judge_who_never_answers_is_left_out_of_the_prediction() -> None:
    study = context_study(seed=4, queries=30).judgments
    silent = study.frame.with_columns(judge=pl.lit("mute"), label=pl.lit(None, pl.Float64))
    found = predict_overall(pl.concat([study.frame, silent]), [["topicality"]], draws=0)
    # With the N/A of half of all answers as a grade, the most frequent one would be right for half of the documents.
    assert found.frame.equals(predict_overall(study, [["topicality"]], draws=0).frame)
    assert sum("mute answered N/A throughout" in note for note in found.notes) == 1


def test_many_silent_judges_are_counted() -> None:
    given = [row("d", 2, "ann"), *(row(f"d{n}", None, f"mute-{n}") for n in range(5))]
    notes = setting_notes(given)
    assert "mute-0 answered N/A throughout (1 document): left out" in notes
    assert "2 more judges answered N/A throughout (2 documents): left out" in notes


def setting_notes(given: list[dict[str, Any]]) -> tuple[str, ...]:
    from karat.context.aspect_sheets import Sheets

    return Sheets.of(given).notes


def test_a_second_answer_is_said_to_be_of_a_judge_only_where_one_is_named() -> None:
    twice = [row("d", 2, time="2024-01-01"), row("d", 1, time="2024-01-02")]
    assert setting_notes(twice) == ("1 label repeated by the same judge: the first counts",)
    nameless = [{key: value for key, value in given.items() if key != "judge"} for given in twice]
    assert "2 labels without a judge's name taken for those of one judge" in setting_notes(nameless)


def test_frames_and_rows_are_taken_as_they_are() -> None:
    study = context_study(seed=3, queries=12).judgments
    expected = aspect_coverage(study, draws=0).frame
    assert aspect_coverage(study.frame, draws=0).frame.equals(expected)
    assert aspect_coverage(study.frame.rows(named=True), draws=0).frame.equals(expected)
    with pytest.raises(kt.BadInput, match="the judgments"):
        aspect_coverage("judgments.csv")


def test_grades_that_are_all_alike_are_said_to_be_so() -> None:
    frame = context_study(seed=1, queries=20, twice=1.0).judgments.frame
    same = frame.with_columns(label=pl.when(pl.col("label").is_not_null()).then(2.0))
    assert (
        "All aspects are equally like overall in spread (0 % of the grades would" in aspect_distribution(same).finding
    )
    agreement = setting_agreement(same)
    pairs = sum(agreement.frame.select("n_alone", "n_context").row(0))
    said = f"All overall grades are alike ({pairs} pairs of judgments): agreement beyond chance is undefined."
    assert agreement.finding == said
    assert re.match(
        r"No correlation is defined: grades do not vary over \d+ documents", overall_correlation(same).finding
    )


def two_voices() -> list[dict[str, Any]]:
    """ann is severe, bob is lenient, and they share documents with eve: a table of rows and columns by name would
    depend on who comes first."""
    said = {"ann": "0010010201", "bob": "1121121212", "eve": "0111021202"}
    return [
        {"query": f"q{place}", "doc": "d", "label": int(grade), "judge": judge}
        for judge, grades in said.items()
        for place, grade in enumerate(grades)
        if (judge, place % 3) not in {("ann", 2), ("bob", 0), ("eve", 1)}
    ]


@pytest.mark.parametrize("names", [("ann", "bob", "eve"), ("zoe", "bob", "eve"), ("m", "z", "a")])
def test_kappa_does_not_change_when_judges_are_renamed(names: tuple[str, ...]) -> None:
    """Cohen's kappa as scikit-learn has it, of all pairs of judges in both orders."""
    new = dict(zip(("ann", "bob", "eve"), names, strict=True))
    given = [row | {"judge": new[row["judge"]]} for row in two_voices()]
    value = setting_agreement(given, draws=0).frame.filter(pl.col("figure") == "kappa")["alone"][0]
    pairs = [
        (one["label"], two["label"])
        for one in given
        for two in given
        if one["query"] == two["query"] and one["judge"] != two["judge"]
    ]
    assert value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))


def test_snippets_gold_and_the_way_times_are_written_change_nothing() -> None:
    study = context_study(seed=3, queries=12).judgments.frame
    plain = [tell(study) for tell in (mean_change, setting_agreement, aspect_coverage)]
    snippets = study.with_columns(surface=pl.lit("snippet"), label=pl.lit(0.0))
    gold = study.with_columns(judge=pl.lit("g"), group=pl.lit("gold"), label=pl.lit(4.0))
    both = pl.concat([study.with_columns(group=pl.lit("crowd")), gold], how="diagonal")
    for more in (pl.concat([study.with_columns(surface=pl.lit("page")), snippets], how="diagonal"), both):
        for tell, before in zip((mean_change, setting_agreement, aspect_coverage), plain, strict=True):
            found = tell(more)
            assert found.frame.equals(before.frame)
            assert any("left aside" in note for note in found.notes)


@pytest.mark.parametrize("times", [("9", "10"), ("2024-05-01T09:00:00Z", "2024-05-01T11:30:00+02:00")])
def test_the_first_answer_counts_by_time_and_the_second_is_the_judges_own_change(times: tuple[str, str]) -> None:
    """Ann, alone: 2 first, 0 when asked again; after c: 1. In context she changes by 1, and by 2 without any reason."""
    given = [row("d", 0, time=times[1]), row("d", 2, time=times[0]), row("d", 1, context="c", time=times[1])]
    found = mean_change(given).frame.row(0, named=True)
    assert (found["change"], found["retest"], found["n_retest"]) == (-1.0, -2.0, 1)
    sizes = grade_change(given, draws=0)
    assert sizes.frame.select("size", "share", "retest", "n_retest").rows() == [(1.0, 1.0, 0.0, 1), (2.0, 0.0, 1.0, 1)]
    assert "repeat their overall grade in 0.0% of cases" in sizes.finding
    alone = mean_change(given[1:])
    nobody = "none of these judges was asked twice in one setting: what they change by themselves is not known"
    assert nobody in alone.notes
    # What Bob, who read nothing before, says when asked again tells nothing of Ann.
    bob = [row("d", label, judge="bob", time=time) for label, time in zip((3, 0), times, strict=True)]
    assert nobody in mean_change([*given[1:], *bob]).notes
    assert nobody in grade_change([*given[1:], *bob], draws=0).notes


def test_a_judges_change_is_seen_against_that_judges_own() -> None:
    """Ann says the same again, Bob a grade more; both lose a grade in context."""
    given = [
        row("d", label, judge=judge, context=context, time=str(time))
        for judge, second in (("ann", 2), ("bob", 3))
        for time, (label, context) in enumerate([(2, None), (second, None), (1, "c")])
    ]
    found = mean_change(given, by="judge").frame.sort("judge")
    assert found.select("judge", "change", "retest").rows() == [("ann", -1.0, 0.0), ("bob", -1.0, 1.0)]
    assert mean_change(given).frame["retest"].to_list() == [0.5]


def test_people_without_names_do_not_repeat_themselves() -> None:
    given = [row("d", label, judge=None, context=context) for label, context in ((2, None), (0, None), (1, "c"))]
    notes = mean_change(given).notes
    assert "1 label without a name beside another of the same document left aside" in notes
    assert not any("repeated by the same judge" in note for note in notes)


@pytest.mark.evidence
def test_habits_of_single_judges_are_not_called_an_effect_of_context() -> None:
    """Eight judges of 15 queries each, who fall or rise in context by a habit of their own, none on the mean: clustered
    by query alone, 31 % of such studies found a change; 5 % is what is promised."""
    found, seeds = 0, studies(30, 1000)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        habit = rng.normal(0, 0.5, 8)
        query, judge = np.arange(120), np.repeat(np.arange(8), 15)
        change = np.rint(habit[judge] + rng.normal(0, 1, 120))
        frame = pl.DataFrame({"query": query, "judge": judge, "label": 3.0, "change": change}).cast(
            {"query": pl.String, "judge": pl.String}
        )
        alone = frame.select("query", "judge", "label", doc=pl.lit("d"), context=pl.lit(None, pl.String))
        label = pl.col("label") + pl.col("change")
        after = frame.select("query", "judge", label=label, doc=pl.lit("d"), context=pl.lit("c"))
        told = mean_change(pl.concat([alone, after.select(alone.columns)]))
        found += told.frame["p"][0] < 0.05
        assert any("judges like these" in note for note in told.notes)
    assert found / len(seeds) == about(0.05, len(seeds), off=0.01)
