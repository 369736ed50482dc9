"""Priming: a planted effect of the document judged just before is found within its interval, and none where none is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from karat.errors import Undefined
from karat.judges import priming
from simulated import about, studies

QUERIES, DOCS, JUDGES, EACH = 40, 6, 12, 3


def study(seed: int, effect: float, varied: float = 0.0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels and gold: judges differ in leniency, in what they think of a query, and by chance; each has an order.

    The effect may differ from judge to judge by a standard deviation of `varied`.
    """
    rng = np.random.default_rng(seed)
    effects = effect + varied * np.random.default_rng([seed, 1]).normal(size=JUDGES)
    worth = rng.normal(2, 1, (QUERIES, 1)) + rng.normal(0, 1, (QUERIES, DOCS))
    lenient, opinion = rng.normal(0, 0.4, JUDGES), rng.normal(0, 0.4, (JUDGES, QUERIES))
    rows = []
    of = np.array([rng.permutation(JUDGES)[:EACH] for _ in range(QUERIES)])
    for judge in range(JUDGES):
        before, time = np.nan, 0
        for query in rng.permutation(QUERIES):
            if judge not in of[query]:
                continue
            for doc in rng.permutation(DOCS):
                push = 0.0 if np.isnan(before) else effects[judge] * (before - 2)
                label = worth[query, doc] + lenient[judge] + opinion[judge, query] + push + 0.5 * rng.normal()
                rows.append((f"q{query:02}", f"q{query:02}-{doc}", f"j{judge:02}", label, time))
                before, time = worth[query, doc], time + 1
    gold = [(f"q{q:02}", f"q{q:02}-{d}", worth[q, d]) for q in range(QUERIES) for d in range(DOCS)]
    said = pl.DataFrame(rows, schema=["query", "doc", "judge", "label", "time"], orient="row")
    return said, pl.DataFrame(gold, schema=["query", "doc", "label"], orient="row")


@pytest.mark.evidence
@pytest.mark.parametrize("trusted", [True, False])
def test_the_interval_holds_the_planted_effect_and_alarms_are_rare(trusted: bool) -> None:
    seeds = studies(12, 200)
    held, alarms = 0, 0
    for seed in seeds:
        # None on the mean, though judges differ in it: intervals are for judges like these.
        said, gold = study(seed, 0.0, varied=0.2)
        alarms += priming(said, gold if trusted else None).frame["p"][0] < 0.05
        said, gold = study(seed, -0.25)
        low, high = priming(said, gold).frame.select("low", "high").row(0)
        held += low <= -0.25 <= high
    assert held / len(seeds) == about(0.95, len(seeds), off=0.02)
    assert alarms / len(seeds) == about(0.05, len(seeds), off=0.02)


def test_labels_of_others_tell_the_effect_too_if_less_of_it() -> None:
    found = [priming(study(seed, -0.25)[0]).frame["change"][0] for seed in range(4)]
    # Of others' labels, chance (0.25 / 2) is a small part beside what documents differ by (1): an eighth is lost.
    assert np.mean(found) == pytest.approx(-0.25 / (1 + 0.25 / 2), abs=0.05)


def test_the_coefficient_is_that_of_a_plain_regression() -> None:
    """With gold labels: label less gold on the document before, less the mean of its query's others, and more."""
    said, gold = study(3, -0.25)
    rows = said.join(gold.rename({"label": "gold"}), on=["query", "doc"]).sort("judge", "time").to_dicts()
    table = []
    for last, row in pairwise(rows):
        if last["judge"] != row["judge"]:
            continue
        mine = [one["gold"] for one in rows if (one["judge"], one["query"]) == (last["judge"], last["query"])]
        if last["query"] == row["query"]:
            mine.remove(row["gold"])
        table.append(
            (row["label"] - row["gold"], last["gold"] - np.mean(mine), row["time"] / 100, row["gold"], row["judge"])
        )
    y, before, place, own, judge = (np.array(column) for column in zip(*table, strict=True))
    dummies = (judge[:, None] == np.unique(judge)).astype(float)
    fit = sm.OLS(y, np.column_stack([before, place, own, dummies])).fit()
    found = priming(said, gold).frame
    assert found["change"].to_list() == pytest.approx(fit.params[:2].tolist())


def test_who_has_no_other_beside_them_cannot_be_told() -> None:
    said, gold = study(1, 0.0)
    with pytest.raises(Undefined, match="cannot be told"):
        priming(said.filter(pl.col("judge") == "j00"))
    alone = priming(said.filter(pl.col("judge") == "j00"), gold)
    assert alone.frame["n_judges"].to_list() == [1, 1]
    few = priming(said.filter(pl.col("query").is_in(["q00", "q01"])), gold)
    assert few.frame["low"].is_nan().all()
    assert "Too few queries" in few.finding
    assert any("no times" in note for note in priming(said.drop("time"), gold).notes)
