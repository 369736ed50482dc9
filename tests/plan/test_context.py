"""What to have judged in context: the counts by hand, the draw fair, one judge per query, two sessions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import karat as kt
from karat.plan.context_tasks import plan_context
from karat.records import Runs
from simulated import about, studies


def runs(queries: int, docs: int = 10, systems: tuple[str, ...] = ("mine",)) -> Runs:
    return Runs.of(
        [
            {"system": system, "query": f"q{n:03}", "doc": f"d{(i * (1 + 2 * place)) % 11}", "score": float(-i)}
            for place, system in enumerate(systems)
            for n in range(queries)
            for i in range(docs)
        ]
    )


def asked(plan: pl.DataFrame, query: str) -> set[tuple[str, str | None]]:
    return set(plan.filter(pl.col("query") == query).select("doc", "context").rows())


def test_a_query_gets_what_the_paper_describes() -> None:
    plan = plan_context(runs(50), seed=3).frame
    top, below = [f"d{i}" for i in range(5)], [f"d{i}" for i in range(5, 10)]
    always = {(doc, None) for doc in top} | {(doc, "d0") for doc in top[1:]}
    first = always | {(doc, "d4") for doc in top[:4]}
    second = always | {(doc, None) for doc in below} | {(doc, "d5") for doc in below[1:]}
    kinds = [asked(plan, query) for query in plan["query"].unique()]
    assert all(kind in (first, second) for kind in kinds)
    assert sum(kind == first for kind in kinds) == 30  # 3/5 of 50


def test_the_counts_by_hand() -> None:
    plan = plan_context(runs(50))
    # 5 alone and 2/5 x 5 further down; 4 and 4 in context.
    assert plan.finding == "750 judgments of 50 queries are to be collected, 350 alone and 400 in context."
    assert plan.frame["setting"].value_counts().sort("count")["count"].to_list() == [350, 400]


def test_every_list_counts_and_nothing_is_asked_twice() -> None:
    one, both = plan_context(runs(20), seed=1).frame, plan_context(runs(20, systems=("mine", "yours")), seed=1).frame
    assert not both.select("query", "doc", "context").is_duplicated().any()
    assert asked(one, "q003") < asked(both, "q003")


@pytest.mark.parametrize("queries", [1, 3])
@pytest.mark.evidence
def test_judgments_are_drawn_with_the_probability_that_is_written(queries: int) -> None:
    drawn: dict[Any, list[float]] = {}
    lists, seeds = runs(queries, systems=("mine", "yours")), studies(50, 2000)
    plans = len(seeds)
    for seed in seeds:
        frame = plan_context(lists, seed=seed, depth=2).frame
        for *key, chance in frame.filter(pl.col("query") == "q000").select("doc", "context", "probability").iter_rows():
            drawn.setdefault(tuple(key), []).append(chance)
    for chances in drawn.values():
        assert len(set(chances)) == 1
        # Four standard errors of a share of so many draws.
        assert len(chances) / plans == pytest.approx(chances[0], abs=4 * (0.25 / plans) ** 0.5)
    assert {round(chances[0], 3) for chances in drawn.values()} == {0.4, 0.6, 1.0}


def test_one_judge_has_a_query_in_both_sessions_and_judges_have_about_the_same_to_do() -> None:
    plan = plan_context(runs(50), judges=4, seed=2).frame
    assert plan.group_by("query").agg(pl.col("judge").n_unique())["judge"].to_list() == [1] * 50
    assert plan.filter(pl.col("setting") == "alone")["session"].unique().to_list() == [1]
    assert plan.filter(pl.col("context").is_not_null())["session"].unique().to_list() == [2]
    load = plan.group_by("judge").len()["len"]
    assert load.max() - load.min() <= 18  # at most one query more
    for part in plan.partition_by("judge", "session"):
        assert part["order"].to_list() == list(range(1, part.height + 1))


def test_the_tasks_of_a_query_stand_together_and_a_document_is_read_once_for_all_that_follow() -> None:
    plan = plan_context(runs(30), judges=2, seed=2).frame
    for part in plan.partition_by("judge", "session"):
        stretches = part["query"].rle_id().max() + 1
        assert stretches == part["query"].n_unique()
        contexts = part.select(pl.struct("query", "context").rle_id().max() + 1).item()
        assert contexts == part.select("query", "context").n_unique()
    # The order is not that of the ranking: a judge should not learn that the first one shown is the best.
    first = plan.filter(pl.col("session") == 1).group_by("query", maintain_order=True).agg(pl.col("doc").first())
    assert first["doc"].n_unique() > 3


@pytest.mark.evidence
def test_much_to_do_brings_neither_a_query_nor_a_context_forward() -> None:
    # Query b has five tasks alone and eight in context, query a two and two; in b, d0 is read before four of the eight.
    lists = {"a": {"d0": 2.0, "d1": 1.0}, "b": {f"d{i}": float(-i) for i in range(5)}}
    seeds, first, context = studies(60, 2000), [0, 0], 0
    for seed in seeds:
        plan = plan_context(lists, share=1.0, seed=seed).frame
        for session in (1, 2):
            first[session - 1] += plan.filter(pl.col("session") == session)["query"][0] == "b"
        after = plan.filter((pl.col("session") == 2) & (pl.col("query") == "b"))["context"]
        context += after[0] == "d0"
    # The least of all tasks' draws would give 5/7 and 8/10.
    assert [n / len(seeds) for n in first] == [about(0.5, len(seeds))] * 2
    assert context / len(seeds) == about(1 / 2, len(seeds))


def test_judges_without_a_query_are_counted() -> None:
    plan = plan_context(runs(3), judges=8)
    assert "5 of 8 judges have nothing to do: there are 3 queries, one judge for each" in plan.notes
    assert not any("nothing to do" in note for note in plan_context(runs(8), judges=8).notes)


def test_frames_rows_dictionaries_and_several_runs_are_taken_as_they_are() -> None:
    several = runs(6, systems=("mine", "yours"))
    expected = plan_context(several, seed=1).frame
    parts = [several.frame.filter(pl.col("system") == name) for name in ("mine", "yours")]
    for same in (several.frame, several.frame.rows(named=True), [Runs.of(part) for part in parts]):
        assert plan_context(same, seed=1).frame.equals(expected)
    with pytest.raises(kt.BadInput, match="the run"):
        plan_context("my.run")


def test_some_queries_are_judged_twice_by_different_judges() -> None:
    plan = plan_context(runs(40), judges=5, twice=0.25, seed=1).frame
    judges = plan.group_by("query").agg(pl.col("judge").n_unique())["judge"]
    assert (judges == 2).sum() == 10
    assert judges.max() == 2


def test_the_same_seed_gives_the_same_plan() -> None:
    one, same, other = (plan_context(runs(20), judges=3, seed=seed).frame for seed in (4, 4, 5))
    assert one.equals(same)
    assert not one.equals(other)
    shuffled = Runs.of(runs(20).frame.sample(fraction=1, shuffle=True, seed=1))
    assert plan_context(shuffled, judges=3, seed=4).frame.equals(one)


def test_short_lists_are_asked_for_as_far_as_they_go() -> None:
    plan = plan_context(runs(10, docs=3), seed=1)
    assert set(plan.frame["doc"]) == {"d0", "d1", "d2"}
    assert "10 lists of 10 shorter than 10: what is not there is not asked for" in plan.notes
    one = plan_context(runs(1), seed=1)
    assert one.frame.height in (13, 18)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"depth": 1}, "the depth: expected a whole number from 2"),
        ({"share": 1.5}, "a share from 0 to 1"),
        ({"judges": 0}, "the number of judges"),
        ({"twice": 0.5}, "two judges or more"),
    ],
)
def test_odd_wishes_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(kt.BadInput, match=says):
        plan_context(runs(3), **options)


def test_lists_of_one_document_have_no_context() -> None:
    with pytest.raises(kt.BadInput, match="two documents or more"):
        plan_context(runs(3, docs=1))
