"""What is true of all labels together, told to every bucket of queries by one row about a query that nobody asked.

Whether labels are of pages or of snippets only, whether there are gold labels beside others, whether there are
subtopics, and which grade is the highest is decided over all labels (`karat.labels`). A bucket sees some of them: a row
about `NOBODY`, with the usual values and the highest label, makes it decide as all of them would.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.labels.gold import GOLD
from karat.labels.selection import ALTERED, ASKED
from karat.records.judgments import SNIPPET

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
