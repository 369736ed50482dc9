"""Plans: the numbers by hand, and the power that was planned is the power there is."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_1samp

from karat.comparison import compare
from karat.errors import BadInput, Undefined
from karat.plan.gold_selection import plan_gold
from karat.plan.pilot import GoldSpread, PilotVariance, _sd, pilot_variance
from karat.plan.power import plan_power
from karat.simulate.graded_pair import Erring, GradedPair, graded_pair
from karat.simulate.two_systems import two_systems
from karat.stats.power import smallest_difference
from simulated import about, studies


def test_the_plan_in_words_and_numbers() -> None:
    plan = plan_power(0.02, PilotVariance(0.2, measure="P@10"))
    assert plan.finding == "To detect a difference of 0.02 in P@10 with 80% power you need 787 queries."
    assert plan.queries == 787
    assert plan.shares.height == 0
    row = plan.curve.filter(pl.col("queries") == 787).row(0, named=True)
    assert row["power"] == pytest.approx(0.8, abs=0.001)
    assert row["smallest_difference"] == pytest.approx(0.02, abs=1e-4)
    assert plan_power(-0.02, 0.2).queries == 787


def test_fewer_gold_labels_take_more_queries_as_the_formula_has_it() -> None:
    plan = plan_power(0.02, PilotVariance(0.2, 0.005, 8.0), shares=[0.1, 1.0])
    # Normal: 7.848880 (0.04 + 0.005 * 9) / 0.0004 = 1,668, and the t test needs two more.
    assert plan.shares["queries"].to_list() == [1670, 787]
    assert plan.shares["gold_labels"].to_list() == [1670 * 8 // 10, 787 * 8]
    assert plan.shares["cost"].null_count() == 2


def test_the_cheapest_share_is_found_and_marked() -> None:
    plan = plan_power(0.02, PilotVariance(0.2, 0.005, 8.0), cost_query=5, cost_gold=1)
    row = plan.shares.filter("cheapest").row(0, named=True)
    # sqrt(R cost_query / ((sd^2 - R) pool cost_gold)) = sqrt(0.025 / 0.28) = 0.2988.
    assert row["gold_share"] == 0.3
    assert row["cost"] == row["queries"] * 5 + row["gold_labels"]
    around = plan_power(
        0.02, PilotVariance(0.2, 0.005, 8.0), cost_query=5, cost_gold=1, shares=np.linspace(0.05, 1, 96)
    )
    assert around.shares["cost"].min() == pytest.approx(row["cost"], rel=0.002)
    assert "1,016 queries and 2,439 gold labels (30% of the documents that matter)" in plan.finding


@pytest.mark.parametrize(("cost_query", "cost_gold", "share"), [(0.0, 1.0, 0.01), (1.0, 0.0, 1.0), (1e6, 1.0, 1.0)])
def test_the_cheapest_share_at_the_ends(cost_query: float, cost_gold: float, share: float) -> None:
    plan = plan_power(0.02, PilotVariance(0.2, 0.005, 8.0), cost_query=cost_query, cost_gold=cost_gold)
    assert plan.shares.filter("cheapest")["gold_share"].to_list() == [share]


def test_a_plan_goes_into_json() -> None:
    document = plan_power(0.02, PilotVariance(0.2, 0.005)).to_dict()
    assert document["queries"] == 787
    columns = {"gold_share", "queries", "gold_labels", "power", "power_error", "cost", "cheapest"}
    assert document["shares"][0].keys() == columns
    assert document["shares"][0]["gold_labels"] is None
    assert document["curve"][0].keys() == {"queries", "power", "smallest_difference"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plan_power(0.0, 0.2), "the difference: expected a number other than 0"),
        (lambda: plan_power(0.1, 0.0), "the standard deviation: expected a number above 0"),
        (lambda: plan_power(0.1, 0.2, power=0.01), "the power"),
        (lambda: plan_power(0.1, 0.2, shares=[0.5]), "give gold= to pilot_variance, or gold_variance="),
        (lambda: plan_power(0.1, 0.2, cost_gold=1), "give gold= to pilot_variance"),
        (lambda: plan_power(0.1, PilotVariance(0.2, 0.01), cost_gold=1), "give pool= to PilotVariance"),
        (lambda: plan_power(0.1, PilotVariance(0.2, 0.01), shares=[0.0]), "above 0, at most 1"),
        (lambda: plan_power(0.1, PilotVariance(0.2, -0.01)), "the variances: expected numbers from 0"),
        (lambda: plan_power(0.1, PilotVariance(0.2, 0.01, 0.0)), "a number above 0, found 0"),
        (lambda: plan_power(0.1, 0.2, cost_query=-1), "the cost of a query"),
    ],
)
def test_plans_that_cannot_be_made_are_refused(call: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        call()  # type: ignore[operator]


def gold_labels(study: GradedPair, measure: str, n: int, seed: int) -> pl.DataFrame:
    """So many gold labels, drawn as `plan_gold` does."""
    plan = plan_gold(study.judgments(), study.runs(), measure, n, seed=seed)
    truth = study.judgments(study.truth).frame.select("query", "doc", "label")
    return plan.frame.drop("label").join(truth, on=["query", "doc"])


#: True differences of systems a step apart: 40,000 queries (seeds 9,000 to 9,003), known to within 0.001.
DIFFERENCE = {"P@10": 0.0794, "nDCG@10": 0.0978}


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
@pytest.mark.evidence
def test_the_verdict_has_the_power_that_was_planned(measure: str) -> None:
    """From a pilot of 400 queries; studies of the planned size, gold labels for a quarter, the default verdict."""
    pilot = graded_pair(400, shift=1.0, seed=99)
    spread = pilot_variance(pilot.judgments(), pilot.runs(), measure, gold=gold_labels(pilot, measure, 1200, seed=98))
    seen, spreads, seeds = 0, [], studies(2, 80)
    simulated = 50 if len(seeds) > 2 else 10
    plan = plan_power(DIFFERENCE[measure], spread, shares=[0.25], studies=simulated).shares.row(0, named=True)
    for seed in seeds:
        study = graded_pair(plan["queries"], shift=1.0, seed=50_000 + seed)
        gold = gold_labels(study, measure, plan["gold_labels"], seed)
        found = compare(study.judgments(), study.runs(), measure, gold=gold, draws=100).methods
        row = found.filter(pl.col("method") == "ppi").row(0, named=True)
        seen += row["p"] <= 0.05
        half = (row["high"] - row["low"]) / 2
        spreads.append((half / 1.99) ** 2 * plan["queries"])
    if spread.model is None:
        assert np.mean(spreads) == pytest.approx(spread.at(0.25) ** 2, rel=0.25)
    assert seen / len(seeds) == about(0.8, len(seeds), off=0.03)


@pytest.mark.parametrize("judge", ["fair", "useless"])
def test_a_pilot_sets_the_spread_right_that_labels_distort(judge: Erring) -> None:
    """nDCG@10's true differences vary by 0.0478 (40,000 queries, seeds 9,000 to 9,003); by these labels by less."""
    study = graded_pair(200, shift=0.5, judge=judge, seed=7)
    gold = gold_labels(study, "nDCG@10", 600, seed=8)
    plain, right = (pilot_variance(study.judgments(), study.runs(), "nDCG@10", gold=g).sd ** 2 for g in (None, gold))
    assert plain < 0.85 * 0.0478
    assert right == pytest.approx(0.0478, rel=0.25)


