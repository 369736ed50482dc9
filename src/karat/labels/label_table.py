"""The labels of judges and of gold that count in one frame: in order, one a judge and item, everybody with a name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels.consensus import given_again, silence
from karat.labels.gold import GOLD, split_gold
from karat.labels.order import first_of_each, in_order
from karat.labels.selection import ALTERED, ASKED, refuse_unknown, select
from karat.records import Judgments, LabelsLike
from karat.records.judgments import SNIPPET
from karat.records.table import count

#: Whether a judge's first label of an item counts, or also those given again.
Repeats = Literal["first", "all"]
#: Whom labels without a judge's name are from: different people where an item has several of them, else one judge.
Nameless = Literal["auto", "one", "different"]
#: The only group where none is named, and the group of judges who are in none.
ALL, UNNAMED = "all", "unnamed"
#: Stands before the number of somebody without a name.
NAMELESS_PREFIX = "\x00"


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
    frame = frame.with_columns(who=pl.coalesce("judge", pl.lit(NAMELESS_PREFIX) + number))
    unsigned = frame.filter(none & (pl.col("group") != GOLD))
    if unsigned.height:
        people, groups = unsigned.select("group", "who").n_unique(), unsigned["group"].n_unique()
        by = "different people" if people > groups else "one judge" if groups == 1 else "one judge a group"
        notes.append(f"{count(unsigned.height, 'label')} without a judge's name taken for those of {by}")
    return frame


#: A query that no file has: it begins with a character that ids do not begin with.
NOBODY = "\x00karat"
#: What is asked of a document where it is not the usual.
OTHER = {"aspect": "novelty", "surface": SNIPPET, "context": NOBODY, "subtopic": "1"}


@dataclass(frozen=True)
class Facts:
    """One label as a row of `columns`: the usual values of all labels, and the highest grade."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]
    #: Whether labels were drawn with a probability below 1.
    of_a_sample: bool

    @classmethod
    def made(cls, columns: list[str], row: dict[str, Any], top: float | None, apart: tuple[str, ...]) -> Facts:
        """The facts from what was counted, as `tally` does; `top` where a scale names the highest grade."""
        if not row["all"]:
            raise BadInput.at("the labels", expected="at least one label", found="none")
        if top is None:
            top = row["top of gold"] if row["top"] is None else row["top"]
        values: dict[str, Any] = {"query": NOBODY, "doc": NOBODY, "label": top}
        for column, asked in ASKED.items():
            if column not in row:
                continue
            if not row[column] and column not in apart:
                raise BadInput.at(
                    "the judgments",
                    expected=f"some {asked.wanted}",
                    found=f"only labels {asked.others}",
                    remedy=f"choose the {column} to go by and leave the others out",
                )
            values[column] = asked.usual
            if column == "subtopic" and row[column] < row["all"]:
                values[column] = "1"  # there are subtopics, so that a query without one has none
        if (row.get("gold") or 0) == row["all"]:
            values["group"] = GOLD
        least = row.get("least")
        # In a study in context the probability is that of the plan of contexts.
        drawn = least is not None and least < 1 and row.get("context", row["all"]) == row["all"]
        return cls(tuple(columns), tuple(values.get(name) for name in columns), drawn)

    def for_judges(self, row: dict[str, Any]) -> Facts:
        """The facts where judges are looked at: labels of nothing usual are taken each by itself."""
        values = dict(zip(self.columns, self.values, strict=True))
        for column, asked in ASKED.items():
            if column in values:
                values[column] = asked.usual if row[column] else OTHER[column]
        if values.get("group") is None and row.get("in groups"):
            values["group"] = NOBODY
        return replace(self, values=tuple(values[name] for name in self.columns))

    def taken_apart(self) -> list[str]:
        """The columns whose values make items of their own, because no label has the usual one."""
        values = dict(zip(self.columns, self.values, strict=True))
        return [column for column, asked in ASKED.items() if column in values and values[column] != asked.usual]

    def told(self, labels: pl.DataFrame) -> pl.DataFrame:
        """The labels of a bucket with the row that tells the facts, at the end."""
        values = dict(zip(self.columns, self.values, strict=True))
        row = [
            pl.Series(name, [values[name]], strict=False).cast(kind, strict=False)
            for name, kind in labels.schema.items()
        ]
        return pl.concat([labels, pl.DataFrame(row)])


def tally(labels: pl.DataFrame, apart: Collection[str] = ()) -> dict[str, Any]:
    """What is counted of some labels: all, those of what is usually asked, those by gold, the highest that count.

    >>> tally(pl.DataFrame({"label": ["0", "2", "9"], "aspect": [None, "overall", "novelty"]}))
    {'all': 3, 'top': 2.0, 'top of gold': 2.0, 'aspect': 2}

    What is told `apart` counts whatever was asked, and so do labels in context: the top grade does not depend on the
    context weight of a measure.
    """
    usual = {
        column: pl.col(column).eq_missing(None)
        if asked.usual is None
        else pl.col(column).fill_null(asked.usual) == asked.usual
        for column, asked in ASKED.items()
        if column in labels.columns
    }
    counts = [one for column, one in usual.items() if column not in {*apart, "context"}]
    counts += [pl.col(ALTERED).fill_null("") == ""] if ALTERED in labels.columns else []
    by_gold = pl.col("group").eq_missing(GOLD) if "group" in labels.columns else pl.lit(False)
    number = pl.when(pl.all_horizontal(pl.lit(True), *counts)).then(
        pl.col("label").cast(pl.Float64, strict=False).fill_nan(None)
    )
    wanted = [
        pl.len().alias("all"),
        pl.when(~by_gold).then(number).max().alias("top"),
        number.max().alias("top of gold"),
    ]
    wanted += [one.sum().alias(column) for column, one in usual.items()]
    if "group" in labels.columns:
        wanted.append(by_gold.sum().alias("gold"))
    if "probability" in labels.columns:
        wanted.append(pl.col("probability").cast(pl.Float64, strict=False).min().alias("least"))
    return labels.select(wanted).row(0, named=True)


def together(tallies: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What was counted of parts, as of all of them."""
    rows = pl.DataFrame(list(tallies), infer_schema_length=None)
    how = {"top": pl.Expr.max, "top of gold": pl.Expr.max, "least": pl.Expr.min}
    return rows.select(how.get(name, pl.Expr.sum)(pl.col(name)) for name in rows.columns).row(0, named=True)
