"""`compare`: the verdict, what it rests on, and what it says when the data cannot answer."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat as kt
from karat.simulate import two_systems
from pools import pool_of_study

Labels = dict[str, dict[str, float]]


def study(queries: int = 20) -> tuple[Labels, dict[str, dict[str, dict[str, float]]]]:
    """A finds the good document of every fourth query, B of every query."""
    labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(queries)}
    first = {"good": 2.0, "bad": 1.0}
    last = {"good": 1.0, "bad": 2.0}
    a = {f"q{i}": last if i % 4 else first for i in range(queries)}
    return labels, {"a": a, "b": {f"q{i}": first for i in range(queries)}}


def gold_of(rows: list[tuple[str, str, float, float]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query", "doc", "label", "probability"], orient="row")


def test_b_is_better_where_b_scores_higher_and_worse_the_other_way_round() -> None:
    labels, runs = study()
    found = kt.compare(labels, runs, "P@1")
    assert (found.verdict, found.winner, found.method) == ("better", "b", "plain")
    row = found.methods.row(0, named=True)
    # 15 of 20 queries differ by 1: mean .75, sd sqrt(20/19 * .75 * .25).
    assert row["difference"] == pytest.approx(0.75)
    error = math.sqrt(0.75 * 0.25 / 19)
    assert (row["high"] - row["low"]) / 2 == pytest.approx(2.0930 * error, rel=1e-4)
    turned = kt.compare(labels, {"b": runs["b"], "a": runs["a"]}, "P@1")
    assert (turned.verdict, turned.winner) == ("worse", "b")
    assert turned.methods["difference"][0] == pytest.approx(-0.75)
    assert repr(found).startswith("b is better than a by P@1: +0.75")


def test_wins_ties_losses_and_the_three_tests_are_there() -> None:
    labels, runs = study()
    found = kt.compare(labels, runs, "P@1")
    pair = found.pairs.row(0, named=True)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (15, 5, 0)
    assert pair["effect"] == pytest.approx(0.75 / math.sqrt(20 / 19 * 0.75 * 0.25))
    assert found.tests is not None
    flip = found.tests.filter(pl.col("test").str.starts_with("sign-flip"))["p"][0]
    assert flip == pytest.approx(2 / 2**15)  # only all fifteen signs alike are as far out


def test_the_prediction_powered_score_by_hand() -> None:
    """Two queries, P@2. The judge calls all of B's own documents good; gold says otherwise for one drawn at .5."""
    labels = {"q1": {"x": 1, "a": 0, "b": 1}, "q2": {"x": 1, "a": 1, "b": 1}}
    runs = {
        "A": {q: {"x": 2.0, "a": 1.0} for q in labels},
        "B": {q: {"x": 2.0, "b": 1.0} for q in labels},
    }
    gold = gold_of([("q1", "b", 0, 0.5), ("q2", "a", 1, 0.5)])
    from karat.correction.gold_sample import Gold
    from karat.correction.pool import Pool
    from karat.correction.ppi import powered
    from karat.measures.scorer import Scorer

    scorer = Scorer(kt.Judgments.of(labels), ["P@2"], draws=0)
    lists = kt.Runs.of(runs)
    measure = scorer.measures[0]
    assert isinstance(measure, kt.P)
    pool = Pool.of(lists, ["q1", "q2"], measure, scorer.topics, scorer.profile, Gold.of(kt.Judgments.of(gold)))
    values = powered(pool, tuned=False).values
    # q1, B: (1 + 1)/2 by the judge, plus (0 - 1)/.5/2 = -1. q2, A: (1 + 1)/2, plus nothing: the judge was right.
    np.testing.assert_allclose(values, [[0.5, 0.0], [1.0, 1.0]])


def test_inversion_has_the_closed_form_error_of_two_systems_with_shared_accuracies() -> None:
    from karat.correction.inversion import inversion, matrix_of

    ratios = []
    for seed in range(20):
        made = two_systems(300, difference=0.1, seed=seed)
        drawn = made.draw_gold(400, seed)
        pool = pool_of_study(made, drawn, 400 / len(drawn))
        confusion = matrix_of(pool)
        right, wrong = confusion.shares[1, 1], confusion.shares[0, 0]
        d = right + wrong - 1
        seen = pool.by_query(pool.predicted)
        apart = seen[:, 1] - seen[:, 0]
        gap = apart.mean()
        chance = right * (1 - right) / confusion.counts[1] + wrong * (1 - wrong) / confusion.counts[0]
        closed = apart.var(ddof=1) / 300 / d**2 + gap**2 * chance / d**4
        found = inversion(pool).difference(0, 1)
        assert found.difference == pytest.approx(gap / d)
        ratios.append(found.standard_error**2 / closed)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.05)


