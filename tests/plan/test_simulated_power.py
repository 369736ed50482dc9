"""Power by simulation: planned power is the power there is, and no plan is one that compare refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from conftest import research_data
from karat.comparison import compare
from karat.errors import BadInput
from karat.llm.audit_verdict import for_difference
from karat.plan.gold_selection import plan_gold
from karat.plan.pilot import PilotVariance, pilot_variance
from karat.plan.power import count_simulated_studies, plan_power
from karat.plan.simulated_power import SimulatedErrors
from karat.simulate.graded_pair import graded_pair
from simulated import about, studies


def pilot(measure: str, queries: int = 20, gold: int = 60) -> PilotVariance:
    """What a small simulated pilot knows."""
    study = graded_pair(queries, shift=1.0, seed=3)
    plan = plan_gold(study.judgments(), study.runs(), measure, gold, seed=4).frame
    truth = study.judgments(study.truth).frame.select("query", "doc", "label")
    labels = plan.drop("label").join(truth, on=["query", "doc"])
    return pilot_variance(study.judgments(), study.runs(), measure, gold=labels)


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_no_plan_has_fewer_gold_labels_than_compare_needs(measure: str) -> None:
    """compare calibrates, and corrects nDCG at all, from 20 gold labels on; a large difference would need fewer."""
    spread = pilot(measure)
    plan = plan_power(0.6, spread, shares=[0.05, 0.1], studies=10)
    assert set(plan.shares["gold_labels"]) == {20}
    for row in plan.shares.rows(named=True):
        assert row["gold_share"] == pytest.approx(20 / (row["queries"] * (spread.pool or 0)))
    assert "No plan has fewer than 20 gold labels" in " ".join(plan.notes)
    assert for_difference(spread, 0.6, ("A", "B")).gold == 20


def test_queries_too_few_for_the_difference_are_said_plainly() -> None:
    """100 queries with a standard deviation of 0.2 detect 0.0566 with 80% power (by hand: 2.83 x 0.2 / root 100)."""
    plan = plan_power(0.02, PilotVariance(0.2, 0.005, 8.0, "nDCG@10", queries=100), shares=[0.5])
    assert plan.detectable == pytest.approx(0.0566, abs=0.0002)
    assert "Your 100 queries cannot detect 0.02, whatever you label" in plan.finding
    assert "the smallest difference they detect is 0.057" in plan.finding
    assert "cannot detect" not in plan_power(0.1, PilotVariance(0.2, 0.005, 8.0, "nDCG@10", queries=100)).finding
    assert plan_power(0.02, 0.2).detectable is None


def test_simulated_power_by_hand() -> None:
    """Two studies of 4 queries, sd 0.2: queries' mean has sd 0.1; errors +-0.05 and half-widths 0.2, 0.3."""
    errors = SimulatedErrors(np.array([0.05, -0.05]), np.array([0.2, 0.3]), 4, 20, 0.2, 0.3)
    each = [norm.cdf((0.3 + 0.05 - 0.2) / 0.1), norm.cdf((0.3 - 0.05 - 0.3) / 0.1)]
    power, error = errors.power(0.3)
    assert power == pytest.approx(np.mean(each), abs=1e-6)
    assert error == pytest.approx(np.std(each, ddof=1) / np.sqrt(2), abs=1e-6)
    # Four times the queries halve every error.
    each = [norm.cdf((0.3 + 0.025 - 0.1) / 0.05), norm.cdf((0.3 - 0.025 - 0.15) / 0.05)]
    assert errors.power(0.3, 16)[0] == pytest.approx(np.mean(each), abs=1e-6)
    assert errors.power(0.3, errors.queries_needed(0.3, 0.8))[0] >= 0.8
    assert errors.power(errors.smallest_difference(0.8))[0] == pytest.approx(0.8, abs=1e-3)


def test_a_study_that_compare_refuses_detects_nothing() -> None:
    errors = SimulatedErrors(np.array([0.0, np.nan]), np.array([0.1, np.nan]), 50, 20, 0.1, 0.3)
    assert errors.power(10.0)[0] == pytest.approx(0.5)


def test_bias_shrinks_with_the_planned_difference() -> None:
    """All studies are 0.02 too low at a true difference of 0.2: at 0.1 that is 0.01."""
    errors = SimulatedErrors(np.full(3, -0.02), np.full(3, 0.05), 4, 20, 0.1, 0.2)
    assert errors.power(0.1)[0] == pytest.approx(norm.cdf(0.04 / 0.05) + norm.cdf(-0.14 / 0.05), abs=1e-6)


