"""Who said what about which document: labels laid out by number, one per judge and pair, for comparing judges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.judges.stop_rule import ITEM, MOST_GRADES, first_two_rows, ruled_groups
from karat.records import Judgments
from karat.records.base import count
from karat.records.scale import refuse_many_grades

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: The name of the row that pools all groups, and of the only group where none is named.
ALL = "all"
GOLD = "gold"


@dataclass(frozen=True, eq=False)
class Panel:
    """Labels by number: row i says that `judge[i]` of `group[i]` gave `level[i]` to `item[i]` of `query[i]`.

    >>> panel = Panel.of(Judgments.of([
    ...     {"query": "q", "doc": "d", "label": 2, "judge": "ann"},
    ...     {"query": "q", "doc": "d", "label": 0, "judge": "bob"}]))
    >>> panel.item.tolist(), panel.judge.tolist(), panel.level.tolist(), panel.grades.tolist()
    ([0, 0], [0, 1], [1, 0], [0.0, 2.0])

    Rows are in the order in which the labels were given: by time where it is known, else as they came. A judge has
    one label per pair, the first; the nameless are taken for different people. An item is a document for a query, and
    where these are told apart, for a subtopic, after a context, in an aspect, on a surface.
    """

    query: Ints
    item: Ints
    group: Ints
    judge: Ints
    level: Ints
    #: The number of the value of `by`, -1 where there is none.
    value: Ints
    grades: Floats
    #: The groups' names, gold last.
    groups: tuple[str, ...]
    #: Group and name of each judge by number; the nameless have none.
    judges: pl.DataFrame
    #: The different values of `by`, in order.
    values: pl.Series
    notes: tuple[str, ...]

    @classmethod
    def of(cls, judgments: Judgments, gold: Judgments | None = None, by: str | None = None) -> Panel:
        """The labels of these judgments, with those of `gold` as a group of that name."""
        frame, notes = _comparable(_grouped(judgments, gold, by), by)
        silent = frame["label"].null_count()
        if silent:
            notes.append(f"{count(silent, 'answer')} without a label (can't tell) left aside")
            frame = frame.drop_nulls("label")
        grades = frame["label"].unique().sort().to_numpy()
        if not len(grades):
            raise BadInput.at("the judgments", expected="at least one label", found="none")
        refuse_many_grades(len(grades), MOST_GRADES)
        if "time" in frame.columns:
            frame = frame.sort("time", nulls_last=True, maintain_order=True)
        name = pl.col("judge") if "judge" in frame.columns else pl.lit(None, pl.String)
        frame = frame.select(
            "group",
            name.alias("judge"),
            # A nameless judge is somebody else in every row.
            pl.when(name.is_null()).then(pl.int_range(pl.len())).alias("nobody"),
            _number(pl.col("query")).alias("query"),
            _number(pl.struct(column for column in ITEM if column in frame.columns)).alias("item"),
            pl.Series("level", np.searchsorted(grades, frame["label"].to_numpy())),
            (pl.lit(None) if by is None else pl.col(by)).alias("value"),
        )
        once = frame.unique(["item", "group", "judge", "nobody", "value"], keep="first", maintain_order=True)
        if once.height < frame.height:
            again = count(frame.height - once.height, "label")
            notes.append(f"{again} by a judge who had labelled the same pair before left aside")
        groups = sorted(once["group"].unique().to_list(), key=lambda name: (name == GOLD, name))
        judges = once.select("group", "judge", "nobody").unique().sort("group", "judge", "nobody")
        values = once.select("value").drop_nulls().unique().sort("value")
        who, which = _place(once, judges), _place(once, values)
        place = {group: number for number, group in enumerate(groups)}
        return cls(
            query=_ints(once["query"]),
            item=_ints(once["item"]),
            group=_ints(once["group"].replace_strict(place, return_dtype=pl.Int64)),
            judge=_ints(who),
            level=_ints(once["level"]),
            value=_ints(which.fill_null(-1)),
            grades=grades,
            groups=tuple(groups),
            judges=judges.select("group", "judge"),
            values=values["value"],
            notes=tuple(notes),
        )

    @property
    def levels(self) -> int:
        """How many grades there are."""
        return len(self.grades)

    @property
    def nameless(self) -> Flags:
        """Which judges, by number, have no name."""
        flags: Flags = self.judges["judge"].is_null().to_numpy()
        return flags

    def kept(self, rows: Flags) -> Panel:
        """The same panel with these rows only; numbers keep their meaning."""
        return replace(
            self,
            query=self.query[rows],
            item=self.item[rows],
            group=self.group[rows],
            judge=self.judge[rows],
            level=self.level[rows],
            value=self.value[rows],
        )


def stop_rule(panel: Panel) -> list[str]:
    """The groups in which a further label was asked only where the first two differed."""
    found = ruled_groups(panel.item, panel.group, panel.level, len(panel.groups), panel.levels)
    return [panel.groups[number] for number in found]


def first_two(panel: Panel, groups: list[str]) -> Panel:
    """The panel with the first two labels of each pair in these groups: those that stood before more were asked."""
    ruled = [panel.groups.index(group) for group in groups]
    return panel.kept(first_two_rows(panel.item, panel.group, panel.level, ruled))


def _grouped(judgments: Judgments, gold: Judgments | None, by: str | None) -> pl.DataFrame:
    """The judgments with a group each, those of gold among them."""
    frame = judgments.frame
    name = pl.col("group").fill_null("unnamed") if judgments.has("group") else pl.lit(ALL)
    frame = frame.with_columns(name.alias("group"))
    if gold is None:
        return frame
    if GOLD in frame["group"]:
        raise BadInput.at(
            "the judgments",
            expected="gold labels in one place",
            found="a group gold beside a file of gold labels",
            remedy="leave one of them out",
        )
    trusted = gold.frame.with_columns(pl.lit(GOLD).alias("group"))
    if by is not None and by not in trusted.columns:
        known = frame.select("query", "doc", by).unique(["query", "doc"], keep="first", maintain_order=True)
        trusted = trusted.join(known, on=["query", "doc"], how="left", maintain_order="left")
    return pl.concat([frame, trusted], how="diagonal_relaxed")


def _comparable(frame: pl.DataFrame, by: str | None) -> tuple[pl.DataFrame, list[str]]:
    """The judgments of pages as a whole where there are any, and what was left aside."""
    notes = []
    for column, whole in (("aspect", "overall"), ("surface", "page")):
        if column not in frame.columns:
            continue
        frame = frame.with_columns(pl.col(column).fill_null(whole))
        kept = frame.filter(pl.col(column) == whole)
        if column == by or kept.height == frame.height:
            continue
        if kept.height:
            notes.append(f"{count(frame.height - kept.height, 'judgment')} of another {column} than {whole} left aside")
            frame = kept
        else:
            notes.append(f"a document counts once for each {column}, as none was judged for {column} {whole}")
    return frame, notes


def _number(key: pl.Expr) -> pl.Expr:
    """The place of each key among the different ones, from 0."""
    return key.rank("dense").cast(pl.Int64) - 1


def _place(frame: pl.DataFrame, keys: pl.DataFrame) -> pl.Series:
    """The row of `keys` that each row of the frame has; null for none."""
    numbered = keys.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    return frame.join(numbered, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")["number"]


def _ints(values: pl.Series) -> Ints:
    return values.cast(pl.Int64).to_numpy()
