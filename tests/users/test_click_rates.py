"""Measures against clicks: rates and labels by hand, and users who click what the measure likes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from karat.errors import BadInput, Undefined
from karat.records import ClickLog, Clicks, Judgments, Runs
from karat.simulate.clicks import position_clicks
from karat.users.click_rates import against_click_rates, click_labels

COUNTS = [  # query, doc, impressions, clicks, satisfied
    ("q1", "a", 10, 5, 2),
    ("q1", "b", 10, 1, 0),
    ("q2", "a", 20, 2, 0),
    ("q2", "b", 20, 0, 0),
    ("q3", "a", 4, 3, 3),
    ("q3", "z", 4, 4, 4),
    ("q4", "a", 5, 0, 0),
]
RUN = {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in ("q1", "q2", "q3", "q4")}
LABELS = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}, "q3": {"a": 2, "b": 2}, "q4": {"a": 0}}


def clicks() -> Clicks:
    return Clicks.of(pl.DataFrame(COUNTS, schema=["query", "doc", "impressions", "clicks", "satisfied"], orient="row"))


def test_a_satisfied_click_is_worth_two_any_click_one() -> None:
    assert click_labels(clicks()).frame["label"].to_list() == [2, 1, 1, 0, 2, 2, 0]
    log = ClickLog.check(
        pl.DataFrame({"query": ["q"] * 2, "doc": ["a"] * 2, "clicked": [True, True], "dwell": [29.9, 30]})
    )
    assert click_labels(log).frame["label"].to_list() == [2]
    assert click_labels(Clicks.of(log, satisfied_after=60)).frame["label"].to_list() == [1]


def test_rates_and_click_ndcg_are_as_by_hand() -> None:
    found = against_click_rates(clicks(), LABELS, RUN, ["DCG@2"], cutoff=2, draws=0).frame
    dcg = [2 + 1 / np.log2(3), 1, 2 + 2 / np.log2(3), 0]
    by_hand = {
        "click rate": ([0.3, 0.05, 0.75, 0.0], dcg),  # (5/10 + 1/10)/2, (2/20 + 0)/2, 3/4, 0
        "satisfied rate": ([0.1, 0, 0.75, 0], dcg),
        # q1 and q2 are ideal, q3 lacks z: 2 / (2 + 2/log2 3); q4 has no click.
        "click nDCG": ([1, 1, 1 / (1 + 1 / np.log2(3))], dcg[:3]),
    }
    assert found["use"].to_list() == list(by_hand)
    for row, (used, scores) in zip(found.iter_rows(named=True), by_hand.values(), strict=True):
        assert row["n"] == len(used)
        assert row["spearman"] == pytest.approx(stats.spearmanr(scores, used).statistic)
        assert row["kendall"] == pytest.approx(stats.kendalltau(scores, used).statistic)


def test_what_the_clicks_lack_is_said() -> None:
    found = against_click_rates(Clicks(clicks().frame.drop("impressions", "satisfied")), LABELS, RUN, "P@1", draws=0)
    assert found.frame["use"].unique().to_list() == ["click nDCG"]
    assert any("no impressions" in note for note in found.notes)
    assert any("no stays" in note for note in found.notes)
    assert any("1 query without a click" in note for note in found.notes)
    with pytest.raises(Undefined, match="fewer than three queries"):
        against_click_rates(clicks().frame.head(2), LABELS, RUN, "P@1", draws=0)


def test_users_who_click_good_documents_agree_with_dcg_and_random_clicks_with_nothing() -> None:
    rng = np.random.default_rng(4)
    shown = pl.DataFrame(
        {
            "query": np.repeat([f"q{n:03}" for n in range(80)], 5),
            "doc": np.tile([f"d{n}" for n in range(5)], 80),
            "rank": np.tile(np.arange(1, 6), 80),
            "grade": np.minimum(rng.poisson(np.repeat(rng.gamma(1.5, 0.8, 80), 5)), 4),
        }
    )
    labels = Judgments.of(shown.select("query", "doc", label="grade"))
    runs, measures = Runs.of(shown.select("query", "doc", "rank", system=pl.lit("ours"))), ["DCG@5", "P@5"]
    found = against_click_rates(position_clicks(shown, impressions=60, seed=5), labels, runs, measures, draws=300)
    assert (found.frame.filter(pl.col("use") == "click rate")["spearman_low"] > 0.4).all()
    assert "go together most" in found.finding
    blind = shown.with_columns(grade=pl.lit(1))
    found = against_click_rates(position_clicks(blind, impressions=60, seed=6), labels, runs, measures, draws=300)
    rates = found.frame.filter(pl.col("use") != "click nDCG")
    assert (rates["p_adjusted"] > 0.05).all()


def log_of(dwell: list[float | None]) -> pl.DataFrame:
    n = len(dwell)
    return pl.DataFrame({"query": ["q"] * n, "doc": [f"d{i}" for i in range(n)], "clicked": [True] * n, "dwell": dwell})


def test_a_stay_that_nobody_measured_is_no_satisfied_click() -> None:
    assert click_labels(log_of([40.0, float("nan"), None])).frame["label"].to_list() == [2, 1, 1]
    assert ClickLog(log_of([40.0, float("nan")])).counts().frame["satisfied"].to_list() == [1, 0]


def test_a_stay_below_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match=r'expected a number from 0 as dwell, found "-3.0"'):
        ClickLog.check(log_of([40.0, -3.0]))
    with pytest.raises(BadInput, match="0 seconds or more"):
        click_labels(Clicks.of(log_of([40.0]), satisfied_after=float("nan")))


def test_a_log_may_come_as_a_frame_or_rows() -> None:
    made = log_of([40.0, 5.0])
    by_record = click_labels(ClickLog.check(made)).frame
    assert click_labels(made).frame.equals(by_record)
    assert click_labels(made.to_dicts()).frame.equals(by_record)
    frame = clicks().frame
    log = pl.DataFrame({"query": ["q1", "q2", "q3"], "doc": ["a"] * 3, "clicked": [True, False, True]})
    assert against_click_rates(log, LABELS, RUN, ["P@2"], draws=0).frame["n"].max() == 3
    assert against_click_rates(frame.to_dicts(), LABELS, RUN, ["P@2"], draws=0).frame.height == 3
