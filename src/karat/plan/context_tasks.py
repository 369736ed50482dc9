"""Which documents to have judged alone, and which after another, by the scheme of Golbus et al. (WWW 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from karat.context.document_pairs import PAIR
from karat.errors import BadInput
from karat.records import Result, RunsLike
from karat.records.runs import joined, ranked
from karat.records.table import count

ALONE, IN_CONTEXT = "alone", "in context"
#: Queries fall into two parts; some judgments are asked for in one of them only.
EVERY, FIRST, SECOND = "every", "first", "second"


@dataclass(frozen=True)
class Block:
    """Ranks to judge in a part of the queries, in units of the depth: below `start` x depth, down to `end` x depth."""

    part: str
    start: int
    end: int
    #: What is read before: the block's first document, its last one, or none (alone).
    given: Literal["first", "last"] | None = None

    def ranks(self, depth: int) -> tuple[int, int]:
        """The block's first and last rank."""
        return self.start * depth + 1, self.end * depth


#: What is asked for: ranks 1 to the depth k alone and given rank 1; in the first part of the queries also given rank k,
#: in the second also ranks k + 1 to 2 k, alone and given rank k + 1.
SCHEME = (
    Block(EVERY, 0, 1),
    Block(EVERY, 0, 1, "first"),
    Block(FIRST, 0, 1, "last"),
    Block(SECOND, 1, 2),
    Block(SECOND, 1, 2, "first"),
)


def plan_context(
    runs: RunsLike,
    *,
    depth: int = 5,
    share: float = 0.6,
    judges: int = 1,
    twice: float = 0.0,
    seed: int = 0,
) -> Result:
    """The judgments to collect, alone and in context, as a list of tasks in the order in which to do them.

    >>> runs = {f"q{n}": {f"d{i}": float(-i) for i in range(10)} for n in range(5)}
    >>> plan = plan_context(runs)
    >>> plan
    75 judgments of 5 queries are to be collected, 35 alone and 40 in context.
    - first the session alone, then, some days later, the one in context, by the same judge
    >>> plan.frame.columns
    ['query', 'doc', 'context', 'setting', 'judge', 'session', 'order', 'probability']

    Every list of every system counts; what two lists ask for is asked once. A query has one judge for both settings
    (a share `twice` of the queries a second one, to see how judges agree), and the tasks of a query stand together,
    those given the same document in a row. `session` 1 is alone, 2 in context: to be held at different times.
    `probability` is the chance with which the judgment was drawn: queries fall at random into a part of `share` and
    the rest. In all of them ranks 1 to `depth` are judged alone and given rank 1; in the first part also given rank
    `depth`, in the rest also as many ranks below, alone and given the first of them.

    Reference: Golbus et al. (WWW 2014), 3.2 and 4.1: 457 queries, 3/5 and 2/5.
    """
    _check(depth, share, judges, twice)
    known = joined(runs)
    lists = ranked(known, 2 * depth)
    if not (lists["rank"] > 1).any():
        raise BadInput.at("the runs", expected="lists with two documents or more", found=f"{known!r}")
    rng = np.random.default_rng(seed)
    part = _parts(lists["query"].unique().sort(), share, rng)
    asked = _asked(lists, depth, share)
    drawn = asked.join(part, on="query").filter(
        pl.col("of").list.contains(EVERY) | pl.col("of").list.contains(pl.col("part"))
    )
    tasks = _dealt(drawn, judges, twice, rng)
    alone = tasks.filter(pl.col("setting") == ALONE).height
    finding = (
        f"{count(tasks.height, 'judgment')} of {count(part.height, 'query', 'queries')} are to be collected, "
        f"{alone:,} alone and {tasks.height - alone:,} in context."
    )
    notes = ["first the session alone, then, some days later, the one in context, by the same judge"]
    notes += _short(lists, 2 * depth)
    idle = judges - tasks["judge"].n_unique()
    if idle:
        queries = count(part.height, "query", "queries")
        notes.append(
            f"{idle:,} of {count(judges, 'judge')} have nothing to do: there are {queries}, one judge for each"
        )
    return Result(tasks, finding, tuple(notes))


