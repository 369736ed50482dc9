"""Plans: the numbers by hand, and the power that was planned is the power there is."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_1samp

from karat.errors import BadInput, Undefined
from karat.estimate.pool import Pool
from karat.estimate.ppi import powered
from karat.plan.power import plan_power
from karat.plan.variance import PilotVariance, _sd, pilot_variance
from karat.simulate.two_systems import TwoSystems, two_systems
from simulated import about, studies


def test_the_plan_in_words_and_numbers() -> None:
    plan = plan_power(0.02, PilotVariance(0.2, measure="P@10"))
    assert plan.finding == "To see a difference of 0.02 in P@10 with power 80 % you need 787 queries."
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
    assert "1,016 queries with gold for 30 % of what matters (2,439 labels)" in plan.finding


@pytest.mark.parametrize(("cost_query", "cost_gold", "share"), [(0.0, 1.0, 0.01), (1.0, 0.0, 1.0), (1e6, 1.0, 1.0)])
def test_the_cheapest_share_at_the_ends(cost_query: float, cost_gold: float, share: float) -> None:
    plan = plan_power(0.02, PilotVariance(0.2, 0.005, 8.0), cost_query=cost_query, cost_gold=cost_gold)
    assert plan.shares.filter("cheapest")["gold_share"].to_list() == [share]


def test_a_plan_goes_into_json() -> None:
    document = plan_power(0.02, PilotVariance(0.2, 0.005)).to_dict()
    assert document["queries"] == 787
    assert document["shares"][0].keys() == {"gold_share", "queries", "gold_labels", "cost", "cheapest"}
    assert document["shares"][0]["gold_labels"] is None
    assert document["curve"][0].keys() == {"queries", "power", "smallest_difference"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plan_power(0.0, 0.2), "the difference: expected a number other than 0"),
        (lambda: plan_power(0.1, 0.0), "the standard deviation: expected a number above 0"),
        (lambda: plan_power(0.1, 0.2, power=0.01), "the power"),
        (lambda: plan_power(0.1, 0.2, shares=[0.5]), "give a pilot with --gold, or --gold-variance"),
        (lambda: plan_power(0.1, 0.2, cost_gold=1), "give a pilot with --gold"),
        (lambda: plan_power(0.1, PilotVariance(0.2, 0.01), cost_gold=1), "give --pool"),
        (lambda: plan_power(0.1, PilotVariance(0.2, 0.01), shares=[0.0]), "above 0, at most 1"),
        (lambda: plan_power(0.1, PilotVariance(0.2, -0.01)), "the variances: expected numbers from 0"),
        (lambda: plan_power(0.1, PilotVariance(0.2, 0.01, 0.0)), "a number above 0, found 0"),
        (lambda: plan_power(0.1, 0.2, cost_query=-1), "the cost of a query"),
    ],
)
def test_plans_that_cannot_be_made_are_refused(call: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        call()  # type: ignore[operator]


def pool_of(study: TwoSystems, drawn: np.ndarray, probability: np.ndarray) -> Pool:
    queries = study.queries
    return Pool(
        systems=("A", "B"),
        queries=tuple(str(q) for q in range(queries)),
        docs=pl.DataFrame(),
        query=study.query,
        weight=(study.rank > 0) / study.depth,
        rank=np.where(study.rank > 0, study.rank, study.depth + 1).min(axis=1),
        predicted=study.label,
        gold=np.where(drawn, study.truth, np.nan),
        probability=np.where(drawn, probability, np.nan),
    )


def draw_what_matters(study: TwoSystems, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A uniform draw of a share of the documents that only one system shows."""
    matters = (study.rank > 0).sum(axis=1) == 1
    drawn = np.zeros(len(matters), bool)
    size = round(share * matters.sum())
    drawn[np.random.default_rng(seed).choice(np.flatnonzero(matters), size, replace=False)] = True
    return drawn, np.where(matters, share, 0.0)


@cache
def known_spread(judge: str) -> PilotVariance:
    """What a pilot of 20,000 queries tells."""
    pilot = two_systems(20_000, difference=0.05, judge=judge, seed=99)  # type: ignore[arg-type]
    drawn, probability = draw_what_matters(pilot, 0.5, seed=98)
    return pilot_variance(pilot.judgments(), pilot.runs(), "P@10", gold=pilot.gold(drawn, probability))


@pytest.mark.parametrize("judge", ["fair", "by document"])
@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.evidence
def test_the_verdict_has_the_power_that_was_planned(judge: str, share: float) -> None:
    """The spread from a pilot so large that it is known well; studies of the planned size, the default test."""
    spread = known_spread(judge)
    assert spread.pool == 8
    plan = plan_power(0.05, spread, shares=[share])
    queries = plan.shares["queries"][0]
    seen, seeds = 0, studies(400, 4000)
    for seed in seeds:
        study = two_systems(queries, difference=0.05, judge=judge, seed=seed)  # type: ignore[arg-type]
        estimate = powered(pool_of(study, *draw_what_matters(study, share, seed + 10_000)))
        seen += estimate.difference(0, 1).p <= 0.05
    assert seen / len(seeds) == about(0.8, len(seeds), off=0.01)


@cache
def true_variance() -> float:
    """Of the differences of 300,000 queries."""
    truth = two_systems(300_000, difference=0.05, seed=1)
    shown = (truth.rank > 0) / truth.depth
    return float(np.bincount(truth.query, weights=(shown[:, 1] - shown[:, 0]) * truth.truth).var())


@pytest.mark.parametrize("judge", ["fair", "by document"])
def test_a_large_pilot_sets_the_spread_right_and_a_small_one_leaves_it(judge: str) -> None:
    """True differences vary by 0.0173 (300,000 queries, seed 1); by the labels it is 7 to 10 % more."""
    variance = true_variance()
    large = two_systems(20_000, difference=0.05, judge=judge, seed=5)  # type: ignore[arg-type]
    gold = large.gold(*draw_what_matters(large, 0.5, seed=6))
    plain = pilot_variance(large.judgments(), large.runs(), "P@10").sd ** 2
    assert plain / variance > 1.05
    assert pilot_variance(large.judgments(), large.runs(), "P@10", gold=gold).sd ** 2 == pytest.approx(
        variance, rel=0.04
    )
    small = two_systems(60, difference=0.05, judge=judge, seed=7)  # type: ignore[arg-type]
    gold = small.gold(*draw_what_matters(small, 0.2, seed=8))
    kept = pilot_variance(small.judgments(), small.runs(), "P@10", gold=gold)
    assert kept.sd == pilot_variance(small.judgments(), small.runs(), "P@10").sd
    assert "the pilot is too small to mend it" in " ".join(kept.notes)


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
    ends = np.array([_sd(differences(queries))[1:] for _ in studies(600, 3000)])
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
    few = pilot_variance(
        labels, {"x": {q: one[q] for q in ("q0", "q1")}, "y": {q: mixed[q] for q in ("q0", "q1")}}, "P@1"
    )
    assert np.isnan([few.low, few.high]).all()
    assert "known from 2 queries only" in " ".join(few.notes)
    assert "interval" not in plan_power(0.1, few).finding
