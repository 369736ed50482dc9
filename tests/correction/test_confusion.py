"""The judge's confusion, by hand and against draws with unequal probabilities."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.judge_confusion import confusion
from simulated import about, studies


def test_shares_count_each_gold_label_as_often_as_it_stands_for_others() -> None:
    """By hand: of grade 0, one label drawn with 1/2 is right, two with 1/4 are wrong: 2 of 2 + 8 by weight."""
    labels = {"q1": {"a": 0, "b": 1, "c": 1}, "q2": {"d": 1, "e": 1}}
    gold = [
        {"query": "q1", "doc": "a", "label": 0, "probability": 0.5},
        {"query": "q1", "doc": "b", "label": 0, "probability": 0.25},
        {"query": "q1", "doc": "c", "label": 0, "probability": 0.25},
        {"query": "q2", "doc": "d", "label": 1, "probability": 0.5},
        {"query": "q2", "doc": "e", "label": 1, "probability": 0.5},
    ]
    found = confusion(labels, gold)
    assert found.matrix().rows() == [(0.0, pytest.approx(0.2), pytest.approx(0.8)), (1.0, 0.0, 1.0)]
    assert found.n_gold == 5


def test_uniform_gold_of_single_queries_gives_wilsons_interval() -> None:
    """43 of 59 right, each in a query of its own: Wilson's 95 % interval by statsmodels."""
    from statsmodels.stats.proportion import proportion_confint

    labels = {f"q{n}": {"d": 1 if n < 43 else 0} for n in range(59)}
    gold = {f"q{n}": {"d": 1} for n in range(59)}
    row = confusion(labels, gold).accuracy.row(0, named=True)
    assert row["right"] == pytest.approx(43 / 59)
    low, high = proportion_confint(43, 59, method="wilson")
    assert (row["low"], row["high"]) == (pytest.approx(low, abs=0.005), pytest.approx(high, abs=0.005))
    assert row["counts"] in ("43/59", "42/58")


def test_true_grades_by_rank_are_solved_from_the_labels() -> None:
    """Labels at rank 1: 62 % relevant; judges right on 90 % of relevant and 80 % of others: (.62 - .2) / .7 = .6."""
    labels = {f"q{n:03d}": {"d": int(n < 62)} for n in range(100)} | {f"g{n:03d}": {"d": int(n < 9)} for n in range(10)}
    labels |= {f"h{n:03d}": {"d": int(n < 2)} for n in range(10)}
    gold = {f"g{n:03d}": {"d": 1} for n in range(10)} | {f"h{n:03d}": {"d": 0} for n in range(10)}
    run = {"mine": {f"q{n:03d}": {"d": 1.0} for n in range(100)}}
    rows = confusion(labels, gold, run).by_rank.filter((pl.col("rank") == 1) & (pl.col("grade") == 1))
    assert rows["corrected"][0] == pytest.approx(0.6)


def test_nothing_in_common_and_no_gold_are_said() -> None:
    with pytest.raises(kt.Undefined, match="no document has both"):
        confusion({"q": {"a": 1}}, {"q": {"b": 1}})
    with pytest.raises(kt.BadInput, match="gold labels"):
        confusion({"q": {"a": 1}})


def test_draws_with_unequal_chances_are_right_on_average() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 4000)
    label = np.where(rng.random(4000) < np.where(truth == 1, 0.9, 0.7), truth, 1 - truth)
    chance = np.where(label == 1, 0.5, 0.1)  # drawn by the label: unweighted shares would be far off
    drawn = rng.random(4000) < chance
    names = {"query": [f"q{n % 200}" for n in range(4000)], "doc": [str(n) for n in range(4000)]}
    labels = pl.DataFrame(names | {"label": label})
    gold = pl.DataFrame(names | {"label": truth, "probability": chance}).filter(pl.Series(drawn))
    row = confusion(labels, gold).accuracy
    assert row["right"].to_list() == pytest.approx([0.9, 0.7], abs=0.05)
    assert (row["low"] < pl.Series([0.9, 0.7])).all()
    assert (row["high"] > pl.Series([0.9, 0.7])).all()


def test_queries_that_are_all_misjudged_alike_are_no_reason_to_fail() -> None:
    """One of two relevant documents of every query is right: half, and Wilson's interval of 20 labels."""
    labels = {f"q{n}": {"a": 1, "b": 0} for n in range(10)}
    row = confusion(labels, {f"q{n}": {"a": 1, "b": 1} for n in range(10)}).accuracy.row(0, named=True)
    assert (row["right"], row["counts"]) == (0.5, "10/20")
    assert (row["low"], row["high"]) == (pytest.approx(0.299, abs=1e-3), pytest.approx(0.701, abs=1e-3))


@pytest.mark.evidence
def test_intervals_hold_although_queries_differ_and_draws_are_unequal() -> None:
    """Right on 60 to 100 % of a query's documents, 80 % on average; what is called relevant is drawn more often."""
    held = []
    seeds = studies(25, 2000)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        query = np.repeat(np.arange(60), 10)
        truth = rng.integers(0, 2, 600)
        label = np.where(rng.random(600) < rng.uniform(0.6, 1.0, 60)[query], truth, 1 - truth)
        chance = np.where(label == 1, 0.6, 0.3)
        names = {"query": query.astype(str), "doc": [str(n) for n in range(600)]}
        gold = pl.DataFrame(names | {"label": truth, "probability": chance}).filter(pl.Series(rng.random(600) < chance))
        found = confusion(pl.DataFrame(names | {"label": label}), gold)
        held += list((found.accuracy["low"] <= 0.8) & (found.accuracy["high"] >= 0.8))
    assert np.mean(held) == about(0.95, len(seeds), off=0.02)