def test_inversion_of_graded_labels_has_the_error_that_a_bootstrap_of_queries_and_gold_has() -> None:
    from karat.correction.inversion import inversion, resampled_scores

    rng = np.random.default_rng(8)
    made = two_systems(150, difference=0.05, seed=8)
    grade = np.where(made.truth > 0, rng.integers(1, 3, len(made.truth)), 0)
    slip = rng.random(len(grade)) < 0.3
    label = np.where(slip, (grade + rng.integers(1, 3, len(grade))) % 3, grade).astype(float)
    drawn = made.draw_gold(900, 1)
    pool = pool_of_study(made, drawn, 900 / len(drawn))
    discount = np.where(made.rank > 0, 1 / np.log2(np.maximum(made.rank, 1) + 1), 0.0)
    from dataclasses import replace

    pool = replace(pool, weight=discount, predicted=label, gold=np.where(drawn, grade, np.nan))
    found = inversion(pool)
    draws = resampled_scores(pool, draws=2000, seed=1)
    np.testing.assert_allclose(draws.mean(axis=0), found.scores, rtol=0.03)
    np.testing.assert_allclose(draws.std(axis=0, ddof=1), np.sqrt(np.diag(found.covariance)), rtol=0.12)
    by_draws = float((draws[:, 1] - draws[:, 0]).std(ddof=1))
    assert found.difference(0, 1).standard_error == pytest.approx(by_draws, rel=0.12)
    truth = pool.by_query(grade.astype(float)).mean(axis=0)
    assert np.all(np.abs(found.scores - truth) < 3 * np.sqrt(np.diag(found.covariance)))


def test_many_systems_get_places_and_p_values_that_allow_for_many() -> None:
    rng = np.random.default_rng(2)
    queries = [f"q{i:03d}" for i in range(80)]
    labels = {q: {f"d{j}": int(rng.random() < 0.5) for j in range(30)} for q in queries}
    noise = {"clear": 0.1, "same1": 3.0, "same2": 3.0, "same3": 3.0}
    runs = {
        name: {q: {d: label + size * rng.normal() for d, label in labels[q].items()} for q in queries}
        for name, size in noise.items()
    }
    found = kt.compare(labels, runs, "P@10")
    assert (found.verdict, found.winner) == ("better", "clear")
    places = {row["system"]: (row["best_rank"], row["worst_rank"]) for row in found.ranks.iter_rows(named=True)}
    assert places["clear"] == (1, 1)
    assert all(places[name] == (2, 4) for name in ("same1", "same2", "same3"))
    assert found.pairs.height == 6
    assert (found.pairs["max_t"] >= found.pairs["p"] - 0.01).all()
    null = kt.compare(labels, {name: runs[name] for name in ("same1", "same2", "same3")}, "P@10")
    assert (null.verdict, null.winner) == ("no difference shown", None)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR", "ERR@10"])
def test_measures_that_are_no_sums_are_corrected_from_whole_queries(measure: str) -> None:
    made = two_systems(200, difference=0.08, judge="lenient", seed=3)
    whole = np.isin(made.query, np.random.default_rng(1).choice(200, 60, replace=False))
    found = kt.compare(made.judgments(), made.runs(), measure, gold=made.gold(whole, 60 / 200))
    row = found.methods.filter(pl.col("method") == "ppi").row(0, named=True)
    truth = kt.compare(made.gold(np.ones(len(made.truth), bool), 1.0), made.runs(), measure)
    assert row["low"] < truth.methods["difference"][0] < row["high"]
    assert row["n_gold"] == 60 * 14
    assert found.method == "ppi"
    assert not any("no sum over documents" in note for note in found.notes)  # a matrix was not asked for


def test_gold_for_single_documents_corrects_ndcg_but_not_average_precision() -> None:
    made = two_systems(50, seed=3)
    gold = made.gold(made.draw_gold(200, 1), 200 / 700)
    assert kt.compare(made.judgments(), made.runs(), "nDCG@10", gold=gold).method == "ppi"
    found = kt.compare(made.judgments(), made.runs(), "AP", gold=gold)
    assert found.verdict == "cannot say"
    assert "whole queries" in found.reason


