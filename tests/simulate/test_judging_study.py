"""The simulated study is what its truth says."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2_contingency

from karat.errors import BadInput
from karat.records import Judgments
from karat.simulate import (
    JudgingStudy,
    draw,
    fatigue,
    judging_study,
    label_chances,
    position_clicks,
)
from karat.simulate.judges import moved, steps_for


@cache
def large() -> JudgingStudy:
    return judging_study(seed=7, queries=2000)


def errors(study: JudgingStudy, group: str, *, first_two: bool = True) -> pl.DataFrame:
    """The labels of a group beside the true grades; of each pair the first two, which nothing selected."""
    frame = study.judgments.frame.filter(pl.col("group") == group)
    if first_two:
        frame = frame.sort("time").filter(pl.int_range(pl.len()).over("query", "doc") < 2)
    joined = frame.join(study.pairs, on=["query", "doc"]).with_columns(error=pl.col("label") - pl.col("grade"))
    assert joined.height == frame.height
    return joined


def mean_and_error(values: pl.Series) -> tuple[float, float]:
    numbers = values.to_numpy()
    return float(numbers.mean()), float(numbers.std() / np.sqrt(len(numbers)))


def test_the_crowd_overrates_wikipedia_by_half_a_grade() -> None:
    study = large()
    found = errors(study, "crowd")
    on, off = (found.filter(pl.col("wikipedia") == wp)["error"] for wp in (True, False))
    (a, sd_a), (b, sd_b) = mean_and_error(on), mean_and_error(off)
    assert study.truth["crowd_wikipedia"] == pytest.approx(0.5, abs=1e-9)
    assert study.truth["crowd_wikipedia_gap"] == pytest.approx(0.5, abs=0.02)
    assert a - b == pytest.approx(study.truth["crowd_wikipedia_gap"], abs=4 * np.hypot(sd_a, sd_b))
    assert np.hypot(sd_a, sd_b) < 0.02


def test_other_groups_and_other_features_have_no_such_effect() -> None:
    study = large()
    for group, feature in (("professional", "wikipedia"), ("gold", "wikipedia"), ("crowd", "query_in_url")):
        found = errors(study, group)
        on, off = (found.filter(pl.col(feature) == has)["error"] for has in (True, False))
        (a, sd_a), (b, sd_b) = mean_and_error(on), mean_and_error(off)
        assert a - b == pytest.approx(0, abs=0.001 + 4 * np.hypot(sd_a, sd_b))


def test_expected_figures_are_met() -> None:
    study = large()
    for group in ("crowd", "professional"):
        found = errors(study, group)
        mean, sd = mean_and_error(found["error"])
        assert mean == pytest.approx(study.truth[f"{group}_mean_error"], abs=4 * sd)
        right, sd = mean_and_error((found["error"] == 0).cast(pl.Float64))
        assert right == pytest.approx(study.truth[f"{group}_correct"], abs=4 * sd)
        assert found["label"].std(ddof=0) == pytest.approx(study.truth[f"{group}_spread"], abs=0.01)


def test_professionals_squeeze_the_scale() -> None:
    study = large()
    professional, crowd = errors(study, "professional"), errors(study, "crowd")
    true = study.pairs["grade"]
    assert professional["label"].var() < 0.75 * true.var()  # type: ignore[operator]
    assert crowd["label"].var() > true.var()  # type: ignore[operator]
    ends = [found["label"].is_in([0.0, 4.0]).mean() for found in (professional, crowd)]
    assert ends[0] < 0.6 * ends[1]  # type: ignore[operator]
    assert study.truth["professional_squeeze"] == 0.35


def test_a_spammer_knows_nothing_and_is_quick() -> None:
    study = judging_study(seed=5, queries=1000, spammers=2, crowd=8)
    assert study.spammers == ("crowd-1", "crowd-2")
    found = errors(study, "crowd")
    spam = found.filter(pl.col("judge").is_in(study.spammers))
    table = spam.group_by("grade", "label").len().pivot(on="label", index="grade", values="len").drop("grade")
    assert chi2_contingency(table.to_numpy()).pvalue > 0.001
    on, off = (spam.filter(pl.col("wikipedia") == wp)["label"] for wp in (True, False))
    assert abs(on.mean() - off.mean()) < 4 * 1.5 * (1 / len(on) + 1 / len(off)) ** 0.5  # type: ignore[operator]
    honest = found.filter(~pl.col("judge").is_in(study.spammers))
    assert spam["seconds"].median() < 0.3 * honest["seconds"].median()  # type: ignore[operator]
    # The group's effect is planted whole, so the other judges carry the spammers' share.
    assert study.truth["crowd_wikipedia"] == pytest.approx(0.5)


def test_a_third_label_is_asked_for_when_the_first_two_differ_and_only_then() -> None:
    frame = judging_study(seed=2).judgments.frame.filter(pl.col("group") != "gold").sort("time", maintain_order=True)
    pairs = frame.group_by("group", "query", "doc").agg(
        pl.col("label"), pl.col("judge").n_unique().alias("judges"), pl.len().alias("n")
    )
    differ = pairs["label"].list.get(0) != pairs["label"].list.get(1)
    assert (pairs["n"] == differ.cast(pl.Int64) + 2).all()
    assert (pairs["judges"] == pairs["n"]).all()
    assert differ.any()
    assert not differ.all()
    always = judging_study(seed=2, stop_rule=False).judgments.frame.filter(pl.col("group") == "crowd")
    assert always.height == 3 * 1600


def test_a_scale_that_ends_plants_what_it_can_and_says_so() -> None:
    study = judging_study(seed=1, queries=50, wikipedia=4.0)
    found = errors(study, "crowd")
    on = found.filter("wikipedia")
    honest = on.filter(~pl.col("judge").is_in(study.spammers))
    assert (honest["label"] == 4).all()
    assert 1 < study.truth["crowd_wikipedia"] < 3
    none = judging_study(seed=1, queries=50, wikipedia=0.0)
    assert none.truth["crowd_wikipedia"] == 0.0
    less = judging_study(seed=1, queries=50, wikipedia=-0.5)
    assert less.truth["crowd_wikipedia"] == pytest.approx(-0.5)


def test_gold_is_true_and_its_sample_known() -> None:
    study = judging_study(seed=4, queries=200, gold=0.25)
    gold = study.gold.frame.join(study.pairs, on=["query", "doc"])
    assert (gold["label"] == gold["grade"]).all()
    assert gold["probability"].unique().to_list() == [0.25]
    assert len(study.gold) == pytest.approx(800, abs=4 * np.sqrt(3200 * 0.25 * 0.75))
    assert study.judgments.frame.filter(pl.col("group") == "gold").height == len(study.gold)


def test_the_same_seed_makes_the_same_study_and_another_another() -> None:
    one, same, other = (judging_study(seed=s, queries=10) for s in (1, 1, 2))
    for name in ("judgments", "gold", "queries", "documents", "clicks", "runs"):
        assert getattr(one, name).frame.equals(getattr(same, name).frame)
    assert not one.judgments.frame.equals(other.judgments.frame)


def test_a_study_holds_what_the_analyses_ask_for() -> None:
    study = judging_study(seed=3, queries=20, llm=True, cant_tell=0.05)
    assert study.judgments.frame.columns == ["query", "doc", "label", "judge", "group", "time", "seconds"]
    assert study.judgments.frame["group"].unique().sort().to_list() == ["crowd", "gold", "llm", "professional"]
    assert study.judgments.frame["label"].null_count() > 0
    assert study.judgments.frame["time"].str.to_datetime("%Y-%m-%dT%H:%M:%S").null_count() == 0
    assert study.runs.systems == ["bm25", "wikipedia", "production"]
    assert study.queries.frame.columns == ["query", "text", "kind"]
    assert study.documents.frame.columns == ["doc", "title", "snippet", "url", "text"]
    assert "overrates Wikipedia pages by 0.50 of a grade" in repr(study)


def test_features_can_be_read_off_the_pages() -> None:
    study = judging_study(seed=3, queries=200)
    pages = study.pairs.join(study.documents.frame, on="doc").join(study.queries.frame, on="query", suffix="_query")
    host = pages["url"].str.extract("^https://([^/]+)/")
    assert ((host == "en.wikipedia.org") == pages["wikipedia"]).all()
    assert (pages["url"].str.contains("^https://[^/]+/$") == pages["root_url"]).all()
    words = [
        all(word in url.lower() for word in text.split()) for text, url in pages.select("text_query", "url").iter_rows()
    ]
    assert words == pages["query_in_url"].to_list()
    from karat.judges.features import add_features

    read = add_features(
        study.judgments,
        ["wikipedia", "query_in_url", "root_url"],
        queries=study.queries,
        documents=study.documents,
    )
    both = read.frame.join(study.pairs, on=["query", "doc"], suffix=" planted")
    for name, has in (("wikipedia", "WP"), ("query_in_url", "QiU"), ("root_url", "RU")):
        assert both[name].to_list() == [has if it else f"n{has}" for it in both[f"{name} planted"]]


def test_too_small_a_study_is_refused_and_the_smallest_works() -> None:
    for wrong in ({"queries": 0}, {"docs": 0}, {"gold": 1.5}, {"crowd": 2}, {"spammers": 19}, {"squeeze": -1.0}):
        with pytest.raises(BadInput):
            judging_study(**wrong)  # type: ignore[arg-type]
    tiny = judging_study(seed=0, queries=1, docs=1, gold=0.0, spammers=0)
    assert len(tiny.gold) == 0
    assert len(tiny.judgments) >= 4


def test_a_lenient_judge_is_lenient_by_so_much_away_from_the_ends() -> None:
    middle = label_chances([4], levels=9, spread=0.7, leniency=0.4) @ np.arange(9)
    assert middle[0] - 4 == pytest.approx(0.4, abs=1e-3)
    moved_down = label_chances([4], levels=9, spread=0.01, shift=-1.25) @ np.arange(9)
    assert moved_down[0] == pytest.approx(2.75)


def test_a_tired_judge_errs_more_and_more() -> None:
    place = np.arange(1000)
    assert fatigue(place, 0.05)[[0, 100, 999]].tolist() == pytest.approx([0.0, 0.05, 0.4995])
    truth = np.tile([0, 1, 2, 3, 4], 8000)
    labels = draw(label_chances(truth, spread=0.01, careless=fatigue(np.arange(40_000) / 40, 0.1)), seed=0)
    wrong = (labels != truth).reshape(4, -1).mean(axis=1)
    # Four of five careless answers are wrong; the share of careless ones is 1/8, 3/8, 5/8, 7/8 of 1.
    assert wrong == pytest.approx(0.8 * np.array([1, 3, 5, 7]) / 8, abs=0.02)
    study = judging_study(seed=1, queries=300, fatigued=0.2)
    found = errors(study, "crowd").sort("time").with_columns(place=pl.int_range(pl.len()).over("judge"))
    early, late = (found.filter((pl.col("place") < 100) == begin)["error"].abs().mean() for begin in (True, False))
    assert late > early + 0.2  # type: ignore[operator]


def test_moving_never_leaves_the_scale() -> None:
    chances = label_chances([0, 2, 4], spread=0.8)
    for steps in (-7.5, -1.0, -0.3, 0.6, 2.0, 9.0):
        assert moved(chances, steps).sum(axis=1) == pytest.approx(np.ones(3))
        assert moved(chances, steps).min() >= 0
    steps = steps_for(chances, 0.7)
    change = (moved(chances, steps) - chances) @ np.arange(5)
    assert change.mean() == pytest.approx(0.7)
    assert steps > 0.7


def test_bad_judges_are_refused() -> None:
    for wrong in (
        {"truth": [5]},
        {"truth": [-1]},
        {"truth": [0], "spread": 0.0},
        {"truth": [0], "careless": 1.5},
    ):
        with pytest.raises(BadInput):
            label_chances(**wrong)  # type: ignore[arg-type]


def test_users_click_by_rank_and_grade() -> None:
    shown = pl.DataFrame({"query": "q", "doc": list("abcd"), "rank": [1, 2, 1, 2], "grade": [0, 0, 4, 4]})
    clicks = position_clicks(shown, impressions=1_000_000).frame
    rate = clicks["clicks"] / 1_000_000
    assert rate.to_list() == pytest.approx([0.08, 0.08 / 2**0.8, 0.55, 0.55 / 2**0.8], abs=0.003)
    assert (clicks["satisfied"] / clicks["clicks"]).to_list() == pytest.approx([0.1, 0.1, 0.85, 0.85], abs=0.01)
    with pytest.raises(BadInput, match="grades from 0 to 4"):
        position_clicks(shown.with_columns(grade=pl.lit(5)))
    with pytest.raises(BadInput, match="the columns query, doc, rank, grade"):
        position_clicks(shown.drop("rank"))


def test_judgments_are_records_like_any_other() -> None:
    study = judging_study(seed=0, queries=5)
    again = Judgments.of(study.judgments.frame, scale=study.judgments.scale)
    assert again.frame.equals(study.judgments.frame)
