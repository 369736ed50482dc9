"""The live verdict: an interval that holds at every look, how many more labels, and when to stop."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.comparison.interim import Arrived, OnTheWay, look
from karat.comparison.live_verdict import live_verdict
from karat.comparison.prepared import Prepared, one_measure
from karat.correction.estimate import Difference
from karat.errors import BadInput
from karat.plan import plan_gold
from karat.simulate.graded_pair import GradedPair, graded_pair
from simulated import THOROUGH, about, studies

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from live_looks import COLUMNS, looks_at_once, missed


def gold_of(study: GradedPair, measure: str, n: int, seed: int) -> pl.DataFrame:
    """A plan's documents in random order, all with their gold labels."""
    plan = plan_gold(study.judgments(), study.runs(), measure, n, seed=seed + 10_000)
    right = study.judgments(study.truth).frame
    drawn = plan.frame.drop("label").join(right, on=["query", "doc"], maintain_order="left")
    return drawn.sample(fraction=1.0, shuffle=True, seed=seed)


def first(gold: pl.DataFrame, labels: int) -> pl.DataFrame:
    """The gold labels when so many are there."""
    return gold.with_columns(label=pl.when(pl.int_range(pl.len()) < labels).then("label"))


def by_gold(found: kt.Comparison) -> dict[str, Any]:
    return found.methods.filter(pl.col("method") == "ppi").row(0, named=True)


STUDY = graded_pair(30, shift=1.5, judge="by query", seed=1)
GOLD = gold_of(STUDY, "P@10", 100, 1)


@pytest.mark.parametrize("queries", ["sample", "fixed"])
def test_the_estimate_is_the_comparisons_on_the_way_and_at_the_end(queries: Any) -> None:
    for labels in (60, 100):
        asked: dict[str, Any] = {"gold": first(GOLD, labels), "queries": queries}
        live = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", **asked)
        once = by_gold(kt.compare(STUDY.judgments(), STUDY.runs(), "P@10", **asked))
        assert live.difference == pytest.approx(once["difference"], abs=1e-12)
        assert (live.once_low, live.once_high) == pytest.approx((once["low"], once["high"]), abs=1e-12)
        assert live.low < once["low"]
        assert live.high > once["high"]
    assert live.state == "stop"
    # At the end: z(0.99) / z(0.975), 1.187, with t quantiles for both.
    assert (live.high - live.low) / (once["high"] - once["low"]) == pytest.approx(1.2, abs=0.02)


def test_labels_come_in_the_order_of_their_time_and_an_early_look_is_that_of_the_time() -> None:
    times = np.random.default_rng(2).permutation(100)
    timed = GOLD.with_columns(time=pl.Series(times).cast(pl.String))
    shuffled = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=timed)
    sorted_ = GOLD.with_columns(at=pl.Series(times)).sort("at").drop("at")
    early = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=first(sorted_, 40))
    assert shuffled.looks.filter(pl.col("labels") == 40).row(0) == pytest.approx(early.looks.row(-1))


def test_few_labels_are_too_early_and_none_are_refused_with_the_remedy() -> None:
    found = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=first(GOLD, 19))
    assert found.finding == "Too early: 19 gold labels of 100 are there, and figures begin at 20."
    assert found.to_dict()["difference"] is None
    for gold, said in [(None, "karat plan gold"), (GOLD.drop("probability"), "the probability with which")]:
        with pytest.raises(BadInput, match=said):
            live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=gold)
    with pytest.raises(BadInput, match="expected two systems, found 1"):
        live_verdict(STUDY.judgments(), STUDY.runs()[:1], "P@10", gold=GOLD)
    with pytest.raises(BadInput, match="a difference above 0"):
        live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=GOLD, margin=-0.1)


def test_labels_that_came_query_by_query_are_no_random_part() -> None:
    found = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=first(GOLD.sort("query"), 50))
    assert found.state == "cannot say"
    assert "query by query" in found.finding
    # When all are there, it does not matter any more; but no early look is made up from such an order.
    whole = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=GOLD.sort("query"))
    assert whole.state == "stop"
    assert whole.looks["labels"].to_list() == [100]
    assert any("earlier looks are not shown" in note for note in whole.notes)


def test_who_cannot_tell_is_counted_and_nobody_waits_for_it() -> None:
    said = first(GOLD, 70).with_columns(judge=pl.when(pl.int_range(pl.len()) < 75).then(pl.lit("ana")))
    arrived = Arrived.of(kt.Judgments.of(said))
    assert (arrived.labels, arrived.silent, arrived.waiting, arrived.asked) == (70, 5, 25, 100)
    assert arrived.in_the_latest(70) == (70, 95, 100)
    found = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=said)
    assert any("of 5 drawn documents somebody could not tell" in note for note in found.notes)


