"""Results in the terminal: any table that begins with its finding, intervals beside their figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click
import polars as pl
from rich.console import Console

from karat.cli.options import Form
from karat.cli.progress import progress
from karat.cli.tables import console, say, side_by_side
from karat.errors import KaratError
from karat.records import Result
from karat.records.figures import WHOLE, cell, column_decimals, in_words

#: What the parts of an analysis look at.
Given = TypeVar("Given")
#: The tables of a part of an analysis, by their titles.
Tables = Mapping[str, Result]

#: A longer table is cut, and said to be; --json has all of it.
MOST_ROWS = 40


def tell(found: Tables, form: Form, show: Callable[[str, Result], None]) -> None:
    """One part of an analysis: its tables to read, or as one document, or the first as tab-separated lines."""
    if form == "json":
        print_json(document(found))
    elif form == "tsv":
        print_tsv(found)
    else:
        show_all(found.items(), show)


def tell_all(
    parts: Mapping[str, Callable[[Given], Tables]], given: Given, as_json: bool, show: Callable[[str, Result], None]
) -> None:
    """Every part that the data allows; why others are left out is said."""
    found, left_out = dict[str, Tables](), dict[str, KaratError]()
    for name in progress(list(parts), "Looking"):
        try:
            found[name] = parts[name](given)
        except KaratError as error:
            left_out[name] = error
    if not found:
        raise next(iter(left_out.values()))
    reasons = [f"{name}: {error}" for name, error in left_out.items()]
    if as_json:
        told: dict[str, Any] = {name: document(tables) for name, tables in found.items()}
        print_json({**told, "left_out": reasons})
        return
    show_all(((title, result) for tables in found.values() for title, result in tables.items()), show)
    for reason in reasons:
        say(console(), f"- left out: {reason}")


def print_json(said: Mapping[str, Any]) -> None:
    """One document with full precision."""
    click.echo(json.dumps(said, ensure_ascii=False, default=str))


def document(found: Tables) -> dict[str, Any]:
    """Tables as one document: the first at the top, each of the others under its title."""
    first, *others = found.items()
    return first[1].to_dict() | {title: result.to_dict() for title, result in others}


def print_tsv(found: Tables) -> None:
    """The first table as tab-separated lines; what it says besides goes to standard error."""
    (_, first), *others = found.items()
    click.echo(first.frame.write_csv(separator="\t"), nl=False)
    for note in (first.finding, *first.notes):
        click.echo(f"note: {note}", err=True)
    if others:
        click.echo(f"note: with --json also: {', '.join(title for title, _ in others)}", err=True)


def show_all(tables: Iterable[tuple[str, Result]], show: Callable[[str, Result], None]) -> None:
    """Tables to read, with an empty line between two."""
    for place, (title, result) in enumerate(tables):
        if place:
            click.echo()
        show(title, result)


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
    lead = len(words) or 1  # the first figure of a table without words says what a row is of
    order = words + figures if words else kept
    heads = [names[place].replace("_", " ") for place in order]
    keys = [
        at for at, place in enumerate(order) if names[place] in WHOLE and f"{names[place]}_low" not in frame.columns
    ]
    tables = side_by_side(heads, [[row[place] for place in order] for row in rows], out.width, lead, keys)
    for place, table in enumerate(tables):
        if place:
            out.print()
        out.print(table)


def _cell(row: dict[str, Any], name: str, places: int) -> str:
    value, interval = cell(row, name, places)
    return f"{value} {interval}" if interval else value
