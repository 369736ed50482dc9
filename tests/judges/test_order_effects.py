"""Effects of order: silent where there are none, found within their intervals where they are planted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from karat.errors import Undefined
from karat.judges import order_effects
from simulated import about, studies

DOCUMENT, LABEL, LATER = "document before", "label before", "100 labels later"


def block_study(
    seed: int, effect: float, varied: float = 0.0, *, queries: int = 40, docs: int = 6, judges: int = 12
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels and gold, query by query: judges differ in leniency, in what they think of a query, and by chance.

    `effect` is what a grade of the document before adds; it may differ from judge to judge by a standard deviation of
    `varied`.
    """
    rng = np.random.default_rng(seed)
    effects = effect + varied * np.random.default_rng([seed, 1]).normal(size=judges)
    worth = rng.normal(2, 1, (queries, 1)) + rng.normal(0, 1, (queries, docs))
    lenient, opinion = rng.normal(0, 0.4, judges), rng.normal(0, 0.4, (judges, queries))
    rows = []
    of = np.array([rng.permutation(judges)[:3] for _ in range(queries)])
    for judge in range(judges):
        before, time = np.nan, 0
        for query in rng.permutation(queries):
            if judge not in of[query]:
                continue
            for doc in rng.permutation(docs):
                push = 0.0 if np.isnan(before) else effects[judge] * (before - 2)
                label = worth[query, doc] + lenient[judge] + opinion[judge, query] + push + 0.5 * rng.normal()
                rows.append((f"q{query:02}", f"q{query:02}-{doc}", f"j{judge:02}", label, time))
                before, time = worth[query, doc], time + 1
    gold = [(f"q{q:02}", f"q{q:02}-{d}", worth[q, d]) for q in range(queries) for d in range(docs)]
    said = pl.DataFrame(rows, schema=["query", "doc", "judge", "label", "time"], orient="row")
    return said, pl.DataFrame(gold, schema=["query", "doc", "label"], orient="row")


def mixed_study(
    seed: int, *, push: float = 0.0, drift: float = 0.0, judges: int = 12, queries: int = 20
) -> pl.DataFrame:
    """Three judges for each of eight documents a query; each judge goes through theirs in an order drawn by lot.

    Documents of a query are alike in how good they are, and judges differ in how lenient they are: neither is an
    effect of order. `push` is what a grade of the label before adds, `drift` what a hundred labels later do.
    """
    rng = np.random.default_rng(seed)
    quality = rng.normal(1.5, 0.7, queries)[:, None] + rng.normal(0, 0.7, (queries, 8))
    mine: dict[int, list[tuple[int, int]]] = {judge: [] for judge in range(judges)}
    for query in range(queries):
        for doc in range(8):
            for judge in rng.choice(judges, 3, replace=False):
                mine[int(judge)].append((query, doc))
    lenient, rows = rng.normal(0, 0.4, judges), []
    for judge, items in mine.items():
        before = 1.5
        for place, at in enumerate(rng.permutation(len(items))):
            query, doc = items[at]
            seen = quality[query, doc] + lenient[judge] + rng.normal(0, 0.6)
            seen += push * (before - 1.5) + drift * place / 100
            before = seen
            rows.append((f"q{query}", f"d{doc}", f"j{judge}", float(np.clip(round(seen), 0, 3)), place))
    return pl.DataFrame(rows, schema=["query", "doc", "judge", "label", "time"], orient="row")


def row(found: pl.DataFrame, effect: str) -> dict[str, float]:
    return found.filter(pl.col("effect") == effect).row(0, named=True)


