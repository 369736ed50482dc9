"""Every table and figure of the paper on judging errors is one call on a simulated study, and shows what was planted.

Kazai, Craswell, Yilmaz and Tahaghoghi (CIKM 2012). The study: the crowd overrates Wikipedia pages by half a grade, the
professionals squeeze the scale. Tables 3, 4, 7 and Fig. 2 are checked with clicks and training, in their own tests.
"""

from __future__ import annotations

import polars as pl
import pytest

from karat.judges import (
    add_features,
    against_gold,
    agreement,
    distribution,
    distribution_tests,
    error_distribution,
    find_bias,
    gold_regression,
)
from karat.records import Judgments
from karat.simulate import JudgingStudy, judging_study
from karat.users.click_preferences import against_clicks, most_clicked

FEATURES = ["wikipedia", "query_in_url", "root_url"]


@pytest.fixture(scope="module")
def study() -> JudgingStudy:
    return judging_study(seed=5, queries=150)


@pytest.fixture(scope="module")
def judgments(study: JudgingStudy) -> Judgments:
    return add_features(study.judgments, FEATURES, queries=study.queries, documents=study.documents)


def test_table_2_agreement_per_group_and_feature(judgments: Judgments) -> None:
    frame = agreement(judgments, by="wikipedia").frame
    first = frame.filter((pl.col("labels") == "first two") & pl.col("against").is_null())
    fleiss = {(r["group"], r["wikipedia"]): r["fleiss"] for r in first.iter_rows(named=True)}
    assert {"WP", "nWP", None} <= {value for _, value in fleiss}
    assert fleiss["professional", None] > fleiss["crowd", None] + 0.1
    assert first.filter(pl.col("group") == "crowd")["n_pairs"].to_list()[0] == 150 * 16


def test_figure_1_professionals_squeeze_the_scale(judgments: Judgments) -> None:
    frame = distribution(judgments).frame
    ends = frame.filter(pl.col("grade").is_in([0.0, 4.0])).group_by("group").agg(pl.col("share").sum())
    share = dict(ends.iter_rows())
    assert share["professional"] < 0.5 * share["gold"]
    tests = distribution_tests(judgments, by="wikipedia").frame
    (crowd,) = tests.filter(
        (pl.col("value") == "WP") & (pl.col("first") == "crowd") & (pl.col("second") == "gold")
    ).iter_rows(named=True)
    assert crowd["difference"] > 0.3
    assert crowd["p_holm"] < 0.001
    assert crowd["p_ordinal_holm"] < 0.001


def test_table_5_and_figure_3_the_crowd_overrates_wikipedia(study: JudgingStudy, judgments: Judgments) -> None:
    frame = against_gold(judgments, by="wikipedia").frame
    error = {(r["group"], r["value"]): r for r in frame.iter_rows(named=True)}
    gap = error["crowd", "WP"]["error"] - error["crowd", "nWP"]["error"]
    assert gap == pytest.approx(study.truth["crowd_wikipedia"], abs=0.1)
    assert error["crowd", "WP"]["over"] > error["crowd", "nWP"]["over"] + 0.15
    assert abs(error["professional", "WP"]["error"] - error["professional", "nWP"]["error"]) < 0.12
    errors = error_distribution(judgments, by="wikipedia").frame
    crowd = errors.filter((pl.col("group") == "crowd") & (pl.col("value") == "WP"))
    assert crowd["error"].to_list() == [float(e) for e in range(-4, 5)]
    assert crowd["share"].sum() == pytest.approx(1.0)


def test_table_6_regression_names_wikipedia_for_the_crowd_alone(study: JudgingStudy, judgments: Judgments) -> None:
    frame = gold_regression(judgments, FEATURES, "error").frame
    rows = {(r["group"], r["term"]): r for r in frame.iter_rows(named=True)}
    (crowd,) = [r for (group, term), r in rows.items() if group == "crowd" and "WP" in term]
    assert crowd["low"] <= study.truth["crowd_wikipedia_gap"] <= crowd["high"]
    assert crowd["p"] < 0.001
    (professional,) = [r for (group, term), r in rows.items() if group == "professional" and "WP" in term]
    assert abs(professional["coefficient"]) < 0.15
    for target in ("label", "gold"):
        assert gold_regression(judgments, FEATURES, target).frame.height  # type: ignore[arg-type]


def test_figure_2_and_table_4_clicks_rank_gold_first(study: JudgingStudy, judgments: Judgments) -> None:
    correct = {
        r["group"]: r["correct"] for r in against_clicks(judgments, study.clicks, draws=200).frame.iter_rows(named=True)
    }
    assert correct["gold"] > correct["crowd"]
    likely = most_clicked(judgments, study.clicks, draws=200).frame
    assert {"p_a", "p_r"} <= set(likely.columns)


def test_the_bias_that_was_planted_is_the_one_that_is_found(judgments: Judgments) -> None:
    found = find_bias(judgments, FEATURES)
    findings = found.frame.filter(pl.col("found"))
    assert findings.row(0, named=True)["slice"] == "Wikipedia pages"
    assert findings.row(0, named=True)["group"] == "crowd"
    assert findings.row(0, named=True)["low"] <= 0.5 <= findings.row(0, named=True)["high"]
