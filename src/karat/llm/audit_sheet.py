"""What is known of an LLM as a judge: a sheet for each, the sentence first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.correction.judge_confusion import Confusion
from karat.llm.robustness_checks import KINDS
from karat.records import Scale
from karat.records.number_format import decimals, figure
from karat.records.result import ResultBase, rows_of

#: Figures that are shown with a sign: differences, of which zero means none.
SIGNED = ("less gold", "rise", "adds to")


def main_figures(frame: pl.DataFrame) -> pl.DataFrame:
    """The figures about the judge as a whole: figure, value, n (as text)."""
    sliced = pl.col("part").is_in(["errors", "expected"]) & (pl.col("of") != "")
    return _written(frame.filter(~sliced & (pl.col("part") != "leniency")))


def where_it_errs(frame: pl.DataFrame) -> pl.DataFrame:
    """The errors slice by slice, and what features add to them."""
    errors = frame.filter(pl.col("part") == "errors", pl.col("of") != "")
    return _written(pl.concat([errors, frame.filter(pl.col("part") == "leniency")]), of="documents")


def _written(frame: pl.DataFrame, of: str = "figure") -> pl.DataFrame:
    rows = [
        {of: name(row) if of == "figure" else _slice(row), "value": value(row), "n": row["n"], "part": row["part"]}
        for row in frame.iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema={of: pl.String, "value": pl.String, "n": pl.Int64, "part": pl.String})


def _slice(row: dict[str, Any]) -> str:
    return str(row["of"]) if row["part"] == "errors" else f"{row['of']}, gold grade held"


def name(row: dict[str, Any]) -> str:
    """The figure in words.

    >>> name({"part": "canaries", "figure": "raised", "of": "words"})
    "raised: it has the query's words stuffed in"
    """
    said, of = str(row["figure"]), str(row["of"])
    if row["part"] == "canaries":
        return f"{said}: it {KINDS.get(of, f'is altered ({of})')}"
    if row["part"] == "orders":
        return {"flips": "flips when sides are exchanged", "first side": "prefers the side shown first"}.get(said, said)
    if row["part"] == "worth" and of:
        return said.replace(" is worth", f" {of} is worth")
    if row["part"] == "people":
        return f"{said}, {of}"
    return f"{said}: {of}" if of else said


def value(row: dict[str, Any]) -> str:
    """The figure in its unit, with its interval.

    >>> value({"part": "", "figure": "raised", "value": 0.25, "low": 0.1, "high": 0.4, "unit": "share"})
    '25 % [10, 40]'
    >>> value({"part": "", "figure": "mean rise", "value": 0.25, "low": 0.1, "high": 0.4, "unit": "grades"})
    '+0.25 [+0.10, +0.40]'
    """
    one, low, high, unit = (row[key] for key in ("value", "low", "high", "unit"))
    if one is None or math.isnan(one):
        return "-"
    if unit == "answers":
        return f"{one:,.0f}"
    percent = unit == "share"
    if percent:
        one, low, high = 100 * one, 100 * low, 100 * high
    none = low is None or math.isnan(low)
    places = 2 if none else min(decimals(low, high), 2)
    if unit == "money":
        places = 6 if one < 0.01 else 4
    places = (0 if none or high - low > 1 else 1) if percent else places
    sign = any(words in row["figure"] for words in SIGNED)
    ends = "" if none else f" [{_signed(low, places, sign)}, {_signed(high, places, sign)}]"
    ends = f" [{low:.2f} or more]" if not none and math.isinf(high) else ends
    ends += " alone" if unit == "times" else ""
    return f"{_signed(one, places, sign)}{' %' if percent else ''}{ends}"


def _signed(number: float, places: int, sign: bool) -> str:
    said = figure(number, places)
    return f"+{said}" if sign and number > 0 and said.strip("0.") else said


@dataclass(frozen=True, eq=False, repr=False)
class LLMSheet(ResultBase):
    """One judge: `answer` in a few words, `finding` in a sentence, and a row of `frame` for each figure.

    - `frame`: part, figure, of (which slice), value, low, high, n, n_queries, unit;
    - `confusion`: how often each gold grade gets each label (None without gold labels);
    - `mistakes`: the grades furthest from gold, with their documents;
    - `gold_needed`: how many gold labels the plan needs (None where nobody can say), `n_gold` how many there are;
    - `pairs`: whether to use its choices between two rankings ("use them", "do not use them", "cannot say"; None where
      no pair was judged in both orders);
    - `favoured`: systems whose documents it overrates at equal gold grade.
    """

    judge: str
    answer: str
    finding: str
    frame: pl.DataFrame
    confusion: Confusion | None
    mistakes: pl.DataFrame
    n_gold: int
    gold_needed: int | None
    notes: tuple[str, ...] = ()
    scale: Scale | None = None
    pairs: str | None = None
    favoured: tuple[str, ...] = ()

    columns = ("figure", "value", "n")

    def to_frame(self) -> pl.DataFrame:
        """A row for each figure."""
        return self.frame

    def shown(self) -> pl.DataFrame:
        """The figures about the judge as a whole, in words."""
        return main_figures(self.frame).drop("part")

    def to_dict(self) -> dict[str, Any]:
        """The sheet as one document."""
        return {
            "judge": self.judge,
            "answer": self.answer,
            "pairs": self.pairs,
            "favoured": list(self.favoured),
            "finding": self.finding,
            "n_gold": self.n_gold,
            "gold_needed": self.gold_needed,
            "rows": rows_of(self.frame),
            "confusion": None if self.confusion is None else rows_of(self.confusion.frame),
            "mistakes": rows_of(self.mistakes),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False, repr=False)
class LLMAudit(ResultBase):
    """A sheet for each judge of a table, and what they have in common."""

    sheets: tuple[LLMSheet, ...]
    notes: tuple[str, ...] = ()

    columns = ("judge", *LLMSheet.columns)

    @property
    def finding(self) -> str:
        """What to do with each judge."""
        return " ".join(sheet.finding for sheet in self.sheets)

    def to_frame(self) -> pl.DataFrame:
        """A row for each judge and figure."""
        parts = [sheet.frame.select(pl.lit(sheet.judge).alias("judge"), pl.all()) for sheet in self.sheets]
        return pl.concat(parts)

    def shown(self) -> pl.DataFrame:
        """The figures about each judge as a whole, in words."""
        return pl.concat(sheet.shown().select(pl.lit(sheet.judge).alias("judge"), pl.all()) for sheet in self.sheets)

    def to_dict(self) -> dict[str, Any]:
        """All sheets as one document."""
        return {
            "finding": self.finding,
            "judges": [sheet.to_dict() for sheet in self.sheets],
            "notes": list(self.notes),
        }
