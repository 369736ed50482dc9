"""Small plans of each kind, drawn at random: what histories of studies begin with."""

from __future__ import annotations

import random
from collections.abc import Callable

import polars as pl


def _alone(lots: random.Random) -> pl.DataFrame:
    queries = lots.randint(1, 3)
    return pl.DataFrame({"query": [f"q{n % queries}" for n in range(5)], "doc": [f"d{n}" for n in range(5)]})


def _in_context(lots: random.Random) -> pl.DataFrame:
    """Alone, then in context; planned for judges who are there or not, or for anybody."""
    docs = ["a", "b"]
    rows = []
    for query, judge in zip(("q", "r"), ("judge 1", lots.choice(["judge 2", "judge 99", None])), strict=True):
        for session, context in ((1, None), (2, "x")):
            rows += [{"query": query, "doc": d, "context": context, "session": session, "judge": judge} for d in docs]
    return pl.DataFrame(rows, infer_schema_length=None)


def _pairs(lots: random.Random) -> pl.DataFrame:
    real = [{"query": f"q{n}", "left": "a", "right": "b"} for n in range(3)]
    trap = {"query": "q0", "left": "a", "right": "b", "trap": True, "expected": "left"}
    return pl.DataFrame([*real, *(trap | {"right_query": f"x{n}"} for n in range(2))], infer_schema_length=None)


def _blocks(lots: random.Random) -> pl.DataFrame:
    rows = []
    for block in range(2):
        trap = {"query": "q0", "left": "a", "right": "b", "right_query": f"x{block}", "trap": True, "expected": "left"}
        both = [*({"query": f"q{n}", "left": "a", "right": "b"} for n in lots.sample(range(4), 2)), trap]
        rows += [row | {"block": block, "place": place} for place, row in enumerate(both)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _repeats(lots: random.Random) -> pl.DataFrame:
    """Some documents again, by the same judges."""
    once = pl.DataFrame({"query": ["q"] * 3, "doc": ["a", "b", "c"]})
    return pl.concat([once, once.head(2).with_columns(repeat=pl.lit(1))], how="diagonal")


def _codes(lots: random.Random) -> pl.DataFrame:
    return pl.DataFrame({"query": ["q"] * 3, "reason": ["x", "y", "z"], "kind": ["code"] * 3})


def _statements(lots: random.Random) -> pl.DataFrame:
    """Facts beside answers, and sentences beside the passages that they cite."""
    nuggets = [{"query": "q", "doc": doc, "nugget": fact} for doc in ("a", "b") for fact in ("x", "y")]
    rows = [*nuggets, *({"query": "q", "doc": "a", "sentence": f"s{n}"} for n in range(2))]
    return pl.DataFrame(lots.sample(rows, 4), infer_schema_length=None)


def _practice(lots: random.Random) -> pl.DataFrame:
    """Documents of which one may speak after practice only, which not everybody passes."""
    tasks = pl.DataFrame(
        {"query": ["q", "q", "r"], "doc": ["a", "b", "c"], "practice": [False] * 3, "gold": [None] * 3}
    )
    first = pl.DataFrame({"query": ["p"] * 2, "doc": ["d", "e"], "practice": [True] * 2, "gold": [1.0, 2.0]})
    return pl.concat([tasks, first], how="vertical_relaxed")


PLANS: dict[str, Callable[[random.Random], pl.DataFrame]] = {
    "alone": _alone,
    "context": _in_context,
    "pairs": _pairs,
    "blocks": _blocks,
    "codes": _codes,
    "repeats": _repeats,
    "statements": _statements,
    "practice": _practice,
}
