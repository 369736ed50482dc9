"""Effects of order: silent where there are none, found where they are planted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.judges.order_effects import BEFORE, LATER, order_effects
from simulated import about, studies


def study(seed: int, *, push: float = 0.0, drift: float = 0.0, judges: int = 12, queries: int = 20) -> pl.DataFrame:
    """Three judges for each of eight documents a query; each judge goes through theirs in an order drawn by lot.

    Documents of a query are alike in how good they are, and judges differ in how lenient they are: neither is an
    effect of order. `push` is what a grade of the label before adds, `drift` what ten labels later do.
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
            seen += push * (before - 1.5) + drift * place / 10
            before = seen
            rows.append((f"q{query}", f"d{doc}", f"j{judge}", float(np.clip(round(seen), 0, 3)), place))
    return pl.DataFrame(rows, schema=["query", "doc", "judge", "label", "time"], orient="row")


@pytest.mark.evidence
def test_no_effect_of_order_is_found_where_there_is_none() -> None:
    seeds = studies(25, 300)
    p = np.array([order_effects(study(seed)).frame["p"].to_list() for seed in seeds])
    for column in p.T:
        assert (column < 0.05).mean() == about(0.05, len(seeds), off=0.02)


@pytest.mark.parametrize(("planted", "effect"), [({"push": 0.3}, BEFORE), ({"drift": 0.25}, LATER)])
def test_a_planted_effect_is_found_and_the_other_is_not(planted: dict[str, float], effect: str) -> None:
    found = order_effects(study(3, queries=40, **planted))
    row = found.frame.filter(pl.col("effect") == effect).row(0, named=True)
    # Grades are rounded and cut off at the ends, so that less than all of it is left.
    assert 0 < row["low"] < next(iter(planted.values()))
    assert row["p_adjusted"] < 0.01
    assert "of a grade higher" in found.finding


def test_sessions_start_anew() -> None:
    rows = study(1).with_columns(session=(pl.col("time") // 10).cast(pl.String))
    found = order_effects(rows).frame
    # The first label of each session has none before it.
    sessions = rows.select("judge", "session").n_unique()
    assert found["n"][0] == rows.height - sessions


def test_without_times_the_file_tells_the_order() -> None:
    found = order_effects(study(1).drop("time"))
    assert "labels without a time: taken in the order of the file" in found.notes


def test_too_few_judges_are_refused() -> None:
    with pytest.raises(kt.Undefined, match="at least 3 judges"):
        order_effects(study(1).filter(pl.col("judge").is_in(["j1", "j2"])))
