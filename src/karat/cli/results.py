"""Results in the terminal: any table that begins with its finding, intervals beside their figures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TextIO

import click

from karat.cli.forms import FOR_PEOPLE, Form
from karat.cli.messages import tell_notes, visible
from karat.cli.outputs import write_plots, write_tables
from karat.records import Result
from karat.records.base import count
from karat.records.number_format import WHOLE, Written, in_words, written
from karat.records.result import ResultBase

#: The tables of a part of an analysis, by their titles.
Tables = Mapping[str, Result]
#: How a table is shown under its title.
Show = Callable[[Result, str], None]

#: A longer table is cut, and said to be; --json has all of it.
MOST_ROWS = 40
#: Columns that are not shown are counted, and so many of them named.
MOST_NAMED = 6


def tell(
    found: Tables,
    form: Form,
    show: Show,
    said: Mapping[str, Any] | None = None,
    seen: Callable[[Result, str], Result] = lambda result, title: result,
) -> None:
    """One part of an analysis: its tables to read, or as one document, or the first as tab-separated lines.

    `seen` is how people see a table, in print as in the terminal.
    """
    with read_or_not():
        if form.printed == "json":
            print_json(said or document(found))
        elif form.printed == "tsv":
            print_tsv(found)
        elif form.printed == "latex":
            _print_latex({title: seen(result, title) for title, result in found.items()})
        else:
            show_all(found.items(), show)
    if form.out is not None or form.plot is not None:
        told = {title: seen(result, title) for title, result in found.items()}
        write_files(told, found, form, said or document(found))


def _print_latex(tables: Mapping[str, ResultBase]) -> None:
    from karat.reports.tables import latex_of_all  # and with it all results that have a layout of their own

    click.echo(latex_of_all(tables), nl=False)


def tell_as(
    form: Form,
    document: Mapping[str, Any],
    rows: ResultBase,
    show: Callable[[], None],
    beside: Sequence[str] = (),
    tables: Mapping[str, ResultBase] | None = None,
    drawn: Mapping[str, ResultBase] | None = None,
) -> None:
    """What is more than tables: as this document, its rows as tab-separated lines, or shown.

    `beside` is what the document has and the rows have not. `tables` are those of a paper, and `drawn` is what charts
    are of: the rows unless named.
    """
    tables = {"": rows} if tables is None else tables
    with read_or_not():
        if form.printed == "json":
            print_json(document)
        elif form.printed == "tsv":
            print_tsv({"rows": rows} | dict.fromkeys(beside, rows))
        elif form.printed == "latex":
            _print_latex(tables)
        else:
            show()
    write_files(tables, {"": rows}, form, document, drawn)


@contextmanager
def read_or_not(stream: TextIO | None = None) -> Iterator[None]:
    """What follows is done though the reader left early, as `head` does: files, and the exit code of a rule.

    What goes to the `stream`, the standard output unless named, is lost then; what else goes the same way (2>&1), too.
    """
    stream = sys.stdout if stream is None else stream
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        left, nowhere = os.fstat(stream.fileno()), os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            if os.path.samestat(os.fstat(number), left):
                os.dup2(nowhere, number)


def write_files(
    seen: Mapping[str, ResultBase],
    rows: Mapping[str, ResultBase],
    form: Form,
    said: Mapping[str, Any],
    drawn: Mapping[str, ResultBase] | None = None,
) -> None:
    """The files that were asked for: tables as people see them, rows for programs, charts; what was written is said.

    Where an ending holds one table, or one chart, the others are written beside it, under its name and theirs.
    """
    written = list[str]()
    if form.out is not None:
        written += write_tables(seen if form.out.endswith(FOR_PEOPLE) else rows, form.out, said)
    if form.plot is not None:
        written += write_plots(rows if drawn is None else drawn, form.plot)
    if written:
        with read_or_not(sys.stderr):
            click.echo(f"Wrote {', '.join(written)}.", err=True)


def print_json(said: Mapping[str, Any]) -> None:
    """One document with full precision."""
    click.echo(json.dumps(said, ensure_ascii=False, default=str))


def document(found: Tables) -> dict[str, Any]:
    """Tables as one document: the first at the top, each of the others under its title."""
    first, *others = found.items()
    return first[1].to_dict() | {title: result.to_dict() for title, result in others}


def print_tsv(found: Mapping[str, ResultBase]) -> None:
    """The first table as tab-separated lines; what it says besides goes to standard error."""
    (_, first), *others = found.items()
    click.echo(first.to_frame().write_csv(separator="\t"), nl=False)
    also = [f"with --json also: {', '.join(title for title, _ in others)}"] if others else []
    tell_notes([first.finding, *first.notes, *also])


def show_all(tables: Iterable[tuple[str, Result]], show: Show) -> None:
    """Tables to read, with an empty line between two; what two of them would note is said with the first."""
    told = set[str]()
    for place, (title, result) in enumerate(tables):
        if place:
            click.echo()
        show(replace(result, notes=tuple(note for note in result.notes if note not in told)), title)
        told.update(result.notes)


def print_result(result: Result, title: str = "", heads: Mapping[str, str] | None = None) -> None:
    """The finding, the figures that people look at, and the notes; `heads` are shown as they are given."""
    from karat.cli.tables import console, say, side_by_side  # rich takes a while to load, and JSON wants none of it

    out = console()
    say(out, result.finding)
    frame, hidden = in_words(result.to_frame(), result.scale), list[str]()
    if frame.height:
        told, whole = (written(frame.head(MOST_ROWS), columns) for columns in (result.columns, ()))
        shown = [(heads or {}).get(head, head) for head in told.heads]
        for place, table in enumerate(side_by_side(shown, told.rows, out.width, told.lead, _keys(told))):
            if place:  # what identifies a row is repeated when the figures need more than one table
                out.print()
            out.print(table)
        hidden = [head for head in whole.heads if head not in told.heads]
        if hidden:
            named = ", ".join(hidden[:MOST_NAMED]) + (", ..." if len(hidden) > MOST_NAMED else "")
            say(out, f"- {count(len(hidden), 'more column')} with --json: {named}")
    if frame.height > MOST_ROWS:
        say(out, f"- {frame.height - MOST_ROWS:,} more rows, all of them with --json")
    for note in result.notes:
        if note.partition(" ")[0] not in hidden:  # what a column means that only --json has is no help here
            say(out, f"- {note}")


def print_titled(result: Result, title: str) -> None:
    """A table under its title."""
    from rich.markup import escape

    from karat.cli.tables import console

    console().print(f"[bold]{escape(visible(title))}[/bold]")
    print_result(result)


def _keys(told: Written) -> list[int]:
    """The columns of numbers that say what a row is of: a grade, a size, so many of so many users; no figure of it."""
    names = [head.replace(" ", "_") for head in told.heads]
    return [at for at, name in enumerate(names) if name in WHOLE and not any("[" in row[at] for row in told.rows)]
