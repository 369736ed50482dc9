"""Simulated users: they prefer what is worth more to them, err as they were told to, and meet traps."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput
from karat.records import Judgments, Preferences, Runs
from karat.simulate import preference_study, side_by_side

LABELS = Judgments.of(
    [
        {"query": q, "subtopic": s, "doc": d, "label": float(d == f"d{s}")}
        for q in ("q1", "q2")
        for s in "12"
        for d in ("d1", "d2")
    ]
)
RUNS = Runs.of(
    {
        "one": {q: {"d1": 2.0, "d2": 1.0} for q in ("q1", "q2")},
        "two": {q: {"d2": 2.0, "d1": 1.0} for q in ("q1", "q2")},
    }
)


def chosen(said: Preferences) -> pl.Series:
    """The system that was preferred, none where none was."""
    frame = said.frame.filter(~pl.col("trap"))
    side = pl.when(pl.col("choice") == "left").then("left").when(pl.col("choice") == "right").then("right")
    return frame.select(side)["left"]


def test_without_noise_every_judge_prefers_the_list_that_is_worth_more_for_the_subtopic() -> None:
    said = side_by_side(LABELS, RUNS, "RR", judges=3, noise=0.0).frame.filter(~pl.col("trap"))
    assert {*said["subtopic"]} == {"1", "2"}
    for row in said.iter_rows(named=True):
        best = {"1": "one", "2": "two"}[row["subtopic"]]
        assert row[row["choice"]] == best
        assert row["strength"] == 2.0


def test_the_same_seed_gives_the_same_answers_and_another_seed_others() -> None:
    one, same, other = (preference_study(queries=10, seed=seed).preferences.frame for seed in (4, 4, 5))
    assert one.equals(same)
    assert not one.equals(other)


def test_sides_are_drawn_by_lot_and_all_judges_of_a_question_differ() -> None:
    study = preference_study(queries=60, judges=5, seed=1)
    frame = study.preferences.frame.filter(~pl.col("trap"))
    assert (frame["left"] < frame["right"]).mean() == pytest.approx(0.5, abs=0.06)
    pair = [pl.min_horizontal("left", "right").alias("a"), pl.max_horizontal("left", "right").alias("b")]
    asked = frame.group_by("query", *pair).agg(pl.len(), judges=pl.col("judge").n_unique())
    assert (asked["len"] == 5).all()
    assert (asked["judges"] == 5).all()


def test_a_fifth_of_the_comparisons_are_traps_which_the_careful_pass_and_the_careless_mostly_fail() -> None:
    traps = {}
    for careless in (0.0, 1.0):
        frame = preference_study(queries=80, careless=careless, seed=2).preferences.frame
        assert frame["trap"].mean() == pytest.approx(1 / 5, abs=0.01)
        met = frame.filter("trap")
        traps[careless] = (met["choice"] == met["expected"]).mean()
        assert met["expected"].is_in(["left", "right"]).all()
        assert (met["expected"] == "left").mean() == pytest.approx(0.5, abs=0.08)
    assert traps[0.0] == pytest.approx(0.985, abs=0.02)
    assert traps[1.0] == pytest.approx(0.25, abs=0.06)


def test_both_lists_worthless_is_answered_with_none() -> None:
    nothing = Judgments.of({"q1": {"d1": 0, "d2": 0}})
    said = side_by_side(nothing, RUNS, "RR", judges=2, block=0)
    assert said.frame["choice"].to_list() == ["none", "none"]


def test_more_noise_means_fewer_judges_on_the_better_side() -> None:
    right = []
    for noise in (0.1, 1.0, 5.0):
        study = preference_study("nDCG@10", queries=60, noise=noise, equal=0.0, block=0, seed=3)
        calm = preference_study("nDCG@10", queries=60, noise=0.0, equal=0.0, block=0, seed=3)
        assert study.runs.frame.equals(calm.runs.frame)
        key = [pl.col("query"), pl.min_horizontal("left", "right"), pl.max_horizontal("left", "right").alias("b")]
        best = calm.preferences.frame.select(*key, best=chosen(calm.preferences)).unique(["query", "left", "b"])
        mine = study.preferences.frame.select(*key, mine=chosen(study.preferences))
        both = mine.join(best, on=["query", "left", "b"])
        right.append((both["mine"] == both["best"]).mean())
    assert right[0] > 0.93 > right[1] > 0.65 > right[2] > 0.5


def test_users_may_differ_in_what_a_list_is_worth_to_them() -> None:
    """Half go by the first document, half by the number of relevant ones, where the two point different ways."""
    labels = Judgments.of({"q": {"a": 1, "b": 1, "c": 1, "x": 0, "y": 0, "z": 0}})
    runs = Runs.of({"top": {"q": {"a": 3.0, "x": 2.0, "y": 1.0}}, "many": {"q": {"z": 3.0, "b": 2.0, "c": 1.0}}})
    said = side_by_side(labels, runs, ["RR", "P@3"], judges=400, noise=0.0, block=0, seed=1)
    assert (chosen(said) == "top").mean() == pytest.approx(0.5, abs=0.08)


def test_random_preferences_know_nothing_of_the_lists() -> None:
    study = preference_study(None, queries=200, systems=2, pairs_per_query=1, judges=1, block=0, noise=0.0, seed=1)
    assert (chosen(study.preferences) == "s2").mean() == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize(
    "options",
    [{"judges": 0}, {"noise": -1.0}, {"careless": 2.0}, {"block": 1}],
)
def test_impossible_studies_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        side_by_side(LABELS, RUNS, "RR", **options)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="nothing to compare"):
        side_by_side(LABELS, Runs.of({"q1": {"d1": 1.0}}), "RR")


def test_strength_is_two_from_clear_on() -> None:
    frame = preference_study("nDCG@10", queries=40, clear=0.0, block=0).preferences.frame
    preferring = frame["choice"].is_in(["left", "right"])
    assert (frame.filter(preferring)["strength"] == 2.0).all()
    assert (frame.filter(~preferring)["strength"] == 0.0).all()
    assert np.isin(preference_study(queries=40).preferences.frame["strength"].to_numpy(), [0, 1, 2]).all()
