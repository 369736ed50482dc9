"""Which documents to have judged alone, and which after another: three schemes, with their number and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import polars as pl

from karat.context.page_pairs import PAIR
from karat.errors import BadInput
from karat.records import Result, RunsLike
from karat.records.base import count
from karat.records.runs import joined, ranked

ALONE, IN_CONTEXT = "alone", "in context"
#: Queries fall into two parts; some judgments are asked for in one of them only.
EVERY, FIRST, SECOND = "every", "first", "second"


@dataclass(frozen=True)
class Block:
    """Ranks to judge in a part of the queries, in units of the depth: below `start` x depth, down to `end` x depth."""

    part: str
    start: int
    end: int
    #: What is read before: the document above, the block's first one, its last one, or none (alone).
    given: Literal["above", "first", "last"] | None = None

    def ranks(self, depth: int) -> tuple[int, int]:
        """The block's first and last rank."""
        return self.start * depth + 1, self.end * depth


@dataclass(frozen=True)
class Scheme:
    """What is asked for, and in words."""

    about: str
    blocks: tuple[Block, ...]


#: The schemes by name, the cheapest first; `{k}` is the depth, `{k1}` and `{k2}` the ends of the part below it.
SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        "cheaper": Scheme(
            "ranks 1-{k} alone; for {second} of the queries each also given the one above it; the rest is predicted",
            (Block(EVERY, 0, 1), Block(SECOND, 0, 1, "above")),
        ),
        "paper": Scheme(
            "ranks 1-{k} alone and 2-{k} given rank 1; for {first} of the queries the others given rank {k}, "
            "for {second} ranks {k1}-{k2} alone and given rank {k1}; the rest is predicted",
            (
                Block(EVERY, 0, 1),
                Block(EVERY, 0, 1, "first"),
                Block(FIRST, 0, 1, "last"),
                Block(SECOND, 1, 2),
                Block(SECOND, 1, 2, "first"),
            ),
        ),
        "fuller": Scheme(
            "ranks 1-{k2} alone, given the one above and given rank 1; nothing is predicted for these runs",
            (Block(EVERY, 0, 2), Block(EVERY, 0, 2, "above"), Block(EVERY, 0, 2, "first")),
        ),
    }
)


def plan_context(
    runs: RunsLike,
    *,
    scheme: str = "paper",
    depth: int = 5,
    share: float = 0.6,
    judges: int = 1,
    twice: float = 0.0,
    cost_alone: float = 1.0,
    cost_in_context: float = 1.0,
    seed: int = 0,
) -> Result:
    """The judgments to collect, alone and in context, as a list of tasks in the order in which to do them.

    >>> runs = {f"q{n}": {f"d{i}": float(-i) for i in range(10)} for n in range(5)}
    >>> plan = plan_context(runs)
    >>> plan
    The paper's scheme asks for 75 judgments of 5 queries, 35 alone and 40 in context; they cost 75.
    - first the session alone, then, some days later, the one in context, by the same judge
    >>> plan.frame.columns
    ['query', 'doc', 'context', 'setting', 'judge', 'session', 'order', 'probability']

    Every list of every system counts; what two lists ask for is asked once. A query has one judge for both settings
    (a share `twice` of the queries a second one, to see how judges agree), and the tasks of a query stand together,
    those given the same document in a row. `session` 1 is alone, 2 in context: to be held at different times.
    `probability` is the chance with which the judgment was drawn: queries fall at random into a part of `share` and
    the rest. Costs are in any unit: money, minutes.

    Reference: Golbus et al. (WWW 2014), 3.2 and 4.1: 457 queries, 3/5 and 2/5.
    """
    if scheme not in SCHEMES:
        raise BadInput.at("the scheme", expected=" or ".join(SCHEMES), found=f'"{scheme}"')
    _check(depth, share, judges, twice, {"alone": cost_alone, "in context": cost_in_context})
    known = joined(runs)
    lists = ranked(known, 2 * depth)
    if not (lists["rank"] > 1).any():
        raise BadInput.at("the runs", expected="lists with two documents or more", found=f"{known!r}")
    rng = np.random.default_rng(seed)
    part = _parts(lists["query"].unique().sort(), share, rng)
    asked = _asked(lists, SCHEMES[scheme].blocks, depth, share)
    drawn = asked.join(part, on="query").filter(
        pl.col("of").list.contains(EVERY) | pl.col("of").list.contains(pl.col("part"))
    )
    tasks = _dealt(drawn, judges, twice, rng)
    alone = tasks.filter(pl.col("setting") == ALONE).height
    cost = alone * cost_alone + (tasks.height - alone) * cost_in_context
    name = "The paper's scheme" if scheme == "paper" else f"The {scheme} scheme"
    finding = (
        f"{name} asks for {count(tasks.height, 'judgment')} of {count(part.height, 'query', 'queries')}, "
        f"{alone:,} alone and {tasks.height - alone:,} in context; they cost {cost:,.10g}."
    )
    notes = ["first the session alone, then, some days later, the one in context, by the same judge"]
    notes += _short(lists, scheme, depth)
    idle = judges - tasks["judge"].n_unique()
    if idle:
        queries = count(part.height, "query", "queries")
        notes.append(
            f"{idle:,} of {count(judges, 'judge')} have nothing to do: there are {queries}, one judge for each"
        )
    return Result(tasks, finding, tuple(notes))


