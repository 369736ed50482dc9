"""Results in the terminal: any table that begins with its finding, intervals beside their figures."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich.console import Console

from karat.cli.tables import console, say, side_by_side
from karat.records import Result
from karat.records.figures import cell, column_decimals, in_words

#: A longer table is cut, and said to be; --json has all of it.
MOST_ROWS = 40


def print_result(result: Result, columns: list[str] | None = None, title: str = "") -> None:
    """The finding, the figures (some columns of them, if named), and the notes."""
    out = console()
    if title:
        out.print(f"[bold]{title}[/bold]")
    say(out, result.finding)
    frame = in_words(result.frame, result.scale)
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
    places = {name: column_decimals(frame, name) for name in names}
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


def _cell(row: dict[str, Any], name: str, places: int) -> str:
    value, interval = cell(row, name, places)
    return f"{value} {interval}" if interval else value
