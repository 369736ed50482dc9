"""The labels of judges and of gold that count in one frame: in order, one a judge and item, everybody with a name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels.consensus import given_again, silence
from karat.labels.gold import GOLD, split_gold
from karat.labels.order import first_of_each, in_order
from karat.labels.selection import ASKED, refuse_unknown, select
from karat.records import Judgments, LabelsLike
from karat.records.base import count

#: Whether a judge's first label of an item counts, or also those given again.
Repeats = Literal["first", "all"]
#: Whom labels without a judge's name are from: different people where an item has several of them, else one judge.
Nameless = Literal["auto", "one", "different"]
#: The only group where none is named, and the group of judges who are in none.
ALL, UNNAMED = "all", "unnamed"
#: Stands before the number of somebody without a name.
NOBODY = "\x00"


@dataclass(frozen=True, eq=False)
class Gathered:
    """The labels that count, a row each in the order in which they were given."""

    #: The rows with `group`, `judge` (null without a name) and `who`, a name for everybody.
    frame: pl.DataFrame
    #: The columns that tell items apart.
    key: tuple[str, ...]
    judgments: Judgments
    gold: Judgments | None
    #: Who could not tell how often: group, judge, silent.
    silent: pl.DataFrame
    timed: bool
    notes: tuple[str, ...]


def gathered(
    labels: LabelsLike,
    gold: LabelsLike | None = None,
    *,
    apart: Collection[str] = (),
    repeats: Repeats = "first",
    nameless: Nameless = "auto",
    unsaid: bool = False,
) -> Gathered:
    """The labels and the gold ones, a group of that name, with the policies for repeats and for nameless judges.

    Answers without a label are left aside, or stay where it is to be told how often there are some (`unsaid`).
    """
    for name, value, known in (
        ("repeats", repeats, ("first", "all")),
        ("nameless", nameless, ("auto", "one", "different")),
    ):
        if value not in known:
            raise BadInput.at(name, expected=" or ".join(known), found=str(value))
    judgments, trusted = split_gold(labels, gold)
    refuse_unknown(apart, judgments, trusted)
    mine = select(judgments, apart)
    key, notes = mine.key, [*judgments.notes, *mine.notes]
    group = pl.col("group").fill_null(UNNAMED) if judgments.has("group") else pl.lit(ALL)
    frame = mine.frame.with_columns(group=group)
    if trusted is not None:
        theirs = select(trusted, [*apart, *mine.key])
        key = tuple(dict.fromkeys([*mine.key, *theirs.key]))
        both = (frame, theirs.frame.with_columns(group=pl.lit(GOLD)))
        frame = pl.concat([_with_key(side, key) for side in both], how="diagonal_relaxed")
        notes += [*trusted.notes, *theirs.notes]
    judge = pl.col("judge") if "judge" in frame.columns else pl.lit(None, pl.String)
    frame = frame.with_columns(judge=judge)
    if "probability" in frame.columns:
        # Who could not tell has a name; what has none, and was drawn, waits for a label.
        frame = frame.filter(pl.col("label").is_not_null() | pl.col("judge").is_not_null())
    silent = frame.filter(pl.col("label").is_null()).group_by("group", "judge").len("silent")
    if silent.height and not unsaid:
        notes.append(silence(int(silent["silent"].sum())))
    timed = "time" in frame.columns and frame["time"].null_count() < frame.height
    frame = _with_names(in_order(frame if unsaid else frame.drop_nulls("label")), key, nameless, notes)
    if not frame.height:
        raise Undefined("there is no label: every judge could not tell, or nothing is there")
    if repeats == "first":
        once = first_of_each(frame, key, "who")
        if once.height < frame.height:
            notes.append(given_again(frame.height - once.height))
        frame = once
    return Gathered(frame, key, judgments, trusted, silent, timed, tuple(dict.fromkeys(notes)))


def _with_key(frame: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """The frame with the columns that tell items apart; where it has none, everything is of the usual kind."""
    missing = [name for name in key if name not in frame.columns]
    return frame.with_columns(pl.lit(ASKED[name].usual, pl.String).alias(name) for name in missing)


def _with_names(frame: pl.DataFrame, key: Sequence[str], nameless: Nameless, notes: list[str]) -> pl.DataFrame:
    """The labels with a name for everybody (`who`): the judge's own, or one that stands for somebody without."""
    none = pl.col("judge").is_null()
    beside = none.sum().over(*key, "group") > 1
    several = beside.any().over("group") if nameless == "auto" else pl.lit(nameless == "different")
    number = pl.when(several).then(pl.int_range(pl.len()).cast(pl.String)).otherwise(pl.lit(""))
    frame = frame.with_columns(who=pl.coalesce("judge", pl.lit(NOBODY) + number))
    unsigned = frame.filter(none & (pl.col("group") != GOLD))
    if unsigned.height:
        people, groups = unsigned.select("group", "who").n_unique(), unsigned["group"].n_unique()
        by = "different people" if people > groups else "one judge" if groups == 1 else "one judge a group"
        notes.append(f"{count(unsigned.height, 'label')} without a judge's name taken for those of {by}")
    return frame
