"""Results in the terminal: any table that begins with its finding, intervals beside their figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from karat.cli.options import Form
from karat.cli.progress import progress
from karat.cli.tables import console, say, side_by_side
from karat.errors import KaratError
from karat.records import Result
from karat.records.number_format import WHOLE, Written, in_words, written

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


def print_result(
    result: Result, columns: list[str] | None = None, title: str = "", heads: Mapping[str, str] | None = None
) -> None:
    """The finding, the figures (some columns of them, if named), and the notes; `heads` are shown as they are given."""
    out = console()
    if title:
        out.print(f"[bold]{title}[/bold]")
    say(out, result.finding)
    frame = in_words(result.frame, result.scale)
    if frame.height:
        told = written(frame.head(MOST_ROWS), columns or result.columns)
        shown = [(heads or {}).get(head, head) for head in told.heads]
        for place, table in enumerate(side_by_side(shown, told.rows, out.width, told.lead, _keys(told))):
            if place:  # what identifies a row is repeated when the figures need more than one table
                out.print()
            out.print(table)
    if frame.height > MOST_ROWS:
        say(out, f"- {frame.height - MOST_ROWS:,} more rows, all of them with --json")
    for note in result.notes:
        say(out, f"- {note}")


def _keys(told: Written) -> list[int]:
    """The columns of numbers that say what a row is of: a grade, a size, so many of so many users; no figure of it."""
    names = [head.replace(" ", "_") for head in told.heads]
    return [at for at, name in enumerate(names) if name in WHOLE and not any("[" in row[at] for row in told.rows)]
