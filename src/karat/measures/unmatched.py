"""Ids that only the run or only the labels know: whether they are the same under another spelling."""

from __future__ import annotations

from collections import Counter
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
#: So many ids are looked at for a prefix or suffix, and so many have to have it.
SAMPLED, FEWEST_PAIRS = 200, 2


def cause_of(labels: pl.Series, run: pl.Series) -> tuple[str, pl.DataFrame]:
    """What these ids differ by, if most of them differ by nothing else, and the pairs (`run`, `labels`).

    >>> cause_of(pl.Series(["01", "02"]), pl.Series(["1", "2"]))[0]
    'leading zeros'
    >>> cause_of(pl.Series(["doc-1", "doc-2"]), pl.Series(["1", "2"]))[0]
    'the prefix "doc-" in the labels'
    """
    every = list(SPELLINGS)
    tries = [[name] for name in every] + [[a, b] for i, b in enumerate(every) for a in every[i + 1 :]] + [every]
    for names in tries:
        pairs = _paired(labels, run, names)
        # A few that happen to meet are no cause.
        if pairs.height * 2 >= min(len(run), len(labels)) > 0:
            return " and ".join(names), pairs
    return _added_text(labels, run)


def _added_text(labels: pl.Series, run: pl.Series) -> tuple[str, pl.DataFrame]:
    """A prefix or suffix that the ids of one side have and those of the other have not, and the pairs."""
    sides = {"run": run.cast(pl.String), "labels": labels.cast(pl.String)}
    for side, other in (("run", "labels"), ("labels", "run")):
        ids, known = sides[side].unique(maintain_order=True), set(sides[other])
        found: Counter[tuple[str, str]] = Counter()
        for name in ids.gather_every(max(1, len(ids) // SAMPLED)):
            cuts = range(1, len(name))
            found.update(("prefix", name[:cut]) for cut in cuts if name[cut:] in known)
            found.update(("suffix", name[cut:]) for cut in cuts if name[:cut] in known)
        for (kind, text), _ in found.most_common(1):
            if text.isdigit():  # numbers meet by chance
                continue
            bare = ids.str.strip_prefix(text) if kind == "prefix" else ids.str.strip_suffix(text)
            pairs = pl.DataFrame({side: ids, other: bare}).filter(
                (pl.col(side) != pl.col(other)) & pl.col(other).is_in(sides[other].implode())
            )
            if pairs.height >= FEWEST_PAIRS and pairs.height * 2 >= min(len(run), len(labels)):
                where = "run" if side == "run" else "labels"
                return f'the {kind} "{text}" in the {where}', pairs.select("run", "labels")
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