@pytest.mark.evidence
@pytest.mark.parametrize("trusted", [True, False])
def test_the_interval_holds_the_planted_effect_and_alarms_are_rare(trusted: bool) -> None:
    seeds = studies(12, 200)
    held, alarms = 0, np.zeros(3)
    for seed in seeds:
        # None on the mean, though judges differ in it: intervals are for judges like these.
        said, gold = block_study(seed, 0.0, varied=0.2)
        alarms += order_effects(said, gold if trusted else None).frame["p"].to_numpy() < 0.05
        said, gold = block_study(seed, -0.25)
        found = row(order_effects(said, gold).frame, DOCUMENT)
        held += found["low"] <= -0.25 <= found["high"]
    assert held / len(seeds) == about(0.95, len(seeds), off=0.02)
    for share in alarms / len(seeds):
        assert share == about(0.05, len(seeds), off=0.02)


@pytest.mark.evidence
def test_no_effect_of_order_is_found_where_there_is_none() -> None:
    seeds = studies(25, 300)
    p = np.array([order_effects(mixed_study(seed)).frame["p"].to_list() for seed in seeds])
    for column in p.T:
        assert (column < 0.05).mean() == about(0.05, len(seeds), off=0.02)


@pytest.mark.parametrize(
    ("planted", "effect"), [({"push": 0.3}, LABEL), ({"push": 0.3}, DOCUMENT), ({"drift": 2.5}, LATER)]
)
def test_a_planted_effect_is_found(planted: dict[str, float], effect: str) -> None:
    found = order_effects(mixed_study(3, queries=40, **planted))
    told = row(found.frame, effect)
    # Grades are rounded and cut off at the ends, so that less than all of it is left.
    assert 0 < told["low"] < next(iter(planted.values()))
    assert told["p_holm"] < 0.01
    assert found.finding.startswith("What came before moves labels: +")


def test_labels_of_others_tell_the_effect_too_if_less_of_it() -> None:
    found = [row(order_effects(block_study(seed, -0.25)[0]).frame, DOCUMENT)["change"] for seed in range(4)]
    assert -0.25 < np.mean(found) < -0.15


def test_the_coefficients_are_those_of_a_plain_regression() -> None:
    """With gold labels: label less gold on the document and the label before, less the means of its query, and more."""
    said, gold = block_study(3, -0.25)
    rows = said.join(gold.rename({"label": "gold"}), on=["query", "doc"]).sort("judge", "time").to_dicts()
    table = []
    for last, now in pairwise(rows):
        if last["judge"] != now["judge"]:
            continue
        mine = [
            one for one in rows if (one["judge"], one["query"]) == (last["judge"], last["query"]) and one is not now
        ]
        document = last["gold"] - np.mean([one["gold"] for one in mine])
        label = last["label"] - last["gold"] - np.mean([one["label"] - one["gold"] for one in mine])
        table.append((now["label"] - now["gold"], document, label, now["time"] / 100, now["gold"], now["judge"]))
    y, document, label, place, own, judge = (np.array(column) for column in zip(*table, strict=True))
    dummies = (judge[:, None] == np.unique(judge)).astype(float)
    fit = sm.OLS(y, np.column_stack([document, label, place, own, dummies])).fit()
    assert order_effects(said, gold).frame["change"].to_list() == pytest.approx(fit.params[:3].tolist())


def test_sessions_start_anew() -> None:
    rows = mixed_study(1).with_columns(session=(pl.col("time") // 10).cast(pl.String))
    # The first label of each session has none before it, and stands at its beginning.
    sessions = rows.select("judge", "session").n_unique()
    assert order_effects(rows).frame["n"][0] == rows.height - sessions


def test_who_has_no_other_beside_them_cannot_be_told() -> None:
    said, gold = block_study(1, 0.0)
    with pytest.raises(Undefined, match="cannot be told"):
        order_effects(said.filter(pl.col("judge") == "j00"))
    alone = order_effects(said.filter(pl.col("judge") == "j00"), gold)
    assert alone.frame["n_judges"].to_list() == [1, 1, 1]
    few = order_effects(said.filter(pl.col("query").is_in(["q00", "q01"])), gold)
    assert few.frame["low"].is_nan().all()
    assert "Too few queries" in few.finding
    assert any("no times" in note for note in order_effects(said.drop("time"), gold).notes)