@pytest.mark.parametrize(
    "measure",
    ["nDCG@10", pytest.param("RR@10", marks=pytest.mark.thorough), pytest.param("ERR@10", marks=pytest.mark.thorough)],
)
def test_plans_that_are_no_sums_are_simulated(measure: str) -> None:
    spread, counted = pilot(measure), []
    plan = plan_power(0.2, spread, shares=[0.25], studies=10, on_study=lambda: counted.append(1))
    assert plan.shares["power_error"].null_count() == 0
    assert plan.shares["power"][0] >= 0.8
    assert len(counted) == count_simulated_studies(spread, [0.25], studies=10)
    assert "Power is simulated: 10 studies per row" in " ".join(plan.notes)


def test_a_simulation_repeats_with_its_seed() -> None:
    model = pilot("nDCG@10").model
    assert model is not None
    first, again, other = (model.simulate(10, 25, studies=2, seed=seed).error.tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_sums_are_planned_by_formula() -> None:
    spread = pilot("P@10")
    assert spread.model is None
    assert plan_power(0.1, spread).shares["power_error"].null_count() == 5
    with pytest.raises(BadInput, match="the simulated studies"):
        plan_power(0.1, pilot("nDCG@10"), studies=2)


class RealPair:
    """Two runs of TREC DL 2021 with GPT-4's labels and NIST's; studies are its queries, drawn with replacement."""

    def __init__(self, folder: Path, a: str, b: str) -> None:
        text = {"query": pl.String, "doc": pl.String}
        judged = pl.read_csv(folder / "judges.csv.gz", schema_overrides=text | {"label": pl.Float64})
        self.labels = judged.filter(pl.col("judge") == "gpt4-umbrela").drop("judge")
        self.truth = pl.read_csv(folder / "nist.csv.gz", schema_overrides=text | {"label": pl.Float64})
        runs = pl.read_csv(folder / "runs.csv.gz", schema_overrides=text)
        self.runs = [runs.filter(pl.col("system") == name) for name in (a, b)]

    def gold(self, measure: str, n: int, seed: int) -> pl.DataFrame:
        plan = plan_gold(self.labels, self.runs, measure, n, seed=seed).frame
        return plan.drop("label").join(self.truth, on=["query", "doc"])

    def study(self, queries: int, seed: int) -> RealPair:
        names = self.truth["query"].unique().sort().to_list()
        drawn = np.random.default_rng(seed).choice(names, queries)
        picked = pl.DataFrame({"query": drawn, "copy": [f"{place:05d}" for place in range(queries)]})

        def copied(frame: pl.DataFrame) -> pl.DataFrame:
            return frame.join(picked, on="query").with_columns(query="copy").drop("copy")

        made = object.__new__(RealPair)
        made.labels, made.truth, made.runs = copied(self.labels), copied(self.truth), [copied(r) for r in self.runs]
        return made

    def difference(self, measure: str) -> float:
        return float(compare(self.truth, self.runs, measure, draws=100).methods["difference"][0])


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
@pytest.mark.evidence
def test_planned_power_is_the_power_on_real_runs(measure: str) -> None:
    """BM25 and a reranker, gold labels for a tenth. For nDCG@10 the formula's plan (24 queries) had a power of 0.67."""
    pair = RealPair(research_data("dl21"), "paug_bm25", "mono_h3")
    difference, seeds = pair.difference(measure), studies(2, 150)
    spread = pilot_variance(pair.labels, pair.runs, measure, gold=pair.gold(measure, 250, seed=98))
    plan = plan_power(difference, spread, shares=[0.1], studies=50 if len(seeds) > 2 else 10).shares.row(0, named=True)
    if measure == "nDCG@10" and len(seeds) > 2:
        assert plan["queries"] > 24
    detected = 0
    for seed in seeds:
        study = pair.study(plan["queries"], 70_000 + seed)
        gold = study.gold(measure, plan["gold_labels"], seed)
        found = compare(study.labels, study.runs, measure, gold=gold, draws=100).methods
        detected += found.filter(pl.col("method") == "ppi")["p"][0] <= 0.05
    assert detected / len(seeds) == about(0.8, len(seeds), off=0.03)
