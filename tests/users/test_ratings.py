"""Measures against what users said of whole searches: by hand, awkward tables, Jiang and Allan's sessions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from karat.errors import BadInput, Undefined
from karat.records import Ratings, SessionLists
from karat.users.ratings import against_ratings
from simulated import studies

# Five sessions; relevance of the results of each list, top first. P@2 by hand: the number of ones / 2.
SHOWN = {"a": ["10", "11"], "b": ["00", "10"], "c": ["11"], "d": ["00", "00", "10"], "e": ["10", ""]}
STARS = {"a": 4, "b": 3, "c": 5, "d": 1, "e": 2}


def tables(shown: dict[str, list[str]] = SHOWN) -> tuple[pl.DataFrame, pl.DataFrame]:
    lists, labels = [], []
    for session, steps in shown.items():
        for step, results in enumerate(steps, 1):
            if not results:
                lists.append((session, step, None, None))
            for rank, label in enumerate(results, 1):
                doc = f"{step}-{rank}"
                lists.append((session, step, doc, rank))
                labels.append((session, doc, int(label)))
    return (
        pl.DataFrame(lists, schema=["session", "step", "doc", "rank"], orient="row"),
        pl.DataFrame(labels, schema=["query", "doc", "label"], orient="row"),
    )


def ratings(stars: dict[str, int] = STARS) -> pl.DataFrame:
    return pl.DataFrame({"session": list(stars), "rating": list(stars.values())})


def test_lists_are_put_together_as_by_hand() -> None:
    by_hand = {
        "mean": [0.75, 0.25, 1, 1 / 6, 0.25],
        "last": [1, 0.5, 1, 0.5, 0],
        "max": [1, 0.5, 1, 0.5, 0.5],
        "first": [0.5, 0, 1, 0, 0.5],
        "min": [0.5, 0, 1, 0, 0],
        "sum": [1.5, 0.5, 1, 0.5, 0.5],
        # One by 1 + log4(step): 1, 2/3, 0.5579 for the first three lists.
        "discounted": [0.5 + 1 / 1.5, 0.5 / 1.5, 1, 0.5 / (1 + np.log(3) / np.log(4)), 0.5],
    }
    lists, labels = tables()
    found = against_ratings(ratings(), labels, lists, "P@2", aggregates=list(by_hand), draws=0).frame
    stars = list(STARS.values())
    for row in found.iter_rows(named=True):
        values = [2, 2, 1, 3, 2] if row["measure"] == "number of lists" else by_hand[row["lists"]]
        assert row["spearman"] == pytest.approx(stats.spearmanr(values, stars).statistic), row
        assert row["kendall"] == pytest.approx(stats.kendalltau(values, stars).statistic), row
    assert found["lists"].to_list() == [*by_hand, "-"]


def test_lists_may_name_the_query_that_the_labels_are_of() -> None:
    lists, labels = tables()
    shared = labels.with_columns(query=pl.lit("topic-") + pl.col("query"))
    named = lists.with_columns(query=pl.lit("topic-") + pl.col("session"))
    one = against_ratings(ratings(), labels, lists, "P@2", draws=0).frame
    assert against_ratings(ratings(), shared, named, "P@2", draws=0).frame.equals(one)


def test_a_session_without_rating_or_labels_is_left_out_and_said() -> None:
    lists, labels = tables()
    more = pl.concat([ratings(), pl.DataFrame({"session": ["x", "y"], "rating": [3, None]})])
    found = against_ratings(more, labels, lists, "P@2", draws=0)
    assert found.frame["n"].to_list() == [5] * 4
    assert any("2 sessions of 7" in note for note in found.notes)
    found = against_ratings(ratings(), labels.filter(pl.col("query") != "b"), lists, "P@2", draws=0)
    assert found.frame["n"].to_list() == [4] * 4
    assert any("2 lists without labels" in note for note in found.notes)


def test_what_cannot_be_answered_is_said() -> None:
    lists, labels = tables()
    with pytest.raises(Undefined, match="too few"):
        against_ratings(ratings({"a": 1, "b": 2}), labels, lists, "P@2")
    with pytest.raises(BadInput, match="a column stars"):
        against_ratings(ratings(), labels, lists, "P@2", rating="stars")
    with pytest.raises(BadInput, match="queries in common"):
        against_ratings(ratings(), labels.with_columns(query="z" + pl.col("query")), lists, "P@2")
    with pytest.raises(BadInput, match="some of mean"):
        against_ratings(ratings(), labels, lists, "P@2", aggregates=["median"])
    found = against_ratings(ratings(dict.fromkeys(STARS, 3)), labels, lists, "P@2")
    assert "cannot be told" in found.finding
    assert found.to_dict()["rows"][0]["spearman"] is None


def test_bad_tables_are_refused_with_their_row() -> None:
    with pytest.raises(BadInput, match="one row for each session"):
        Ratings.of([{"session": "a", "rating": 1}, {"session": "a", "rating": 2}])
    with pytest.raises(BadInput, match='found "good"'):
        Ratings.of([{"session": "a", "rating": "good"}]).rating("rating")
    with pytest.raises(BadInput, match="row 1: expected a rank from 1"):
        SessionLists.of([{"session": "a", "step": 1, "doc": "no results", "rank": 0}])
    with pytest.raises(BadInput, match="each document once"):
        SessionLists.of([{"session": "a", "step": 1, "doc": "d", "rank": r} for r in (1, 2)])
    rows = [{"session": "a", "step": 1, "doc": d, "rank": 1, "query": d} for d in "xy"]
    with pytest.raises(BadInput, match="one query for a list"):
        against_ratings(ratings(), {"x": {"x": 1}}, rows, "P@1")


@pytest.mark.parametrize(("skill", "least"), [(0.0, None), (1.0, 0.7)])
@pytest.mark.evidence
def test_the_measure_that_users_feel_is_found_and_nothing_else(skill: float, least: float | None) -> None:
    """Users who rate by the last list: `last` wins. Users who rate at random: nothing beyond chance in 19 of 20."""
    rng = np.random.default_rng(3)
    said = []
    seeds = studies(10, 500) if least is None else range(5)
    for seed in seeds:
        shown = {f"s{n}": ["".join(rng.choice(["0", "1"], 5)) for _ in range(rng.integers(2, 6))] for n in range(80)}
        stars = {name: steps[-1].count("1") * skill + rng.normal() for name, steps in shown.items()}
        lists, labels = tables(shown)
        told = pl.DataFrame({"session": list(stars), "rating": list(stars.values())})
        found = against_ratings(told, labels, lists, ["P@5", "DCG@5"], draws=200, seed=seed)
        said.append(found.finding)
        if least is not None:
            assert "; P@5, last of a session's lists, goes along with it most" in found.finding, found.finding
    if least is None:
        assert sum("beyond chance" in finding for finding in said) >= 0.88 * len(seeds), said


def test_the_sessions_of_jiang_and_allan(user_study: Path) -> None:
    def read(name: str) -> pl.DataFrame:
        return pl.read_csv(user_study / name, separator="\t", infer_schema=False)

    lists = SessionLists.of(read("results_slim.tsv").with_columns(pl.col("URL").replace("no results", None)))
    assert repr(lists) == "3,446 results in 388 lists of 80 sessions"
    labels = read("qrels.tsv").rename({"SessionID": "query", "URL": "doc", "Relevance": "label"})
    found = against_ratings(read("session.tsv"), labels, lists, ["P@9", "DCG@9"], rating="Performance", by="user")
    # P@9 of the lists without karat: the share of results with a label of 1 or 2.
    grade = labels.select(SessionID="query", URL="doc", label=pl.col("label").cast(pl.Int64) >= 1)
    shown = read("results_slim.tsv").join(grade, on=["SessionID", "URL"], how="left")
    by_list = shown.group_by("SessionID", "Qno").agg(value=pl.col("label").sum() / 9)
    mean = by_list.group_by("SessionID").agg(pl.col("value").mean()).join(read("session.tsv"), on="SessionID")
    expected = stats.spearmanr(mean["value"].round(9), mean["Performance"].cast(pl.Int64)).statistic
    row = found.frame.filter((pl.col("measure") == "P@9") & (pl.col("lists") == "mean"))
    assert row["spearman"][0] == pytest.approx(expected)
    assert row["n"][0] == 80
    assert row["spearman_low"][0] < expected < row["spearman_high"][0]
