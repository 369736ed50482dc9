"""Results in the terminal: any table that begins with its finding, intervals beside their figures."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from rich.console import Console

from karat.cli.tables import console, figure, say, side_by_side
from karat.estimate.scores import decimals
from karat.records import Result

#: A longer table is cut, and said to be; --json has all of it.
MOST_ROWS = 40
#: Columns of p values, and of grades, which are written as such.
PROBABILITIES = ("p", "p_adjusted", "holm", "bh", "max_t", "q")
GRADES = ("level", "grade", "label", "error", "truth", "size")
#: Columns of what something costs, written as in the sentence above them.
COSTS = ("cost",)


def print_result(result: Result, columns: list[str] | None = None, title: str = "") -> None:
    """The finding, the figures (some columns of them, if named), and the notes."""
    out = console()
    if title:
        out.print(f"[bold]{title}[/bold]")
    say(out, result.finding)
    frame = result.frame
    if frame.height:
        _print_frame(out, frame.head(MOST_ROWS), columns)
    if frame.height > MOST_ROWS:
        say(out, f"- {frame.height - MOST_ROWS:,} more rows, all of them with --json")
    for note in result.notes:
        say(out, f"- {note}")


def _print_frame(out: Console, frame: pl.DataFrame, columns: list[str] | None) -> None:
    if {"low", "high"} <= {*frame.columns}:  # the interval of the figure before it
        before = frame.columns[: frame.columns.index("low")]
        of = [name for name in before if name != "standard_error"][-1]
        frame = frame.rename({"low": f"{of}_low", "high": f"{of}_high"})
    names = [name for name in columns or frame.columns if name in frame.columns]
    names = [name for name in names if not name.endswith(("_low", "_high")) and frame[name].null_count() < frame.height]
    places = {name: _places(frame, name) for name in names}
    rows = [[_cell(row, name, places[name]) for name in names] for row in frame.iter_rows(named=True)]
    empty = [all(row[place] == "-" for row in rows) for place in range(len(names))]
    kept = [place for place in range(len(names)) if not empty[place]]
    # Words come first and are repeated when the figures need more than one table.
    words = [place for place in kept if frame[names[place]].dtype == pl.String]
    figures = [place for place in kept if place not in words]
    lead = len(words) or 1
    order = words + figures if words else kept
    heads = [names[place].replace("_", " ") for place in order]
    tables = side_by_side(heads, [[row[place] for place in order] for row in rows], out.width, lead)
    for place, table in enumerate(tables):
        if place:
            out.print()
        out.print(table)


def _places(frame: pl.DataFrame, name: str) -> int:
    """The decimals of a column: what its widest interval supports, three where there is none."""
    if f"{name}_low" not in frame.columns or f"{name}_high" not in frame.columns:
        return 3
    ends = zip(frame[f"{name}_low"].to_list(), frame[f"{name}_high"].to_list(), strict=True)
    known = [decimals(low, high) for low, high in ends if low is not None and high is not None and low < high]
    return min(known, default=3)


def _cell(row: dict[str, Any], name: str, places: int) -> str:
    value = row[name]
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is not None and high is not None and not math.isnan(low) and not math.isnan(high):
        return f"{figure(value, places)} [{figure(low, places)}, {figure(high, places)}]"
    if low is None and (name in PROBABILITIES or name.endswith(("_p", "_holm", "_bh"))):
        return _probability(value)
    if name in COSTS:
        return f"{value:,.10g}"
    return f"{value:g}" if name in GRADES else figure(value, places)


def _probability(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