def test_gold_for_everything_leaves_nothing_to_chance_on_these_queries() -> None:
    made = two_systems(40, difference=0.1, judge="lenient", seed=3)
    everything = made.gold(np.ones(len(made.truth), bool), 1.0)
    found = kt.compare(made.judgments(), made.runs(), "P@10", gold=everything, queries="fixed")
    truth = kt.compare(everything, made.runs(), "P@10").methods["difference"][0]
    row = found.methods.filter(pl.col("method") == "ppi").row(0, named=True)
    assert row["difference"] == pytest.approx(truth)
    assert found.verdict == "better"
    assert any("known, not estimated" in note for note in found.notes)


def test_gold_drawn_for_other_runs_is_refused() -> None:
    made = two_systems(200, seed=3)
    only_a = (made.rank[:, 0] > 0) & (made.rank[:, 1] == 0)
    drawn = only_a & (np.random.default_rng(1).random(len(only_a)) < 0.5)
    found = kt.compare(made.judgments(), made.runs(), "P@10", gold=made.gold(drawn, 0.5))
    assert found.verdict == "cannot say"
    assert "do not fit these runs" in found.reason


def test_gold_without_probabilities_is_taken_for_uniform_and_said() -> None:
    made = two_systems(100, difference=0.05, seed=3)
    gold = made.gold(made.draw_gold(400, 1), 400 / 1400)
    known = kt.compare(made.judgments(), made.runs(), "P@10", gold=gold)
    silent = kt.compare(made.judgments(), made.runs(), "P@10", gold=gold.frame.drop("probability"))
    assert_frame_equal(known.methods, silent.methods)
    assert any("taken for drawn uniformly" in note for note in silent.notes)


def test_gold_of_documents_nobody_shows_or_asks_for_is_left_aside_and_counted() -> None:
    made = two_systems(100, seed=3)
    gold = made.gold(made.draw_gold(400, 1), 400 / 1400).frame.select("query", "doc", "label", "probability")
    more = gold_of([("000001", "hidden", 1.0, 0.5), ("elsewhere", "00000001", 1.0, 0.5)])
    found = kt.compare(made.judgments(), made.runs(), "P@10", gold=pl.concat([gold, more]))
    assert found.methods.filter(pl.col("method") == "ppi")["n_gold"][0] == 400
    assert any(
        "1 gold label of documents that no list shows where it counts: used to learn" in note for note in found.notes
    )
    assert "1 gold label of queries that are not compared left aside" in found.notes
    # The sentence itself says why 400 of the 402 count.
    assert found.finding.endswith(
        "labels corrected with 400 of 402 gold labels (the others are of other queries or of documents that these "
        "lists do not show where it counts)."
    )
    gold = pl.concat([gold, gold_of([("000001", "hidden", 1.0, 0.5)])])
    assert kt.compare(made.judgments(), made.runs(), "P@10", gold=gold).finding.endswith(
        "400 of 401 gold labels (the others are of documents that these lists do not show where it counts)."
    )


def test_a_confusion_matrix_that_nobody_asked_for_is_no_news_where_it_cannot_be() -> None:
    made = two_systems(100, seed=3)
    gold = made.gold(made.draw_gold(400, 1), 400 / 1400)
    found = kt.compare(made.judgments(), made.runs(), "nDCG@10", gold=gold)
    assert not any("inversion" in note or "confusion matrix" in note for note in found.notes)
    asked = kt.compare(made.judgments(), made.runs(), "nDCG@10", gold=gold, method="inversion")
    assert "nDCG@10 is no sum over documents, so a confusion matrix cannot correct it" in asked.finding


def test_a_judge_who_guesses_is_not_turned_round() -> None:
    made = two_systems(100, right=(0.5, 0.5), seed=3)
    found = kt.compare(made.judgments(), made.runs(), "P@10", gold=made.gold(made.draw_gold(400, 1), 400 / 1400))
    assert "inversion" not in found.methods["method"].to_list()
    assert any("the labels hardly depend on the gold grade" in note for note in found.notes)
    assert found.verdict != "cannot say"  # gold labels alone still answer
    forced = kt.compare(
        made.judgments(), made.runs(), "P@10", gold=made.gold(made.draw_gold(400, 1), 400 / 1400), method="inversion"
    )
    assert forced.verdict == "cannot say"


