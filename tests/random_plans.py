"""Small plans of each kind, drawn at random: what histories of studies begin with.

Most have two or three tasks: a fault of the queue shows in a tiny study if it shows at all, and a tiny study takes a
tenth of the time of a middling one.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import polars as pl


def _alone(lots: random.Random, size: int) -> pl.DataFrame:
    queries = lots.randint(1, 1 + size // 2)
    return pl.DataFrame({"query": [f"q{n % queries}" for n in range(size)], "doc": [f"d{n}" for n in range(size)]})


def _in_context(lots: random.Random, size: int) -> pl.DataFrame:
    """Alone, then in context; planned for judges who are there or not, or for anybody."""
    docs = ["a", "b", "c"][: max(1, size // 2)]
    rows = []
    shares = [("q", lots.choice(["judge 1", None])), ("r", lots.choice(["judge 2", "judge 99", None]))]
    for query, judge in shares[: 1 if size < 3 else 2]:
        for session, context in ((1, None), (2, "x")):
            rows += [{"query": query, "doc": d, "context": context, "session": session, "judge": judge} for d in docs]
    return pl.DataFrame(rows, infer_schema_length=None)


def _pairs(lots: random.Random, size: int) -> pl.DataFrame:
    real = [{"query": f"q{n}", "left": "a", "right": "b"} for n in range(size)]
    trap = {"query": "q0", "left": "a", "right": "b", "trap": True, "expected": "left"}
    traps = [trap | {"right_query": f"x{n}"} for n in range(lots.randint(1, 2))]
    return pl.DataFrame([*real, *traps], infer_schema_length=None)


def _blocks(lots: random.Random, size: int) -> pl.DataFrame:
    rows = []
    for block in range(1 + size // 3):
        trap = {"query": "q0", "left": "a", "right": "b", "right_query": f"x{block}", "trap": True, "expected": "left"}
        both = [*({"query": f"q{n}", "left": "a", "right": "b"} for n in lots.sample(range(4), 2)), trap]
        rows += [row | {"block": block, "place": place} for place, row in enumerate(both)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _mixed(lots: random.Random, size: int) -> pl.DataFrame:
    """Documents and pairs with traps, loose or planned for one judge, in sessions or not."""
    by = lots.choice([{}, {"judge": "judge 1"}, {"judge": "judge 99"}])
    pairs = [{"query": f"q{n}", "left": "a", "right": "b", "session": 1} for n in range(1 + size // 2)]
    trap = {
        "query": "q0",
        "left": "a",
        "right": "b",
        "right_query": "x",
        "trap": True,
        "expected": "left",
        "session": 1,
    }
    docs = [{"query": "q", "doc": f"d{n}", "session": lots.choice([1, 2])} for n in range(1 + size // 2)]
    rows = [row | by for row in (*pairs, trap, *docs)]
    return pl.DataFrame(rows if by else [row | {"session": None} for row in rows], infer_schema_length=None)


def _repeats(lots: random.Random, size: int) -> pl.DataFrame:
    """Some documents again, by the same judges."""
    once = pl.DataFrame({"query": ["q"] * size, "doc": [f"d{n}" for n in range(size)]})
    again = once.head(lots.randint(1, size)).with_columns(repeat=pl.lit(1))
    return pl.concat([once, again], how="diagonal")


def _codes(lots: random.Random, size: int) -> pl.DataFrame:
    return pl.DataFrame({"query": ["q"] * size, "reason": [f"r{n}" for n in range(size)], "kind": ["code"] * size})


def _statements(lots: random.Random, size: int) -> pl.DataFrame:
    """Facts beside answers, and sentences beside the passages that they cite."""
    nuggets = [{"query": "q", "doc": doc, "nugget": fact} for doc in ("a", "b") for fact in ("x", "y", "z")]
    rows = [*nuggets, *({"query": "q", "doc": "a", "sentence": f"s{n}"} for n in range(4))]
    return pl.DataFrame(lots.sample(rows, size), infer_schema_length=None)


def _practice(lots: random.Random, size: int) -> pl.DataFrame:
    """Documents of which one may speak after practice only, which not everybody passes."""
    named = {"query": lots.choices(["q", "r"], k=size), "doc": [f"d{n}" for n in range(size)]}
    tasks = pl.DataFrame(named | {"practice": [False] * size, "gold": [None] * size})
    first = pl.DataFrame({"query": ["p"] * 2, "doc": ["d", "e"], "practice": [True] * 2, "gold": [1.0, 2.0]})
    return pl.concat([tasks, first.head(lots.randint(1, 2))], how="vertical_relaxed")


#: For each kind of plan, tables of about so many tasks.
PLANS: dict[str, Callable[[random.Random, int], pl.DataFrame]] = {
    "alone": _alone,
    "context": _in_context,
    "pairs": _pairs,
    "blocks": _blocks,
    "mixed": _mixed,
    "codes": _codes,
    "repeats": _repeats,
    "statements": _statements,
    "practice": _practice,
}
