"""What is true of all labels together, told to every bucket of queries by one row about a query that nobody asked.

Whether labels are of pages or of snippets only, whether there are gold labels beside others, whether there are
subtopics, and which grade is the highest is decided over all labels (`karat.labels`). A bucket sees some of them: a row
about `NOBODY`, with the usual values and the highest label, makes it decide as all of them would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import BadInput
from karat.labels import GOLD
from karat.labels.selection import ASKED
from karat.records.judgments import SNIPPET
from karat.spark.frames import functions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    def of(cls, labels: DataFrame, top: float | None, apart: tuple[str, ...], *, of_judges: bool = False) -> Facts:
        """The facts about these labels, by one pass over them; `top` where a scale names the highest grade.

        Where judges are looked at (`of_judges`), labels of nothing usual are taken each by itself, and judges come in
        groups or do not.
        """
        f = functions()
        asked = [column for column in ASKED if column in labels.columns]
        number = f.col("label").cast("double")
        wanted = [f.count(f.lit(1)).alias("all"), f.max(f.when(~f.isnan(number), number)).alias("top")]
        for column in asked:
            usual = ASKED[column].usual
            is_usual = f.col(column).isNull() if usual is None else f.coalesce(f.col(column), f.lit(usual)) == usual
            wanted.append(f.sum(is_usual.cast("long")).alias(column))
        if "group" in labels.columns:
            wanted.append(f.sum((f.col("group") == GOLD).cast("long")).alias("gold"))
            wanted.append(f.count(f.when(f.trim(f.col("group")) != "", 1)).alias("in groups"))
        if "probability" in labels.columns:
            wanted.append(f.min(f.col("probability").cast("double")).alias("least"))
        row = labels.agg(*wanted).collect()[0].asDict()
        if not row["all"]:
            raise BadInput.at("the labels", expected="at least one label", found="none")
        highest = row["top"] if top is None else top
        made = cls.made(labels.columns, row, highest, (*ASKED,) if of_judges else apart)
        return made._for_judges(row) if of_judges else made

    @classmethod
    def made(cls, columns: list[str], row: dict[str, Any], top: float | None, apart: tuple[str, ...]) -> Facts:
        """The facts from what was counted."""
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

    def _for_judges(self, row: dict[str, Any]) -> Facts:
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