def test_a_pilot_too_small_to_learn_from_leaves_the_labels_spread() -> None:
    study = graded_pair(60, seed=7)
    gold = gold_labels(study, "P@10", 15, seed=8)
    kept = pilot_variance(study.judgments(), study.runs(), "P@10", gold=gold)
    assert kept.sd == pilot_variance(study.judgments(), study.runs(), "P@10").sd
    assert "the pilot is too small to mend it" in " ".join(kept.notes)
    with pytest.raises(Undefined, match="20 or more of them, of more than one grade"):
        pilot_variance(study.judgments(), study.runs(), "nDCG@10", gold=gold)


def test_documents_of_little_weight_are_drawn_rarely_and_add_the_more_by_hand() -> None:
    """Weights 3 and 1 and half of the documents drawn: chances 0.75 and 0.25, so 1/3 and 3 times the squares."""
    gold = GoldSpread(np.array([3.0, 1.0, 3.0, 1.0]), np.array([0, 1]), np.array([0.03, 0.01]), 0.0, 2)
    assert gold.adds(0.5) == pytest.approx(0.03 / 3 + 0.01 * 3)
    assert gold.adds(1.0) == 0
    assert PilotVariance(0.2, gold=gold).at(0.5) == pytest.approx(np.sqrt(0.04 + 0.04))


def test_a_judge_who_was_never_wrong_is_not_planned_with_as_perfect() -> None:
    """Every label is right: with 60 gold labels one error in 62 is allowed for, each of a tenth in P@10."""
    study = graded_pair(60, seed=7)
    gold = gold_labels(study, "P@10", 60, seed=8)
    right = pilot_variance(study.judgments(study.truth), study.runs(), "P@10", gold=gold, calibrate=False)
    assert right.pool is not None
    assert right.gold_variance == pytest.approx(right.pool * 0.1**2 / 62, rel=0.01)
    assert "none of the 60 gold labels that count contradicts the judge" in " ".join(right.notes)


