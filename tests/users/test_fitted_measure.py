"""Measures fitted to users: planted parameters are recovered, and users who choose at random are not believed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from karat.errors import BadInput, Undefined
from karat.measures import parse_measure
from karat.records import Judgments
from karat.simulate import preference_study
from karat.users.fitted_measure import VoteLikelihood, between, fit_measure, flip
from karat.users.measure_variants import Variants, steep_gains
from simulated import studies


def test_the_likelihood_of_votes_is_that_of_a_logistic_or_normal_choice() -> None:
    rng = np.random.default_rng(1)
    lead, query = rng.normal(size=(40, 2)), np.arange(40) // 2
    for_a, for_b, equal = (rng.integers(0, 4, 40).astype(float) for _ in range(3))
    for_a += lead[:, 0] > 0
    choices = VoteLikelihood.of(lead, for_a, for_b, equal, query)
    times = rng.integers(0, 3, (3, 20)).astype(float)
    best, _ = choices.best(times)
    for draw in range(3):
        weight = times[draw][query]
        for place in range(2):
            x = lead[:, place] / np.sqrt((lead[:, place] ** 2).mean())

            losses = []
            for chance in (lambda z: 1 / (1 + np.exp(-z)), lambda z: ndtr(z / 1.7)):

                def loss(log_s: float, x: np.ndarray = x, weight: np.ndarray = weight, chance=chance) -> float:  # type: ignore[no-untyped-def]
                    p = chance(np.exp(log_s) * x)
                    votes = (for_a + equal / 2) * np.log(p) + (for_b + equal / 2) * np.log(1 - p)
                    return -float((weight * votes).sum())

                losses.append(minimize_scalar(loss, bounds=(np.log(0.03), 2), method="bounded").fun)
            assert best[draw, place] == pytest.approx(-min(losses), abs=0.01)
    # Votes with the measure by hand: for a where it leads, for b where it does not.
    agreeing = np.where(lead[:, 0] > 0, for_a, for_b)
    assert choices.agreeing[:, 0] == pytest.approx(agreeing.reshape(20, 2).sum(axis=1))


def test_a_peak_between_the_values_tried_is_found() -> None:
    values = np.array([0.1, 0.3, 0.4, 0.8])
    curve = -((values - 0.37) ** 2)
    assert between(curve[None], values, logarithmic=False)[0] == pytest.approx(0.37)
    logs = -((np.log(values) - np.log(0.33)) ** 2)
    assert between(logs[None], values, logarithmic=True)[0] == pytest.approx(0.33)
    assert between(np.array([[3.0, 2, 1, 0]]), values, logarithmic=False)[0] == 0.1


def test_the_sign_flip_is_exact_for_few_queries() -> None:
    # Of the 2^4 sign patterns of 1, 2, 3, 4 only (+ + + +) and (- + + +) sum to 8 or more: 2/16.
    assert flip(np.array([-1.0, 2, 3, 4]), 20_000, 0) == pytest.approx(2 / 16, abs=0.01)
    assert flip(np.zeros(9), 100, 0) == 1


def test_variants_are_all_combinations_and_print_as_they_are_parsed() -> None:
    labels = Judgments.of({"q": {"a": 0, "b": 1, "c": 3}})
    made = Variants.of(parse_measure("DCG@5"), {"discount": [0.5, 1], "gains": [1, 2]}, labels)
    assert len(made.measures) == 9
    assert made.measures[0] == parse_measure("DCG@5")
    assert {parse_measure(str(measure)) for measure in made.measures} == {*made.measures}
    assert made.within(()).sum() == 1
    assert made.within(("gains",)).sum() == 2
    assert made.within(("discount", "gains")).sum() == 4
    assert steep_gains(2, [1, 3]) == pytest.approx({1: 1 / 7, 3: 1})
    assert steep_gains(1, [1, 3]) == pytest.approx({1: 1 / 3, 3: 1})
    assert parse_measure("RBP(rel=2)@5").varied(p=0.3) == parse_measure("RBP(rel=2,p=0.3)@5")


@pytest.mark.parametrize(
    ("users", "default", "name", "truth"),
    [("RBP(p=0.5)", "RBP(p=0.8)", "p", 0.5), ("DCG(discount=1.5)@10", "DCG@10", "discount", 1.5)],
)
@pytest.mark.evidence
def test_what_was_planted_is_recovered(users: str, default: str, name: str, truth: float) -> None:
    held = better = 0
    seeds = studies(5, 150)
    for seed in seeds:
        study = preference_study(users, queries=60, pairs_per_query=2, judges=5, block=0, seed=seed)
        found = fit_measure(study.preferences, study.judgments, study.runs, default, [name], repeats=1, draws=200)
        row = found.frame.row(0, named=True)
        held += row["low"] <= truth <= row["high"]
        better += found.better
    assert held >= 0.8 * len(seeds), held
    assert better >= 0.9 * len(seeds), better


@pytest.mark.evidence
def test_users_who_choose_at_random_are_not_believed() -> None:
    better = agreeing = 0
    seeds = studies(8, 250)
    for seed in seeds:
        study = preference_study(None, queries=60, pairs_per_query=2, judges=5, block=0, seed=seed)
        found = fit_measure(study.preferences, study.judgments, study.runs, "RBP(p=0.8)", ["p"], repeats=1, draws=100)
        better += found.better
        agreeing += found.held_out["p_agreement"][0] < 0.05
        if not found.better:
            assert found.measure == parse_measure("RBP(p=0.8)")
            assert "no better than the default" in found.finding
    assert better <= 0.1 * len(seeds), better
    assert agreeing <= 0.15 * len(seeds), agreeing


def test_the_users_own_measure_gets_no_better() -> None:
    study = preference_study("RBP(p=0.8)", queries=80, pairs_per_query=2, judges=5, seed=3)
    found = fit_measure(study.preferences, study.judgments, study.runs, "RBP(p=0.8)", ["p"], draws=200)
    assert not found.better
    low, high = found.frame.select("low", "high").row(0)
    assert low <= 0.8 <= high


def test_a_gain_in_likelihood_alone_is_not_called_more_agreement() -> None:
    study = preference_study("RBP(p=0.5)", queries=60, systems=3, pairs_per_query=2, judges=5, seed=1)
    words = (study.preferences, study.judgments, study.runs, "RBP(p=0.8)", ["p"])
    found = fit_measure(*words, draws=200)
    held = found.held_out.row(0, named=True)
    assert held["p_likelihood"] < 0.05 < held["p_agreement"]
    assert "but not which one" in found.finding
    strict = fit_measure(*words, test="agreement", draws=200)
    assert not strict.better
    assert strict.measure == parse_measure("RBP(p=0.8)")


def test_a_planted_context_weight_is_recovered_beside_a_discount_that_is_not_there() -> None:
    rng = np.random.default_rng(4)
    labels, runs, said = [], [], []
    for number in range(150):
        query, alone, given = f"q{number:03}", rng.integers(0, 4, 6), rng.integers(0, 4, (6, 6))
        labels += [(query, f"d{n}", None, float(alone[n])) for n in range(6)]
        labels += [(query, f"d{n}", f"d{m}", float(given[n, m])) for n in range(6) for m in range(6) if n != m]
        worth = []
        for system in "ab":
            order = rng.permutation(6)[:4]
            runs += [(system, query, f"d{n}", rank) for rank, n in enumerate(order, 1)]
            after = [0.3 * alone[n] + 0.7 * given[n, m] for m, n in pairwise(order)]
            worth.append(alone[order[0]] + sum(after))
        for judge in range(3):
            felt = worth[0] - worth[1] + 1.5 * rng.normal()
            said.append((query, "a", "b", "left" if felt > 0 else "right", f"j{judge}"))
    found = fit_measure(
        pl.DataFrame(said, schema=["query", "left", "right", "choice", "judge"], orient="row"),
        Judgments.of(pl.DataFrame(labels, schema=["query", "doc", "context", "label"], orient="row")),
        pl.DataFrame(runs, schema=["system", "query", "doc", "rank"], orient="row"),
        "DCG(discount=0)@4",
        {"context": np.arange(0, 1.01, 0.1).round(1).tolist(), "discount": [0.1, 0.3, 0.6]},
        draws=200,
    )
    assert found.better
    rows = {row["parameter"]: row for row in found.frame.iter_rows(named=True)}
    assert rows["context"]["low"] <= 0.7 <= rows["context"]["high"]
    assert rows["context"]["varied"]
    assert rows["discount"]["low"] <= 0.11
    assert found.to_dict()["better"] is True
    assert found.tried.height == 12 * 4


def test_what_cannot_be_fitted_is_said() -> None:
    study = preference_study("RBP(p=0.5)", queries=10, seed=1)
    with pytest.raises(Undefined, match="too few to fit"):
        fit_measure(study.preferences, study.judgments, study.runs)
    with pytest.raises(BadInput, match="a parameter of it"):
        fit_measure(study.preferences, study.judgments, study.runs, "RBP", ["colour"])
    with pytest.raises(BadInput, match="two or more to try, rising"):
        fit_measure(study.preferences, study.judgments, study.runs, "RBP", {"p": [0.5]})
    with pytest.raises(BadInput, match="a parameter, such as"):
        fit_measure(study.preferences, study.judgments, study.runs, "RBP", [])
    study = preference_study("RBP(p=0.5)", queries=25, seed=1)
    nobody = study.preferences.frame.with_columns(choice=pl.lit("equal"), trap=pl.lit(False))
    with pytest.raises(Undefined, match="nothing to fit to"):
        fit_measure(nobody, study.judgments, study.runs)
