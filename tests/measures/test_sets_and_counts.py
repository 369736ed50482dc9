"""Sets, interpolated precision, geometric means and counts: what trec_eval itself says (pytrec_eval 0.5)."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval

import karat as kt
from measures_against import assert_same, many, per_query

NAMES = {
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "11pt_avg": "IAP",
    "gm_map": "GMAP",
    "gm_bpref": "gm_Bpref",
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
} | {f"iprec_at_recall_{tenth / 10:.2f}": f"IPrec@{tenth / 10}" for tenth in range(11)}
ASKED = {name.partition("_0.")[0].partition("_1.")[0] for name in NAMES}


@pytest.mark.parametrize("rel", [1, 2])
def test_thousands_of_lists_score_as_trec_eval_does(rel: int) -> None:
    labels, run = many(rel + 10)
    theirs = pytrec_eval.RelevanceEvaluator(labels, ASKED, relevance_level=rel).evaluate(run)
    scores = kt.score(labels, run, kt_at(list(NAMES.values()), rel), draws=0)
    ours = {name: str(measure) for name, measure in zip(NAMES, kt_at(list(NAMES.values()), rel), strict=True)}
    assert_same(theirs, per_query(scores), ours)
    means = dict(zip(scores.means["measure"], scores.means["value"], strict=True))
    for name, mine in ours.items():
        whole = pytrec_eval.compute_aggregated_measure(name, [query[name] for query in theirs.values()])
        assert means[mine] == pytest.approx(whole, rel=1e-9), name


def kt_at(names: list[str], rel: int) -> list[kt.Measure]:
    from karat.measures import as_measures, at_level

    return at_level(as_measures(names), rel)


@pytest.mark.parametrize(("x", "beta"), [(4, 2), (0.25, 0.5)])
def test_the_square_of_beta_is_trec_evals_parameter(x: float, beta: float) -> None:
    labels, run = many(20, 300)
    theirs = pytrec_eval.RelevanceEvaluator(labels, {f"set_F.{x}"}).evaluate(run)
    name = next(iter(next(iter(theirs.values()))))
    assert_same(theirs, per_query(kt.score(labels, run, f"SetF(beta={beta})", draws=0)), {name: f"SetF(beta={beta})"})


def test_f1_is_the_harmonic_mean_of_precision_and_recall_at_k() -> None:
    labels, run = many(21, 300)
    frame = kt.score(labels, run, ["P@5", "R@5", "F@5"], draws=0).queries
    p, r, f = (frame[name].to_numpy() for name in ("P@5", "R@5", "F@5"))
    hit = p > 0
    assert f[hit] == pytest.approx(2 / (1 / p[hit] + 1 / r[hit]))
    assert not f[~hit].any()


def test_a_geometric_mean_has_the_interval_of_the_logarithms() -> None:
    labels, run = many(22, 60)
    means = kt.score(labels, run, ["GMAP"], seed=3).means
    logs = kt.score(labels, run, ["GMAP"], seed=3).queries["GMAP"].to_numpy()
    value, low, high = means.select("value", "low", "high").row(0)
    assert value == pytest.approx(np.exp(logs.mean()))
    half = 1.96 * logs.std(ddof=1) / len(logs) ** 0.5
    assert (np.log(low), np.log(high)) == pytest.approx((logs.mean() - half, logs.mean() + half), abs=0.35 * half)


def test_a_count_is_added_up_and_has_no_interval() -> None:
    labels = {f"q{n}": {"a": 1, "b": 1} for n in range(12)}
    run = {f"q{n}": {"a": 2.0, "c": 1.0} for n in range(12)}
    means = kt.score(labels, run, ["NumRet", "NumRelRet", "NumRel"]).means
    assert means["value"].to_list() == [24, 12, 24]
    assert means["low"].is_nan().all()


def test_a_comparison_by_a_count_or_a_geometric_mean_is_refused() -> None:
    labels = {f"q{n}": {"a": 1, "b": 0} for n in range(12)}
    runs = {name: {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(12)} for name in "xy"}
    for measure, what in (("NumRet", "a count"), ("GMAP", "a geometric mean")):
        with pytest.raises(kt.BadInput, match=f"found {what}"):
            kt.compare(labels, runs, measure)


def test_gold_labels_leave_counts_and_geometric_means_alone() -> None:
    labels = {f"q{n}": {"a": 1, "b": 0} for n in range(12)}
    run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(12)}
    gold = [{"query": f"q{n}", "doc": "a", "label": 1, "probability": 1.0} for n in range(12)]
    corrected = kt.score(labels, run, ["P@1", "GMAP", "NumRet"], gold=gold).means
    assert corrected["n_gold"].to_list() == [12, 0, 0]
    assert corrected["value"][2] == 24, "a count is what it is"
    assert corrected["reason"][1] == "its mean over queries is no ordinary one"