def context_schemes(
    runs: RunsLike,
    *,
    depth: int = 5,
    share: float = 0.6,
    judges: int = 1,
    twice: float = 0.0,
    cost_alone: float = 1.0,
    cost_in_context: float = 1.0,
    seed: int = 0,
) -> Result:
    """What each scheme of collecting judgments in context would ask for and cost.

    >>> runs = {f"q{n}": {f"d{i}": float(-i) for i in range(10)} for n in range(5)}
    >>> context_schemes(runs, cost_in_context=2).frame.select("scheme", "alone", "in_context", "cost").rows()
    [('cheaper', 25, 8, 41.0), ('paper', 35, 40, 115.0), ('fuller', 50, 85, 220.0)]

    The counts are exact: those of `plan_context` with the same seed.
    """
    rows, notes, lacks = [], [], list[str]()
    for name, scheme in SCHEMES.items():
        plan = plan_context(
            runs,
            scheme=name,
            depth=depth,
            share=share,
            judges=judges,
            twice=twice,
            cost_alone=cost_alone,
            cost_in_context=cost_in_context,
            seed=seed,
        )
        alone = plan.frame.filter(pl.col("setting") == ALONE).height
        given = plan.frame.height - alone
        queries = plan.frame["query"].n_unique()
        cost = alone * cost_alone + given * cost_in_context
        rows.append((name, queries, alone, given, alone + given, (alone + given) / max(queries, 1), cost))
        notes.append(f"{name}: {_words(scheme, depth, share)}")
        lacks += plan.notes[1:]
    columns = ["scheme", "queries", "alone", "in_context", "judgments", "per_query", "cost"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    cheap, paper, full = (row[-1] for row in rows)
    finding = (
        f"For {count(rows[0][1], 'query', 'queries')}, judging in context costs {cheap:,.10g} (cheaper), "
        f"{paper:,.10g} (as the paper) or {full:,.10g} (fuller)."
    )
    return Result(table, finding, (*notes, *dict.fromkeys(lacks)))


def _check(depth: int, share: float, judges: int, twice: float, costs: Mapping[str, float]) -> None:
    for name, number, least in (("depth", depth, 2), ("number of judges", judges, 1)):
        if not isinstance(number, int) or number < least:
            raise BadInput.at(f"the {name}", expected=f"a whole number from {least}", found=str(number))
    for name, value in (("share of queries in the first part", share), ("share of queries judged twice", twice)):
        if not 0 <= value <= 1:
            raise BadInput.at(f"the {name}", expected="a share from 0 to 1", found=str(value))
    if twice and judges < 2:
        raise BadInput.at("the queries judged twice", expected="two judges or more", found=str(judges))
    for setting, cost in costs.items():
        if not 0 <= cost < np.inf:
            raise BadInput.at(f"the cost of a judgment {setting}", expected="a number from 0", found=f"{cost:g}")


def _parts(queries: pl.Series, share: float, rng: np.random.Generator) -> pl.DataFrame:
    """The part that each query falls into, each with exactly this chance of the first."""
    # Rounded up or down at random, so that the chances written into the tasks are right for few queries, too.
    first = int(np.floor(share * len(queries) + rng.random()))
    place = rng.permutation(len(queries))
    return pl.DataFrame({"query": queries, "part": np.where(place < first, FIRST, SECOND)})


def _asked(lists: pl.DataFrame, blocks: tuple[Block, ...], depth: int, share: float) -> pl.DataFrame:
    """All that a scheme may ask for, drawn or not: the parts of queries that ask for it, and its chance."""
    found = []
    for block in blocks:
        low, high = block.ranks(depth)
        docs = lists.filter(pl.col("rank").is_between(low, high))
        if block.given is None:
            tasks = docs.with_columns(context=pl.lit(None, dtype=pl.String))
        else:
            if block.given == "above":
                before = docs.with_columns(pl.col("rank") + 1)
            else:
                before = docs.filter(pl.col("rank") == (low if block.given == "first" else high)).drop("rank")
            before = before.rename({"doc": "context"})
            tasks = docs.join(before, on=[name for name in before.columns if name != "context"])
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


def _words(scheme: Scheme, depth: int, share: float) -> str:
    shares = {"first": f"{100 * share:g} %", "second": f"{100 * (1 - share):g} %"}
    return scheme.about.format(k=depth, k1=depth + 1, k2=2 * depth, **shares)


def _short(lists: pl.DataFrame, scheme: str, depth: int) -> list[str]:
    """A note on lists that end before the scheme does."""
    deepest = max(block.ranks(depth)[1] for block in SCHEMES[scheme].blocks)
    sizes = lists.group_by("system", "query").len("size")
    few = sizes.filter(pl.col("size") < deepest).height
    if not few:
        return []
    short = f"{count(few, 'list')} of {sizes.height:,} shorter than {deepest}"
    return [f"{scheme}: {short}, what is not there is not asked for"]
