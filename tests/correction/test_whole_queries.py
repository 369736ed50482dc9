"""Gold labels for whole queries: the regression estimator of survey sampling, with few queries taken into account."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.whole_queries import whole_queries
from karat.errors import Undefined
from karat.simulate.graded_pair import GradedPair, graded_pair
from simulated import about, studies

SYSTEMS = ("a", "b")


def table(difference: list[float]) -> np.ndarray:
    """Scores of two systems that differ by so much, a row for each query."""
    return np.column_stack([np.full(len(difference), 0.5), 0.5 + np.array(difference)])


def test_the_interval_of_these_queries_is_cochrans() -> None:
    """By hand: F = 0, 1, 2, 3, 4 and Y = 0, 2, 3, 5, 5 (in hundredths) of the five gold queries among ten.

    lambda = 13 / 10 (as Sxy = 13, Sxx = 10); residuals -.4, .3, 0, .7, -.6, their squares sum to 1.10. The variance is
    1.10 / (5 - 3) x (1 / 5 - 1 / 10), and 5 - 2 degrees of freedom.
    """
    judged = table([0.0, 0.01, 0.02, 0.03, 0.04, 0.01, 0.01, 0.03, 0.03, 0.05])
    gold = table([0.0, 0.02, 0.03, 0.05, 0.05, 0, 0, 0, 0, 0])
    drawn = np.arange(10) < 5
    found = whole_queries(SYSTEMS, judged, gold, drawn, n_gold=50, fixed=True)
    difference = found.difference(0, 1)
    assert difference.difference == pytest.approx(0.03 + 1.3 * (0.023 - 0.02))
    assert difference.standard_error == pytest.approx(0.01 * np.sqrt(1.10 / 2 * 0.1))
    assert found.df[0, 1] == 3


def test_fewer_than_four_gold_queries_are_refused_unless_there_are_no_others() -> None:
    judged, gold = table([0.1, 0.2, 0.3, 0.1, 0.2]), table([0.1, 0.3, 0.2, 0.1, 0.2])
    with pytest.raises(Undefined, match=r"3 of 5 queries .* at least 4"):
        whole_queries(SYSTEMS, judged, gold, np.arange(5) < 3, n_gold=30)
    known = whole_queries(SYSTEMS, judged[:3], gold[:3], np.ones(3, bool), n_gold=30, fixed=True)
    assert known.is_known(0, 1)
    assert known.scores[1] - known.scores[0] == pytest.approx(0.2)


def test_a_judge_whom_no_gold_query_contradicts_is_not_taken_for_perfect() -> None:
    """By the rule of succession one query in 6 + 2 is otherwise, by as much as any difference that was seen: 0.4."""
    judged = table([0.1, 0.0, 0.2, 0.1, 0.0, 0.2, 0.1, 0.4, 0.0, 0.2, 0.1, 0.1])
    drawn = np.arange(12) < 6
    for fixed in (True, False):
        found = whole_queries(SYSTEMS, judged, judged, drawn, n_gold=60, fixed=fixed)
        own = 0.0 if fixed else float(np.diff(judged[:6])[:, 0].var(ddof=1)) / 12
        assert found.difference(0, 1).standard_error == pytest.approx(np.sqrt(0.4**2 / 8 * (1 / 6 - 1 / 12) + own))
        assert any("contradict the judge in 0 of 6 queries" in note for note in found.notes)


@pytest.mark.evidence
@pytest.mark.parametrize("gold_queries", [5, 7, 11, 21])
@pytest.mark.parametrize("kind", ["sum", "reciprocal rank"])
def test_intervals_of_these_queries_hold_from_a_few_gold_queries_on(gold_queries: int, kind: str) -> None:
    """A hundred queries whose differences are near normal, or mostly 0 and rarely large as those of RR."""
    seeds = studies(200, 4000)
    held = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        truth, label = rng.normal(size=100), rng.normal(size=100)
        if kind == "sum":
            truth, label = truth, truth + label
        else:
            truth = np.where(rng.random(100) < 0.4, rng.choice([-0.5, 0.5], 100), 0.0)
            label = np.where(rng.random(100) < 0.25, rng.choice([-0.5, 0.0, 0.5], 100), truth)
        drawn = np.isin(np.arange(100), rng.choice(100, gold_queries, replace=False))
        found = whole_queries(SYSTEMS, table(list(label)), table(list(truth)), drawn, n_gold=9, fixed=True)
        difference = found.difference(0, 1)
        held += difference.low <= truth.mean() <= difference.high
    share = held / len(seeds)
    # Where few queries contradict the judge the interval errs on the wide side.
    assert share == about(0.95, len(seeds), off=0.005) or (kind != "sum" and share > 0.945)


def ndcg(study: GradedPair, grade: np.ndarray) -> np.ndarray:
    """nDCG@10 of both systems by query, straight from its definition."""
    grade, rank = grade.reshape(-1, 30), study.rank.reshape(-1, 30, 2)
    gained = np.where(rank <= 10, grade[:, :, None] / np.log2(rank + 1), 0.0).sum(axis=1)
    best = -np.sort(-grade, axis=1)[:, :10] @ (1 / np.log2(np.arange(2, 12)))
    return np.divide(gained, best[:, None], out=np.zeros_like(gained), where=best[:, None] > 0)


@pytest.mark.evidence
@pytest.mark.parametrize("judge", ["lenient", "by query"])
def test_ndcg_from_some_twenty_whole_queries_holds(judge: Any) -> None:
    """300 gold labels are 21 of 100 queries; the difference is 0 for all, and what it is by chance for these."""
    seeds, held = studies(100, 2000), np.zeros(2)
    for seed in seeds:
        study = graded_pair(100, judge=judge, seed=seed)
        truth, label = ndcg(study, study.truth), ndcg(study, study.label)
        drawn = np.isin(np.arange(100), np.random.default_rng(seed).choice(100, 21, replace=False))
        for place, fixed in enumerate((True, False)):
            found = whole_queries(SYSTEMS, label, truth, drawn, n_gold=300, fixed=fixed).difference(0, 1)
            held[place] += found.low <= (np.diff(truth.mean(axis=0))[0] if fixed else 0.0) <= found.high
    assert held / len(seeds) == about(0.95, len(seeds), off=0.01)


@pytest.mark.evidence
def test_gold_for_all_that_lists_show_leaves_the_best_list_to_chance() -> None:
    """P@10 is then known, nDCG@10 not: documents that no list shows, and nobody relabelled, may belong to the best."""
    seeds = studies(5, 200)
    held = 0
    for seed in seeds:
        study = graded_pair(30, judge="lenient", seed=seed)
        gold = study.gold((study.rank <= 10).any(axis=1), np.ones(len(study.truth)))
        by_measure = {}
        for measure in ("P@10", "nDCG@10"):
            found = kt.compare(study.judgments(), study.runs(), measure, gold=gold, queries="fixed")
            right = kt.compare(study.judgments(study.truth), study.runs(), measure).methods["difference"][0]
            by_measure[measure] = (found.methods.filter(pl.col("method") == "ppi").row(0, named=True), right)
        row, right = by_measure["P@10"]
        assert row["difference"] == pytest.approx(right)
        assert np.isnan(row["low"])
        row, right = by_measure["nDCG@10"]
        held += row["low"] <= right <= row["high"]
    assert held / len(seeds) > (0.9 if len(seeds) > 100 else 0.5)