def test_an_empty_gold_grade_silences_inversion_alone() -> None:
    made = two_systems(100, seed=3)
    drawn = made.draw_gold(400, 1)
    gold = made.gold(drawn, 400 / 1400).frame.with_columns(label=pl.lit(1.0))
    found = kt.compare(made.judgments(), made.runs(), "P@10", gold=gold)
    assert any("0 gold labels on documents worth 0" in note for note in found.notes)


def test_fewer_than_two_queries_cannot_say() -> None:
    labels, runs = study(1)
    found = kt.compare(labels, runs, "P@1")
    assert found.verdict == "cannot say"
    assert "2 are needed" in found.reason
    assert found.to_dict()["methods"] == []


def test_systems_that_score_alike_show_no_difference() -> None:
    labels, runs = study()
    found = kt.compare(labels, {"a": runs["a"], "again": runs["a"]}, "P@1")
    assert found.verdict == "no difference shown"
    assert found.methods["p"][0] == 1.0
    assert math.isnan(found.methods["low"][0])


def test_labels_of_the_group_gold_count_as_gold() -> None:
    made = two_systems(100, difference=0.05, seed=3)
    gold = made.gold(made.draw_gold(400, 1), 400 / 1400)
    both = pl.concat(
        [
            made.judgments().frame.with_columns(group=pl.lit("llm")),
            gold.frame.drop("probability").with_columns(group=pl.lit("gold")),
        ],
        how="diagonal",
    )
    found = kt.compare(both, made.runs(), "P@10")
    apart = kt.compare(made.judgments(), made.runs(), "P@10", gold=gold.frame.drop("probability"))
    assert_frame_equal(found.methods, apart.methods)


def test_several_judges_can_be_combined_by_an_error_model() -> None:
    made = [two_systems(80, difference=0.1, seed=3)]
    rng = np.random.default_rng(5)
    frames = []
    for judge, right in (("ann", 0.9), ("bob", 0.85), ("eve", 0.55), ("joe", 0.55), ("kim", 0.55)):
        said = np.where(rng.random(len(made[0].truth)) < right, made[0].truth, 1 - made[0].truth)
        frames.append(made[0].judgments().frame.with_columns(label=pl.Series(said), judge=pl.lit(judge)))
    labels = pl.concat(frames)
    gold = made[0].gold(made[0].draw_gold(300, 1), 300 / len(made[0].truth))
    by_vote = kt.compare(labels, made[0].runs(), "P@10", gold=gold)
    by_model = kt.compare(labels, made[0].runs(), "P@10", gold=gold, consensus="dawid-skene")
    width = {
        name: found.methods.filter(pl.col("method") == "ppi").select(pl.col("high") - pl.col("low")).item()
        for name, found in (("vote", by_vote), ("model", by_model))
    }
    assert width["model"] < width["vote"]


def test_peeking_widens_the_interval_and_needs_some_queries() -> None:
    made = two_systems(100, difference=0.1, seed=3)
    once = kt.compare(made.judgments(), made.runs(), "P@10").methods.row(0, named=True)
    peeked = kt.compare(made.judgments(), made.runs(), "P@10", peek=100).methods.row(0, named=True)
    # Waudby-Smith et al. (2024): s sqrt(2 (t r + 1) / (t^2 r) log(sqrt(t r + 1) / alpha)); at its best r about
    # 1.5 t intervals.
    ratio = (peeked["high"] - peeked["low"]) / (once["high"] - once["low"])
    assert 1.4 < ratio < 1.6
    assert peeked["p"] > once["p"]
    labels, runs = study(10)
    assert kt.compare(labels, runs, "P@1", peek=50).verdict == "cannot say"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "ppi"}, "expected gold labels"),
        ({"queries": "fixed"}, "expected gold labels"),
        ({"method": "magic"}, "expected auto or plain"),
        ({"consensus": "magic"}, "expected median"),
        ({"level": 2.0}, "expected a share"),
        ({"peek": 3}, "expected 20 or more"),
        ({"gold": pl.DataFrame({"query": ["q1"], "doc": ["good"], "label": [1.0], "probability": [0.0]})}, "above 0"),
        ({"gold": pl.DataFrame({"query": ["q1"], "doc": ["good"], "label": [None]})}, "at least one label"),
    ],
)
def test_what_cannot_be_is_refused_in_words(options: dict[str, object], words: str) -> None:
    labels, runs = study()
    with pytest.raises(kt.BadInput, match=words):
        kt.compare(labels, runs, "P@1", **options)  # type: ignore[arg-type]
    with pytest.raises(kt.BadInput, match="two systems or more"):
        kt.compare(labels, {"a": runs["a"]}, "P@1")
