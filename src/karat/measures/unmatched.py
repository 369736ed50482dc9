"""Queries that only the run or only the labels know: whether they are the same under another spelling."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

#: What ids of the same query often differ by, and the ids without it.
SPELLINGS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "spaces": lambda ids: ids.str.strip_chars(),
    "capital letters": lambda ids: ids.str.to_lowercase(),
    # Zeros before a digit, and not after one: 007 and q07, but not 107.
    "leading zeros": lambda ids: ids.str.replace_all(r"(^|\D)0+(\d)", "$1$2"),
    "a .0 at the end": lambda ids: ids.str.replace(r"^(\d+)\.0$", "$1"),
}
SHOWN = 3


def cause_of(labels: pl.Series, run: pl.Series) -> tuple[str, pl.DataFrame]:
    """What these ids of queries differ by, if most of them differ by nothing else, and the pairs (`run`, `labels`).

    >>> cause_of(pl.Series(["01", "02"]), pl.Series(["1", "2"]))[0]
    'leading zeros'
    """
    every = list(SPELLINGS)
    tries = [[name] for name in every] + [[a, b] for i, b in enumerate(every) for a in every[i + 1 :]] + [every]
    for names in tries:
        pairs = _paired(labels, run, names)
        # A few that happen to meet are no cause.
        if pairs.height * 2 >= min(len(run), len(labels)) > 0:
            return " and ".join(names), pairs
    return "", pl.DataFrame(schema={"run": pl.String, "labels": pl.String})


def only_numbers_meet(labels: pl.Series, run: pl.Series) -> bool:
    """Whether the ids have a number each, and the same ones on both sides: 51 and topic-51."""
    pairs = _paired(labels.str.replace_all(r"\D", ""), run.str.replace_all(r"\D", ""), ["leading zeros"])
    return pairs.filter(pl.col("run") != "").height * 2 >= min(len(run), len(labels)) > 0


def shown(ids: pl.Series) -> str:
    """Some of the ids, those with spaces around them in quotes."""
    some = [f'"{name}"' if name.strip() != name else name for name in ids.head(SHOWN).to_list()]
    return ", ".join([*some, "..."] if len(ids) > SHOWN else some)


def _paired(labels: pl.Series, run: pl.Series, names: list[str]) -> pl.DataFrame:
    """The ids that are the same without these differences, where that holds for one of each side only."""
    sides = []
    for side, ids in (("run", run), ("labels", labels)):
        key = pl.col(side)
        for name in names:
            key = SPELLINGS[name](key)
        frame = ids.cast(pl.String).alias(side).to_frame().with_columns(key.alias("key"))
        sides.append(frame.filter(~pl.col("key").is_duplicated()))
    return sides[0].join(sides[1], on="key", maintain_order="left").select("run", "labels")