def test_notes_say_only_what_holds() -> None:
    study = graded_pair(60, seed=7)
    gold = gold_labels(study, "P@10", 60, seed=8)
    plain, right = (pilot_variance(study.judgments(), study.runs(), "P@10", gold=g) for g in (None, gold))
    said = " ".join(plan_power(0.05, plain).notes)
    assert "the true one may be smaller or larger" in said
    # What is there sees less than gold labels for everything would.
    assert right.gold is not None
    seen = smallest_difference(60, math.sqrt(right.sd**2 + right.gold.now))
    assert seen > 1.2 * smallest_difference(60, right.sd)
    said = " ".join(plan_power(0.05, right).notes)
    assert f"The 60 queries and 60 gold labels you have detect a difference of {seen:.2g}" in said


def test_the_plain_test_has_the_power_that_was_planned() -> None:
    """Labels that are right, P@10 of two systems: planned from 3,000 queries, done 4,000 times."""
    pilot = two_systems(3000, difference=0.05, right=(1.0, 1.0), seed=97)
    plan = plan_power(0.05, pilot_variance(pilot.judgments(), pilot.runs(), "P@10"))
    many = two_systems(plan.queries * 4000, difference=0.05, right=(1.0, 1.0), seed=96)
    shown = (many.rank > 0) / many.depth
    each = np.bincount(many.query, weights=(shown[:, 1] - shown[:, 0]) * many.truth)
    found = ttest_1samp(each.reshape(4000, plan.queries), 0.0, axis=1)
    assert (found.pvalue <= 0.05).mean() == pytest.approx(0.8, abs=0.03)


def test_the_spread_by_hand() -> None:
    """Ten queries; A and B show one document each, of which B's is relevant in half of the queries."""
    labels = [{"query": f"q{i}", "doc": d, "label": int(d == "b" and i < 5)} for i in range(10) for d in "ab"]
    runs = [{"system": d, "query": f"q{i}", "doc": d, "score": 1.0} for d in "ab" for i in range(10)]
    gold = [{"query": f"q{i}", "doc": "b", "label": int(i < 4), "probability": 0.5} for i in range(6)]
    spread = pilot_variance(labels, runs, "P@1", gold=gold)
    assert spread.sd == pytest.approx(np.sqrt(10 * 0.25 / 9))
    assert spread.pool == 2
    # By gold 4 of b's labels 1 are right and one is not: weight 4/5; errors 4 of 0.2 and one of 0.8, each for two.
    assert spread.gold_variance == pytest.approx((4 * 0.04 + 0.64) * 2 / 10)
    assert "known from 6 gold labels only" in " ".join(spread.notes)


@pytest.mark.parametrize("kind", ["P@10", "AP"])
@pytest.mark.parametrize("queries", [10, 50])
@pytest.mark.evidence
def test_the_interval_of_the_spread_holds(kind: str, queries: int) -> None:
    rng = np.random.default_rng(queries)

    def differences(n: int) -> np.ndarray:
        if kind == "AP":
            return rng.beta(0.6, 1.8, n) - rng.beta(0.6, 1.8, n)
        return (rng.binomial(10, 0.4, n) - rng.binomial(10, 0.4, n)) / 10

    truth = differences(1_000_000).std()
    ends = np.array([_sd(differences(queries)[:, None])[1:] for _ in studies(600, 3000)])
    assert 0.94 <= ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() <= 0.975


def test_what_the_data_cannot_tell_is_said() -> None:
    labels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    one = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(12)}
    other = {f"q{i}": {"a": 1.0, "b": 2.0} for i in range(12)}
    with pytest.raises(Undefined, match="differ by the same on every query"):
        pilot_variance(labels, {"x": one, "y": other}, "P@1")
    mixed = {f"q{i}": (one if i % 3 else other)[f"q{i}"] for i in range(12)}
    gold = {"q0": {"a": 1}}
    with pytest.raises(Undefined, match="AP cannot be corrected from gold labels of single documents"):
        pilot_variance(labels, {"x": one, "y": mixed}, "AP", gold=gold)
    with pytest.raises(Undefined, match="1 gold label on the documents that tell the systems apart"):
        pilot_variance(labels, {"x": one, "y": mixed}, "P@1", gold=gold)
    with pytest.raises(BadInput, match="two systems"):
        pilot_variance(labels, {"x": one, "y": mixed, "z": other}, "P@1")
    first = {q: labels[q] for q in ("q0", "q1")}
    few = pilot_variance(first, {"x": one, "y": mixed}, "P@1")
    assert np.isnan([few.low, few.high]).all()
    assert "known from 2 queries only" in " ".join(few.notes)
    assert "interval" not in plan_power(0.1, few).finding
