"""The figures of an LLM's sheet as people read them: a name in full, the value with its interval, in its unit."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from karat.judges.llm.canaries import KINDS
from karat.records.number_format import decimals, figure

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
