"""The task file of side-by-side comparisons: blocks with a trap each, rounds, sides drawn by lot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels import consensus, one_subtopic_each
from karat.labels.selection import NO_SUBTOPIC, subtopics_of
from karat.measures import P
from karat.measures.scorer import Scorer
from karat.records import FrameLike, Judgments, LabelsLike, Queries, Result, Runs, RunsLike
from karat.records.runs import joined, ranked
from karat.records.table import count
from karat.stats.arrays import Ints


def comparison_tasks(
    pairs: pl.DataFrame,
    labels: LabelsLike,
    runs: RunsLike,
    *,
    queries: Queries | FrameLike | None = None,
    judges: int = 8,
    block: int = 5,
    traps: bool = True,
    depth: int = 10,
    seed: int = 0,
) -> Result:
    """Everything to be shown, one row a comparison, in the order in which it is shown.

    >>> from karat.simulate import preference_study
    >>> study = preference_study(queries=4, systems=3, judges=1)
    >>> pairs = pl.DataFrame({"query": ["q1", "q2"], "a": ["s1", "s1"], "b": ["s2", "s3"]})
    >>> found = comparison_tasks(pairs, study.judgments, study.runs, judges=2)
    >>> found
    4 comparisons of 2 pairs in 2 blocks of up to 5, each with a trap: 6 rows, 2 judges for a question.

    Each pair is shown once for every subtopic (of `queries`, or else of the labels) to so many `judges`; subtopics
    without a relevant document in the labels are left out and counted in the notes. Round by round, every question is
    asked once, shuffled, in blocks; one of every `block` rows is a trap at a place drawn by lot: a list with something
    relevant to the question against another system's list for another query, where there are some for a query of no
    pair, the right answer in `expected`. A judge
    who is given blocks of one round only sees no question twice. Which system stands on which side is drawn by lot and
    is what `left` and `right` say; `left_query` and `right_query` tell whose lists are shown (they differ from `query`
    in traps only), `left_docs` and `right_docs` the top `depth` of them.

    What judges answer, with these columns and a `choice`, is what kt.Preferences takes. Show judges neither trap nor
    expected.
    """
    queries = Queries.of_optional(queries)
    if judges < 1 or depth < 1 or block < 1 + traps:
        raise BadInput.at(
            "the tasks",
            expected="1 judge or more, a depth of 1 or more, blocks of 2 or more with a trap",
            found=f"{judges} judges, depth {depth}, blocks of {block}",
        )
    if not pairs.height:
        raise Undefined("no pair is left to be shown: ask for smaller differences")
    rng = np.random.default_rng(seed)
    labels, lists = Judgments.of(labels), joined(runs)
    shown = ranked(lists, depth).group_by("system", "query", maintain_order=True).agg(docs="doc")
    needs, notes = _needs(pairs, labels, queries)
    asked = needs.height
    if not asked:
        raise Undefined(f"no question is left to be asked: {notes[0]}")
    real = block - 1 if traps else block
    order = np.concatenate([rng.permutation(asked) for _ in range(judges)])
    turn = np.repeat(np.arange(judges), asked)
    within = np.tile(np.arange(asked) // real, judges)
    number = turn * (-(-asked // real)) + within
    rows = needs[order].with_columns(
        round=pl.Series(turn + 1),
        block=pl.Series(number + 1),
        left_query="query",
        right_query="query",
        trap=pl.lit(False),
    )
    rows = rows.rename({"a": "left", "b": "right"})
    if traps:
        firsts = np.unique(number, return_index=True)[1]
        rows = pl.concat([rows, _traps(rows[firsts], needs, labels, lists, shown, depth, rng)], how="diagonal")
    rows = rows.with_columns(place=pl.Series(rng.random(rows.height))).sort("block", "place")
    rows = _turned(rows, rng).with_columns(
        place=pl.int_range(1, pl.len() + 1).over("block"),
        task=pl.format("t{}", pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(len(str(rows.height)))),
    )
    for side in ("left", "right"):
        docs = shown.rename({"system": side, "query": f"{side}_query", "docs": f"{side}_docs"})
        rows = rows.join(docs, on=[side, f"{side}_query"], how="left", maintain_order="left")
    blocks = rows["block"].n_unique()
    shown_pairs = count(needs.select("query", "a", "b").n_unique(), "pair")
    finding = (
        f"{count(len(order), 'comparison')} of {shown_pairs} in {count(blocks, 'block')} "
        f"of up to {block}{', each with a trap' if traps else ''}: {count(rows.height, 'row')}, "
        f"{count(judges, 'judge')} for a question."
    )
    front = ["task", "round", "block", "place", "query", "text", "subtopic", "description", "left", "right"]
    back = ["left_query", "right_query", "trap", "expected", "left_docs", "right_docs"]
    return Result(rows.select([name for name in [*front, *back] if name in rows.columns]), finding, tuple(notes))


def _needs(pairs: pl.DataFrame, labels: Judgments, queries: Queries | None) -> tuple[pl.DataFrame, list[str]]:
    """The questions: each pair for each subtopic of its query that something serves, with texts where they are known.

    Nobody can compare two lists by a subtopic that no document is about, least of all by TREC's "of none".
    """
    named = subtopics_of(labels)
    if queries is not None and queries.subtopics.height:
        texts = [name for name in ("description",) if name in queries.subtopics.columns]
        named = queries.subtopics.select("query", "subtopic", *texts).filter(pl.col("subtopic") != NO_SUBTOPIC)
    # A query without subtopics is asked once, for itself.
    every = pairs.select("query", "a", "b").join(named, on="query", how="left", maintain_order="left")
    needs, notes = every, list[str]()
    if labels.has("subtopic"):
        relevant = consensus(labels, apart=["subtopic"])
        served = subtopics_of(replace(relevant, frame=relevant.frame.filter(pl.col("label") > 0)))
        left = every.drop_nulls("subtopic").join(served, on=["query", "subtopic"], how="anti")
        if left.height:
            needs = every.join(left, on=["query", "subtopic"], how="anti", maintain_order="left")
            notes.append(
                f"{count(left.select('query', 'subtopic').n_unique(), 'subtopic')} without a relevant document in the "
                f"labels left out ({left.height:,} of {count(every.height, 'question')})"
            )
    if queries is not None and queries.has("text"):
        needs = needs.join(queries.frame.select("query", "text"), on="query", how="left", maintain_order="left")
    return needs, notes


def _traps(
    rows: pl.DataFrame,
    needs: pl.DataFrame,
    labels: Judgments,
    runs: Runs,
    shown: pl.DataFrame,
    depth: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """A trap for each block: on the left a list with something relevant, on the right one of another query."""
    own, split, items = one_subtopic_each(labels, runs)
    found = Scorer(own, [P @ depth], draws=0).score(split).queries.rename({"query": "item"})
    found = found.join(items, on="item").filter(pl.col(str(P @ depth)) > 0)
    key = ["query", "subtopic"]
    questions = needs.drop("a", "b").unique(key, maintain_order=True)
    good = questions.join(found.select(*key, "system"), on=key, nulls_equal=True, maintain_order="left_right")
    if not good.height:
        raise Undefined("no list has anything relevant to any question: traps cannot be built, leave them out")
    chosen = good[rng.integers(good.height, size=rows.height)]
    keys = shown.select("system", "query")
    # Whoever compares the lists of two queries would see a trap's list twice, so queries that are not asked come first.
    unasked = keys.filter(~pl.col("query").is_in(needs["query"].unique().to_list()))
    if unasked["system"].n_unique() > 1:
        keys = unasked
    other = _another(chosen["system"], chosen["query"], keys, rng)
    return chosen.rename({"system": "left"}).with_columns(
        right=keys["system"][other],
        left_query="query",
        right_query=keys["query"][other],
        round=rows["round"],
        block=rows["block"],
        trap=pl.lit(True),
    )


def _another(system: pl.Series, query: pl.Series, keys: pl.DataFrame, rng: np.random.Generator) -> Ints:
    """For each list one of another system and another query, drawn until all differ."""
    names, asked = keys["system"].to_numpy(), keys["query"].to_numpy()
    if keys["system"].n_unique() < 2 or not (keys["query"].n_unique() > 1 or {*asked} - {*query}):
        raise Undefined("a trap needs a list of another system for another query: leave traps out")
    chosen = rng.integers(len(names), size=len(system))
    mine, its = system.to_numpy(), query.to_numpy()
    for _ in range(1000):
        wrong = (names[chosen] == mine) | (asked[chosen] == its)
        if not wrong.any():
            return chosen
        chosen = np.where(wrong, rng.integers(len(names), size=len(chosen)), chosen)
    raise Undefined("no list of another system for another query was found: leave traps out")


def _turned(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The rows with sides drawn by lot."""
    turn = pl.lit(pl.Series(rng.random(rows.height) < 0.5))

    def either(one: str, two: str) -> pl.Expr:
        return pl.when(turn).then(pl.col(two)).otherwise(pl.col(one)).alias(one)

    sides = [("left", "right"), ("right", "left"), ("left_query", "right_query"), ("right_query", "left_query")]
    answer = pl.when("trap").then(pl.when(turn).then(pl.lit("right")).otherwise(pl.lit("left")))
    return rows.with_columns(*(either(one, two) for one, two in sides), expected=answer)