def _check(depth: int, share: float, judges: int, twice: float) -> None:
    for name, number, least in (("depth", depth, 2), ("number of judges", judges, 1)):
        if not isinstance(number, int) or number < least:
            raise BadInput.at(f"the {name}", expected=f"a whole number from {least}", found=str(number))
    for name, value in (("share of queries in the first part", share), ("share of queries judged twice", twice)):
        if not 0 <= value <= 1:
            raise BadInput.at(f"the {name}", expected="a share from 0 to 1", found=str(value))
    if twice and judges < 2:
        raise BadInput.at("the queries judged twice", expected="two judges or more", found=str(judges))


def _parts(queries: pl.Series, share: float, rng: np.random.Generator) -> pl.DataFrame:
    """The part that each query falls into, each with exactly this chance of the first."""
    # Rounded up or down at random, so that the chances written into the tasks are right for few queries, too.
    first = int(np.floor(share * len(queries) + rng.random()))
    place = rng.permutation(len(queries))
    return pl.DataFrame({"query": queries, "part": np.where(place < first, FIRST, SECOND)})


def _asked(lists: pl.DataFrame, depth: int, share: float) -> pl.DataFrame:
    """All that may be asked for, drawn or not: the parts of queries that ask for it, and its chance."""
    found = []
    for block in SCHEME:
        low, high = block.ranks(depth)
        docs = lists.filter(pl.col("rank").is_between(low, high))
        if block.given is None:
            tasks = docs.with_columns(context=pl.lit(None, dtype=pl.String))
        else:
            before = docs.filter(pl.col("rank") == (low if block.given == "first" else high))
            tasks = docs.join(before.select("system", "query", context="doc"), on=["system", "query"])
        tasks = tasks.filter(pl.col("context").is_null() | (pl.col("context") != pl.col("doc")))
        found.append(tasks.select(*PAIR, of=pl.lit(block.part)))
    asked = pl.concat(found).group_by(PAIR).agg(pl.col("of").unique().sort()).sort(PAIR)
    within = [pl.col("of").list.contains(name).cast(pl.Float64) for name in (EVERY, FIRST, SECOND)]
    chance = pl.min_horizontal(1.0, within[0] + share * within[1] + (1 - share) * within[2])
    return asked.with_columns(probability=chance)


def _dealt(drawn: pl.DataFrame, judges: int, twice: float, rng: np.random.Generator) -> pl.DataFrame:
    """The tasks with judge, session and order: queries in random order, and so their documents."""
    size = drawn.group_by("query").len("size").sort("query")
    size = size.with_columns(luck=pl.Series(rng.random(size.height))).sort("size", "luck", descending=[True, False])
    # The longest queries are dealt out first, so that no judge has many more tasks than another.
    judge = np.arange(size.height) % judges
    dealt = size.select("query", judge=pl.Series(judge))
    again = np.floor(twice * size.height + rng.random()).astype(int) if twice else 0
    second = dealt[rng.permutation(size.height)[:again]].with_columns(judge=(pl.col("judge") + 1) % judges)
    tasks = drawn.join(pl.concat([dealt, second]), on="query").sort("judge", *PAIR, nulls_last=False)
    alone = pl.col("context").is_null()
    tasks = tasks.with_columns(
        setting=pl.when(alone).then(pl.lit(ALONE)).otherwise(pl.lit(IN_CONTEXT)),
        judge=pl.format("judge {}", pl.col("judge") + 1),
        session=2 - alone.cast(pl.Int64),
        luck=pl.Series(rng.random(tasks.height)),
    )
    key = ["judge", "session"]
    for name in ("query", "context"):
        key = [*key, name]
        # One draw for each: the least of its tasks' draws would bring forward what has many tasks.
        once = tasks.select(key).unique().sort(key)
        once = once.with_columns(pl.Series(f"luck of {name}", rng.random(once.height)))
        tasks = tasks.join(once, on=key, nulls_equal=True, maintain_order="left")
    slot = pl.col("judge").str.extract(r"(\d+)$").cast(pl.Int64)
    tasks = tasks.sort(slot, "session", "luck of query", "luck of context", "luck")
    tasks = tasks.with_columns(order=pl.int_range(1, pl.len() + 1).over("judge", "session"))
    return tasks.select(*PAIR, "setting", "judge", "session", "order", "probability")


def _short(lists: pl.DataFrame, deepest: int) -> list[str]:
    """A note on lists that end before the plan does."""
    sizes = lists.group_by("system", "query").len("size")
    few = sizes.filter(pl.col("size") < deepest).height
    short = f"{count(few, 'list')} of {sizes.height:,} shorter than {deepest}: what is not there is not asked for"
    return [short] if few else []
