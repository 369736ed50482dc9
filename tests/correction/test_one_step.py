"""nDCG, RR and ERR from gold labels of single documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.calibration import Evidence
from karat.correction.gold_sample import Gold
from karat.correction.imputed_scores import Drawn, DrawnNdcg, drawn_lists
from karat.correction.ndcg_correction import effects_of, model_part, one_step, too_sure
from karat.correction.pool import pool_for
from karat.measures import parse_measure
from karat.measures.scorer import Scorer
from karat.plan import plan_gold
from karat.records.runs import together
from karat.simulate.graded_pair import GradedPair, graded_pair
from karat.stats.sampling import draw, inclusion_probabilities
from simulated import about, studies


def gold_for_ndcg(study: GradedPair, n: int, seed: int) -> kt.Judgments:
    """Documents that tell the systems apart by DCG@10, the more the likelier."""
    weight = np.where(study.rank <= 10, 1 / np.log2(study.rank + 1.0), 0.0)
    size = np.abs(weight[:, 1] - weight[:, 0])
    counts = size > 0
    chance = inclusion_probabilities(size, n, floor=np.where(counts, 0.2 * n / counts.sum(), 0.0))
    return study.gold(draw(chance, seed=seed), np.where(chance > 0, chance, 1.0))


def difference(found: kt.Comparison) -> dict[str, Any]:
    return found.methods.filter(pl.col("method") == "ppi").row(0, named=True)


def truth(study: GradedPair, measure: str) -> float:
    found = kt.compare(study.judgments(study.truth), study.runs(), measure)
    return float(found.methods["difference"][0])


def test_scores_under_drawn_grades_are_the_measures_own() -> None:
    """With every grade known, each draw is the truth, and so is every score."""
    study = graded_pair(12, seed=1)
    gold = Gold.of(study.gold(np.ones(len(study.truth), bool), np.ones(len(study.truth))))
    for name in ("nDCG@10", "RR@10", "ERR@10", "AP"):
        scorer = Scorer(study.judgments(), [name], draws=0)
        queries = scorer.topics.queries["query"].to_list()
        runs = together(study.runs())
        evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, gold)
        drawn = drawn_lists(runs, scorer, evidence, np.arange(len(study.truth)))
        right = Scorer(study.judgments(study.truth), [name], draws=0).score(runs).queries
        scores = drawn.by_query(drawn.scores().mean(axis=1), queries)
        wide = right.pivot("system", index="query", values=str(parse_measure(name))).sort("query")
        assert scores == pytest.approx(wide.select("A", "B").to_numpy(), abs=1e-9)


@pytest.mark.parametrize("name", ["nDCG@10", "nDCG", "nDCG(gains={0:0,1:2,2:1,3:3})@5"])
def test_counting_documents_of_each_grade_gives_the_ndcg_that_scoring_every_drawn_list_gives(name: str) -> None:
    study = graded_pair(12, judge="by query", seed=2)
    scorer, runs = Scorer(study.judgments(), [name], draws=0), together(study.runs())
    queries = scorer.topics.queries["query"].to_list()
    gold = Gold.of(gold_for_ndcg(study, 60, seed=3))
    evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, gold)
    mine = np.flatnonzero(~np.isnan(evidence.grade))
    slow, fast = (kind.of(runs, scorer, evidence, np.zeros(0, int)) for kind in (Drawn, DrawnNdcg))
    base = slow.scores().mean(axis=1)
    assert fast.scores() == pytest.approx(slow.scores(), abs=1e-12)
    assert fast.scores(mine, evidence.places(mine)) == pytest.approx(
        slow.scores(mine, evidence.places(mine)), abs=1e-12
    )
    changed = slow.changes(base, mine, evidence.places(mine))
    assert np.abs(changed).max() > 0.01
    assert fast.changes(base, mine, evidence.places(mine)) == pytest.approx(changed, abs=1e-12)


@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG(gains='exp')@10", "RR@10", "ERR@10"])
def test_gold_for_everything_shown_gives_nearly_the_true_difference(measure: str) -> None:
    study = graded_pair(40, shift=1.0, judge="lenient", seed=3)
    shown = (study.rank <= 10).any(axis=1)
    gold = study.gold(shown & (np.random.default_rng(1).random(len(shown)) < 0.9), np.full(len(shown), 0.9))
    found = difference(kt.compare(study.judgments(), study.runs(), measure, gold=gold))
    assert found["difference"] == pytest.approx(truth(study, measure), abs=0.03)


@pytest.mark.parametrize("measure", ["nDCG@10", "RR@10", "ERR@10"])
def test_gold_that_was_sure_to_be_drawn_counts_as_it_is(measure: str) -> None:
    """With a gold label for every document nothing is left to the model: the estimate is the truth."""
    study = graded_pair(20, shift=1.0, judge="lenient", seed=3)
    scorer, runs = Scorer(study.judgments(), [measure], draws=0), together(study.runs())
    queries = scorer.topics.queries["query"].to_list()
    gold = Gold.of(study.gold(np.ones(len(study.truth), bool), np.ones(len(study.truth))))
    evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, gold)
    pool = pool_for(runs, queries, scorer, gold)
    assert pool is not None
    found = one_step(runs, scorer, pool, evidence, fixed=True)
    assert found.scores[1] - found.scores[0] == pytest.approx(truth(study, measure), abs=1e-9)


@pytest.mark.evidence
@pytest.mark.parametrize("judge", ["lenient", "by document", "by query"])
def test_intervals_of_ndcg_hold_the_truth_with_judges_who_favour_documents_and_queries(judge: Any) -> None:
    held = []
    for seed in studies(4, 150):
        study = graded_pair(50, shift=0.5, judge=judge, seed=seed)
        gold = gold_for_ndcg(study, 150, seed + 10_000)
        found = difference(kt.compare(study.judgments(), study.runs(), gold=gold, queries="fixed", draws=100))
        held.append(found["low"] <= truth(study, "nDCG@10") <= found["high"])
    assert np.mean(held) == about(0.95, len(held), off=0.015)


@pytest.mark.evidence
def test_intervals_of_rr_hold_the_truth_where_most_documents_have_a_gold_label() -> None:
    """Labels by lot: what the gold labels leave open is how documents act together, as the first relevant one counts.

    Without that part, 1,000 gold labels for 100 queries had errors of 1.5 times their standard errors (180 studies).
    """
    held, off = [], []
    for seed in studies(12, 100):
        study = graded_pair(50, judge="useless", seed=6_000_000 + seed)
        gold = gold_for_ndcg(study, 550, seed=seed)
        found = difference(kt.compare(study.judgments(), study.runs(), "RR@10", gold=gold, queries="fixed", draws=100))
        right = truth(study, "RR@10")
        held.append(found["low"] <= right <= found["high"])
        off.append((found["difference"] - right) / ((found["high"] - found["low"]) / 4))
    assert np.mean(held) == about(0.95, len(held), off=0.015)
    assert np.sqrt(np.mean(np.square(off))) < 1.4  # 1.8 of the first twelve before


def test_labels_that_favour_a_system_are_told_of() -> None:
    study = graded_pair(100, judge="lenient", seed=5)
    found = kt.compare(study.judgments(), study.runs(), gold=gold_for_ndcg(study, 600, 1))
    assert any("the labels' errors favour B" in note for note in found.notes)
    assert found.verdict == "no difference shown"


def test_a_plan_for_ndcg_leads_to_a_verdict_by_ndcg() -> None:
    study = graded_pair(60, shift=1.5, judge="by query", seed=2)
    plan = plan_gold(study.judgments(), study.runs(), n=150, seed=1)
    assert plan.measure == "nDCG@10"
    known = study.gold(np.ones(len(study.truth), bool), np.ones(len(study.truth))).frame.select(
        "query", "doc", y="label"
    )
    filled = plan.frame.join(known, on=["query", "doc"]).with_columns(label=pl.col("y")).drop("y")
    found = kt.compare(study.judgments(), study.runs(), gold=filled)
    assert found.verdict == "better"
    row = difference(found)
    assert row["low"] <= truth(study, "nDCG@10") <= row["high"]


def test_too_few_gold_labels_are_refused_with_the_remedy() -> None:
    study = graded_pair(40, seed=2)
    found = kt.compare(study.judgments(), study.runs(), gold=gold_for_ndcg(study, 12, 1))
    assert found.verdict == "cannot say"
    assert "20 or more" in found.reason


def test_one_system_has_a_corrected_score_beside_the_naive_one() -> None:
    study = graded_pair(80, judge="lenient", seed=4)
    run, names = study.runs()[1], ["nDCG@10", "P@10", "AP"]
    plan = plan_gold(study.judgments(), run, n=300, seed=1)
    known = study.judgments(study.truth).frame.select("query", "doc", "label")
    scores = kt.score(study.judgments(), run, names, gold=plan.frame.drop("label").join(known, on=["query", "doc"]))
    right = kt.score(known, run, names, draws=0).means
    for row, true in zip(scores.means.iter_rows(named=True), right.iter_rows(named=True), strict=True):
        if row["measure"] == "AP":
            assert np.isnan(row["value"])
            assert "whole queries" in row["reason"]
        else:
            assert row["low"] < true["value"] < row["high"]
    assert "corrected with" in scores.finding


def test_ndcg_of_one_system_needs_gold_labels_of_what_the_best_list_may_hold() -> None:
    study = graded_pair(80, seed=4)
    shown = study.rank[:, 1] <= 10
    gold = study.gold(shown & (np.random.default_rng(2).random(len(shown)) < 0.5), np.full(len(shown), 0.5))
    scores = kt.score(study.judgments(), study.runs()[1], ["nDCG@10", "P@10"], gold=gold)
    assert scores.means["value"].is_nan().to_list() == [True, False]
    assert "the ideal ranking" in scores.means["reason"][0]


def test_gold_drawn_to_tell_systems_apart_gives_no_score_of_their_own() -> None:
    study = graded_pair(80, seed=4)
    scores = kt.score(study.judgments(), study.runs(), ["nDCG@10"], gold=gold_for_ndcg(study, 200, 1))
    assert scores.means["value"].is_nan().all()
    assert "count equally for all systems" in scores.means["reason"][0]


@pytest.mark.parametrize(("uniform", "corrected"), [(0.0, False), (0.3, True)])
def test_a_plan_for_two_systems_gives_one_of_them_no_score_unless_a_part_was_drawn_uniformly(
    uniform: float, corrected: bool
) -> None:
    """What both rank alike had no chance, and one run alone cannot show that: the plan has to say it."""
    study = graded_pair(80, judge="lenient", seed=4)
    plan = plan_gold(study.judgments(), study.runs(), n=300, uniform=uniform, seed=1).to_frame().drop("label")
    gold = plan.join(study.judgments(study.truth).frame.select("query", "doc", "label"), on=["query", "doc"])
    scores = kt.score(study.judgments(), study.runs()[1], ["P@10", "RR@10"], gold=gold)
    assert scores.means["value"].is_not_nan().to_list() == [corrected, corrected]
    if not corrected:
        assert "sampled to compare systems" in scores.means["reason"][0]


def test_a_plan_for_one_systems_rr_corrects_its_rr() -> None:
    """What no list shows does not count for RR, so nobody need have labelled it."""
    study = graded_pair(80, judge="lenient", seed=4)
    run = study.runs()[1]
    plan = plan_gold(study.judgments(), run, "RR", 200, seed=1).to_frame().drop("label")
    known = study.judgments(study.truth).frame.select("query", "doc", "label")
    scores = kt.score(study.judgments(), run, ["RR"], gold=plan.join(known, on=["query", "doc"]))
    row, true = scores.means.row(0, named=True), kt.score(known, run, ["RR"], draws=0).means["value"][0]
    assert row["low"] < true < row["high"]


def test_labels_that_are_given_as_their_own_gold_are_pointed_out() -> None:
    study = graded_pair(30, seed=4)
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=study.judgments(), draws=100)
    assert any("the same file twice?" in note for note in found.notes)
    assert not any("favour" in note and "p = 1.00" not in note for note in found.notes), "no error is no favour"


def test_gold_drawn_by_rank_gives_no_score_by_a_measure_that_does_not_tell_ranks_apart() -> None:
    """Half of each list is the same at the same ranks: a draw for nDCG never reaches it, though P@10 counts it."""
    rng = np.random.default_rng(7)
    both = {f"q{q}": [f"d{n}" for n in rng.permutation(14)] for q in range(60)}
    turned = {query: [*docs[:5], *docs[5:][::-1]] for query, docs in both.items()}
    a, b = ({q: {doc: 20.0 - n for n, doc in enumerate(docs)} for q, docs in of.items()} for of in (both, turned))
    truth = {q: {doc: int(rng.random() < 0.4) for doc in docs} for q, docs in both.items()}
    labels = {q: {doc: int(grade or rng.random() < 0.3) for doc, grade in docs.items()} for q, docs in truth.items()}
    plan = kt.plan_gold(labels, {"a": a, "b": b}, "nDCG@10", 120, seed=1).to_frame()
    gold = plan.with_columns(
        label=pl.Series([float(truth[q][doc]) for q, doc in plan.select("query", "doc").iter_rows()])
    )
    scores = kt.score(labels, {"a": a, "b": b}, ["P@10"], gold=gold)
    assert scores.means["value"].is_nan().all()
    assert "sampled to compare systems" in scores.means["reason"][0]


def test_a_further_column_sharpens_the_verdict_and_a_missing_one_is_named() -> None:
    study = graded_pair(100, judge="useless", seed=6)
    helpful = study.judgments().frame.with_columns(
        expected=pl.Series(study.truth + np.random.default_rng(1).normal(0, 0.3, len(study.truth)))
    )
    gold = gold_for_ndcg(study, 200, 1)
    alone = difference(kt.compare(helpful, study.runs(), gold=gold, queries="fixed"))
    more = difference(kt.compare(helpful, study.runs(), gold=gold, queries="fixed", calibrate=["expected"]))
    assert more["high"] - more["low"] < 0.6 * (alone["high"] - alone["low"])
    with pytest.raises(kt.BadInput, match='column "nosuch"'):
        kt.compare(helpful, study.runs(), gold=gold, calibrate=["nosuch"])


@pytest.mark.parametrize("measure", ["nDCG@10", "RR@10", "DCG@10"])
def test_figures_do_not_depend_on_which_system_is_named_first(measure: str) -> None:
    study = graded_pair(30, judge="by query", seed=4)
    a, b = study.runs()
    gold = gold_for_ndcg(study, 80, 1)
    one, other = (difference(kt.compare(study.judgments(), runs, measure, gold=gold)) for runs in ([a, b], [b, a]))
    assert one["difference"] == pytest.approx(-other["difference"], rel=1e-9)
    assert one["low"] == pytest.approx(-other["high"], rel=1e-9)


def test_what_the_model_alone_says_is_counted_as_scoring_every_drawn_list_has_it() -> None:
    study = graded_pair(8, judge="by document", seed=4)
    scorer, runs = Scorer(study.judgments(), ["nDCG@10"], draws=0), together(study.runs())
    queries = scorer.topics.queries["query"].to_list()
    evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, Gold.of(gold_for_ndcg(study, 40, seed=3)))
    known, others = np.flatnonzero(~np.isnan(evidence.grade)), np.flatnonzero(np.isnan(evidence.grade))[:20]
    places, found = evidence.places(known), []
    for kind in (Drawn, DrawnNdcg):
        drawn = kind.of(runs, scorer, evidence, np.zeros(0, int))
        effects = effects_of(drawn, drawn.scores().mean(axis=1), others)
        found.append(model_part(drawn, known, places, effects, others, queries))
    assert found[1] == pytest.approx(found[0], abs=1e-12)
    # Draw by draw: the mean score with gold grades known, less what each open document changes by itself.
    drawn, rest = Drawn.of(runs, scorer, evidence, np.zeros(0, int)), []
    for place in range(drawn.draws.shape[1]):
        one = drawn.draws[:, place].copy()
        one[known] = places
        scores = drawn.by_query(drawn.scores(np.arange(len(one)), one)[:, 0], queries).mean(axis=0)
        rest.append(scores - sum(effects[one[doc], at] for at, doc in enumerate(others)) / len(queries))
    assert found[0] == pytest.approx(np.cov(np.array(rest).T), abs=1e-12)


def test_a_model_that_is_too_sure_of_itself_is_found_out_by_what_gold_labels_change() -> None:
    """Two documents, each as likely 0 as 1 by the model, which would change B by 0.1; A is not touched."""
    study = graded_pair(4, seed=1)
    scorer, runs = Scorer(study.judgments(), ["nDCG@10"], draws=0), together(study.runs())
    queries = scorer.topics.queries["query"].to_list()
    evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, Gold.of(gold_for_ndcg(study, 40, seed=3)))
    drawn = DrawnNdcg.of(runs, scorer, evidence, np.zeros(0, int))
    even = np.tile([0, 1], (2, drawn.draws.shape[1] // 2))
    drawn = replace(drawn, grades=np.array([0.0, 1.0]), draws=even)
    effects = np.array([[[0.0, -0.1], [0.0, -0.1]], [[0.0, 0.1], [0.0, 0.1]]])
    as_thought = np.array([[0.0, 0.1], [0.0, -0.1]])
    assert too_sure(drawn, np.arange(2), as_thought, effects, np.ones(2)) == pytest.approx(1.0)
    # 0.2 squared and 0.1 squared, where 0.1 squared was expected of each; the second stands for three times as much.
    assert too_sure(drawn, np.arange(2), as_thought * [[2], [1]], effects, np.array([1, 3])) == pytest.approx(7 / 4)
    assert too_sure(drawn, np.arange(2), as_thought / 2, effects, np.ones(2)) == 1.0  # never surer than it is