def way(difference: float = 0.3, **changes: Any) -> OnTheWay:
    """50 of 100 labels; half of the variance of 0.02 goes away with the other 50: 0.01 + 0.005 / share."""
    made = OnTheWay(
        labels=50,
        once=Difference(difference, 0.02**0.5, np.nan, np.nan, np.nan),
        df=1e9,
        known=False,
        moving=0.01,
        queries=0.0,
        there=50,
        most=100,
        asked=100,
        later=False,
        alpha=0.05,
    )
    return replace(made, **changes)


def test_the_variance_to_come_by_hand() -> None:
    assert way().variance(50) == pytest.approx(0.02)
    assert way().variance(100) == pytest.approx(0.015)
    assert way().variance(80) == pytest.approx(0.01 + 0.005 / 0.8)


def test_how_many_more_labels_by_hand() -> None:
    # At a share s the interval reaches 2.326348 * (0.01 + 0.005 / s) / sqrt(0.015) = 0.189945 + 0.094972 / s, where
    # the other bound is wider: within 0.30 from s = 0.8630 on, 37 more labels.
    assert way(0.30).until_clear() == (37, "better")
    assert way(-0.30).until_clear() == (37, "worse")
    assert way(0.28).until_clear() is None  # 0.2849 at the end
    # Within a margin of 0.4 once 0.10 and the reach are below it: the same place.
    assert way(0.10).until_clear(0.4) == (37, "equivalent")
    assert way(0.39).clear() == "better"  # 0.3799 now
    assert way(0.39, later=True).clear() is None


def test_a_difference_that_is_known_has_no_width() -> None:
    assert way(0.01, known=True).clear() == "better"


def test_a_later_round_is_wider_and_said_to_be() -> None:
    turned = GOLD.with_columns(round=pl.when(pl.int_range(pl.len()) < 60).then(1).otherwise(2))
    found = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=turned)
    before = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=GOLD)
    assert found.difference == pytest.approx(before.difference)
    assert found.high - found.low > 1.2 * (before.high - before.low)
    assert any("after its first round" in note for note in found.notes)


def test_what_is_clear_at_a_look_stands_and_what_is_not_has_an_outlook() -> None:
    memo: dict[Any, Any] = {}
    found = live_verdict(STUDY.judgments(), STUDY.runs(), "P@10", gold=GOLD, memo=memo)
    assert found.verdict == "better"
    assert found.clear_at is not None
    assert found.finding.startswith("Stop: B is better than A by P@10: +")
    assert found.finding.endswith(f"It was clear after {found.clear_at}.")
    before = len(memo)
    same = graded_pair(30, judge="by query", seed=4)
    gold = gold_of(same, "P@10", 100, 4)
    open_ = live_verdict(same.judgments(), same.runs(), "P@10", gold=first(gold, 50), memo=memo)
    assert len(memo) == before + open_.looks.height
    assert open_.finding.startswith("Go on: it is not clear yet which of A and B is better by P@10: ")
    assert "if the difference stays as it is" in open_.finding
    assert open_.ahead["labels"].to_list()[-1] == 100
    again = live_verdict(same.judgments(), same.runs(), "P@10", gold=first(gold, 50), memo=memo)
    assert again.to_dict() == open_.to_dict()
    assert len(memo) == before + open_.looks.height


@pytest.mark.thorough
def test_looks_of_many_studies_at_once_are_those_of_the_study_alone() -> None:
    """Simulated studies are looked at in columns; each look is what `look` says of that study."""
    study = graded_pair(30, judge="fair", seed=7)
    plan = plan_gold(study.judgments(), study.runs(), "nDCG@10", 100, seed=10_007).frame.sort("query", "doc")
    gold = plan.drop("label").join(study.judgments(study.truth).frame, on=["query", "doc"], maintain_order="left")
    came = pl.Series(np.random.default_rng(7).permutation(100))
    arrived = Arrived.of(kt.Judgments.of(gold.select(pl.all().sort_by(came))))
    for seed, labels, measure, fixed, _, found in looks_at_once("fair", (7, 8), looks=(40,)):
        if seed == 7:
            queries = "fixed" if fixed else "sample"
            ready = Prepared.of(study.judgments(), study.runs(), one_measure(measure), queries=queries)
            alone = look(ready, arrived, labels)
            assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
            assert (found.once.low, found.once.high) == pytest.approx((alone.once.low, alone.once.high))


@pytest.mark.evidence
@pytest.mark.parametrize("judge", ["by query", "fair"])
def test_the_truth_is_outside_at_any_look_in_one_study_of_twenty_at_most(judge: Any) -> None:
    """Nine looks, after 20, 30, ... 100 labels, by DCG@10 and nDCG@10, for these queries and for all."""
    seeds = studies(2, 60)
    rows = pl.DataFrame(list(missed(judge, seeds)), schema=COLUMNS, orient="row")
    assert rows.height == 4 * len(seeds)
    live = rows.group_by("measure", "population").agg(pl.col("live").mean())["live"]
    assert all(share <= 0.05 or share == about(0.05, len(seeds)) for share in live)
    if THOROUGH:  # an ordinary interval, looked at as often, misses it in more
        assert float(rows["ordinary"].mean()) > 0.05  # type: ignore[arg-type]
