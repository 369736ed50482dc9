"""Where gold labels cannot carry a verdict, or only part of it, compare says so instead of giving a number."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.ppi import powered
from karat.plan.gold_selection import plan_gold, plan_gold_queries
from karat.simulate import TwoSystems, two_systems
from pools import pool_of_study


def filled(plan: pl.DataFrame, study: TwoSystems) -> pl.DataFrame:
    """The plan with the true labels filled in."""
    truth = study.gold(np.ones(len(study.truth), bool), 1.0).frame.select("query", "doc", "label")
    return plan.drop("label").join(truth, on=["query", "doc"])


def row(found: kt.Comparison, method: str) -> dict[str, float]:
    return found.methods.filter(pl.col("method") == method).row(0, named=True)


def test_a_judge_whom_no_gold_label_contradicts_is_not_taken_for_perfect() -> None:
    study = two_systems(60, right=(1.0, 1.0), difference=0.05, shared=2, seed=1)
    pool = pool_of_study(study, study.draw_gold(40, 2), 40 / len(study.truth))
    plain = pool_of_study(study, study.draw_gold(40, 2), 1.0)
    found = powered(pool).difference(0, 1)
    exact = pool.by_query(study.truth)
    spread = np.std(exact[:, 1] - exact[:, 0], ddof=1) / np.sqrt(60)
    assert found.standard_error > spread
    fixed = powered(pool, fixed=True)
    assert not fixed.is_known(0, 1)
    assert fixed.difference(0, 1).standard_error > 0
    assert any("does not make it perfect" in note for note in fixed.notes)
    assert (
        not powered(replace(plain, gold=study.truth, probability=np.ones(len(study.truth))))
        .difference(0, 1)
        .standard_error
        > 1.001 * spread
    )


def test_a_difference_is_known_if_gold_is_certain_wherever_the_systems_differ() -> None:
    study = two_systems(30, difference=0.1, judge="lenient", seed=1)
    differ = (study.rank > 0).sum(axis=1) == 1
    drawn = differ | (np.random.default_rng(1).random(len(differ)) < 0.5)
    gold = study.gold(drawn, np.where(differ, 1.0, 0.5))
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=gold, queries="fixed")
    truth = kt.compare(study.gold(study.truth >= 0, 1.0), study.runs(), "P@10").methods["difference"][0]
    assert found.verdict == ("better" if truth > 0 else "worse")
    assert row(found, "ppi")["difference"] == pytest.approx(truth)


def test_gold_planned_for_one_measure_is_refused_by_another_that_it_does_not_reach() -> None:
    study = two_systems(100, shared=8, seed=1)
    swap = np.where(study.rank[:, 1] > 0, 11 - study.rank[:, 1], 0)
    study = replace(study, rank=np.column_stack([study.rank[:, 0], swap]))
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 200)
    found = kt.compare(study.judgments(), study.runs(), "DCG@10", gold=filled(plan.frame, study))
    assert found.verdict == "cannot say"
    assert "several systems show and weigh differently" in found.reason


def test_gold_that_only_tells_systems_apart_leaves_their_own_scores_open() -> None:
    study = two_systems(100, right=(0.7, 0.9), seed=1)
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 300)
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=filled(plan.frame, study))
    ppi = row(found, "ppi")
    assert np.isnan([ppi["a"], ppi["b"]]).all()
    assert found.ranks.select("score", "low", "high").to_numpy().astype(float) == pytest.approx(np.nan, nan_ok=True)
    assert any("only differences have intervals" in note for note in found.notes)


def test_gold_without_probabilities_that_was_plainly_not_drawn_uniformly_is_refused() -> None:
    study = two_systems(100, seed=1)
    plan = plan_gold(study.judgments(), study.runs(), "P@10", 300)
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=filled(plan.frame, study).drop("probability"))
    assert found.verdict == "cannot say"
    assert "the gold labels do not" in found.reason


def test_documents_drawn_one_by_one_do_not_pass_for_whole_queries() -> None:
    study = two_systems(100, seed=1)
    drawn = study.draw_gold(int(0.9 * len(study.truth)), 1)
    found = kt.compare(study.judgments(), study.runs(), "AP", gold=study.gold(drawn, 0.9))
    assert found.verdict == "cannot say"
    assert "as if documents had been drawn" in found.reason


@pytest.mark.parametrize("measure", ["nDCG@10", "AP@10", "R@10", "RR"])
def test_a_perfect_judge_has_nothing_to_correct(measure: str) -> None:
    study = two_systems(60, right=(1.0, 1.0), difference=0.05, shared=2, seed=1)
    plan = plan_gold_queries(study.judgments(), study.runs(), measure, 10_000)
    found = kt.compare(study.judgments(), study.runs(), measure, gold=filled(plan.frame, study))
    plain, ppi = row(found, "plain"), row(found, "ppi")
    assert (ppi["a"], ppi["b"]) == (pytest.approx(plain["a"]), pytest.approx(plain["b"]))
    assert ppi["high"] - ppi["low"] == pytest.approx(plain["high"] - plain["low"], rel=1e-6)


def test_queries_that_show_nothing_labelled_need_no_gold() -> None:
    """Half of the queries show unlabelled documents only: their RR is 0 for both, with or without gold."""
    labels = {f"q{i:02d}": {"x": 1, "y": 0} for i in range(40)}
    known = {"x": 2.0, "y": 1.0}
    runs = {
        "A": {q: known if i % 2 else {"u": 1.0} for i, q in enumerate(labels)},
        "B": {q: {"y": 2.0} if i % 2 else {"v": 1.0} for i, q in enumerate(labels)},
    }
    gold = pl.DataFrame([{"query": q, "doc": d, "label": y} for q, docs in labels.items() for d, y in docs.items()])
    gold = gold.filter(pl.col("query").str.slice(1).cast(pl.Int64) % 2 == 1).with_columns(probability=pl.lit(1.0))
    found = kt.compare(labels, runs, "RR", gold=gold)
    assert row(found, "ppi")["difference"] == pytest.approx(-0.5)


@pytest.mark.parametrize("contradicted", [False, True])
def test_few_gold_labels_among_many_systems_are_judged_by_holm(contradicted: bool) -> None:
    rng = np.random.default_rng(4)
    labels = {f"q{i:02d}": {f"{s}{j}": int(rng.random() < 0.5) for s in "ABC" for j in range(3)} for i in range(40)}
    runs = {s: {q: {f"{s}{j}": 3.0 - j for j in range(3)} for q in labels} for s in "ABC"}
    drawn = [(q, f"{s}1", labels[q][f"{s}1"], 1 / 12) for q in list(labels)[::4] for s in "ABC"]
    gold = pl.DataFrame(drawn, schema=["query", "doc", "label", "probability"], orient="row")
    wrong = (pl.int_range(pl.len()) % 5 == 0) & contradicted
    found = kt.compare(labels, runs, "P@3", gold=gold.with_columns((pl.col("label") - wrong).abs()))
    assert found.pairs.height == 3
    # Where a gold label contradicts the judge there are values by query, and still too few for max-T.
    assert found.pairs["effect"].is_finite().all() == contradicted
    assert found.pairs["max_t"].is_nan().all()
    said = re.search(r"among 3 pairs p = ([\d.]+)\)", found.finding)
    assert said is not None
    assert said[1] in [f"{p:.3f}" for p in found.pairs["holm"]]


def test_diversity_measures_have_no_gold_and_runs_may_be_a_list_of_frames() -> None:
    study = two_systems(30, seed=1)
    gold = study.gold(study.truth >= 0, 1.0)
    assert "subtopics" in kt.compare(study.judgments(), study.runs(), "alpha_nDCG@10", gold=gold).reason
    with pytest.raises(kt.BadInput, match="without subtopics"):
        plan_gold_queries(study.judgments(), study.runs(), "alpha_nDCG@10", 100)
    frames = [run.frame.drop("system") for run in study.runs()]
    assert kt.compare(study.judgments(), frames).systems == ("run1", "run2")
    with pytest.raises(kt.BadInput, match="the seed"):
        kt.compare(study.judgments(), frames, seed=-1)
