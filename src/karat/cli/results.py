"""Results in the terminal: any table that begins with its finding, intervals beside their figures."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from textwrap import fill
from typing import Any, TextIO

import click
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from karat.cli.output_formats import FOR_PEOPLE, Form, write_plots, write_tables
from karat.cli.terminal import tell_notes, visible
from karat.measures.scores import Scores, places_of
from karat.records import Result
from karat.records.number_format import WHOLE, Written, figure, in_words, written
from karat.records.result import ResultBase
from karat.records.table import count

#: Tables fit a terminal of this width; a wider one is used where there is one.
WIDTH = 100
#: A space at which no line is broken.
TOGETHER = "\N{NO-BREAK SPACE}"
#: With many runs there are many notes; more than these are counted only.
MOST_NOTES = 12


class _Pipe(Console):
    """A console whose reader may leave when it has seen enough, as `head` does: that is for all of karat to handle."""

    def on_broken_pipe(self) -> None:
        """Say what happened, where rich would exit with 1."""
        raise BrokenPipeError(errno.EPIPE, "the reader has left")


def console() -> Console:
    """The standard output as a console; a file or pipe is as wide as a table may be."""
    return _Pipe(width=None if sys.stdout.isatty() else WIDTH, highlight=False, soft_wrap=False)


def print_scores(scores: Scores, by_query: bool = False) -> None:
    """The scores, best system first."""
    out = console()
    say(out, scores.finding)
    for warning in scores.warnings:
        say(out, f"Warning: {warning}.")
    systems = scores.best_first()
    if scores.has_gold:
        tables = _with_uncorrected(scores, out.width)
    else:
        tables = _one_system(scores) if len(systems) == 1 else _many_systems(scores, systems, out.width)
    for place, table in enumerate(tables):
        if place:
            out.print()
        out.print(table)
    for reason, measures in _reasons(scores).items():
        say(out, f"- {', '.join(measures)} uncorrected: {reason}")
    if by_query:
        if scores.has_gold:
            out.print()
            say(out, "Uncorrected scores by query")
        for system in systems:
            mine = scores.queries.filter(pl.col("system") == system)
            rows = [[row["query"], *(figure(row[m], 4) for m in scores.measures)] for row in mine.iter_rows(named=True)]
            for table in side_by_side(["query", *scores.measures], rows, out.width):
                out.print()
                if len(systems) > 1:
                    say(out, system)
                out.print(table)
    notes = [note for note in scores.notes if note not in scores.warnings]
    for note in notes[:MOST_NOTES]:
        say(out, f"- {note}")
    if len(notes) > MOST_NOTES:
        say(out, f"- and {len(notes) - MOST_NOTES:,} more notes, all of them with --json")


def _with_uncorrected(scores: Scores, width: int) -> list[Table]:
    """Corrected scores with their intervals, and the uncorrected ones beside them."""
    rows = []
    frame = scores.to_frame()
    for system in scores.best_first():
        for row in frame.filter(pl.col("system") == system).iter_rows(named=True):
            places = places_of(row)
            score = "-" if math.isnan(row["value"]) else _with_interval(row, places)
            plain = figure(row["uncorrected"], places)
            rows.append([system, row["measure"], score, plain, f"{row['n']:,}", f"{row['n_gold']:,}"])
    heads = ["system", "measure", "corrected", "uncorrected", "queries", "gold"]
    return side_by_side(heads, rows, width, lead=2)


def _reasons(scores: Scores) -> dict[str, list[str]]:
    """Why some measures could not be corrected, each reason once."""
    reasons: dict[str, list[str]] = {}
    if scores.has_gold:
        for measure, reason in (
            scores.means.filter(pl.col("reason") != "")
            .select("measure", "reason")
            .unique(maintain_order=True)
            .iter_rows()
        ):
            reasons.setdefault(reason, []).append(measure)
    return reasons


def say(out: Console, text: str) -> None:
    """A line of text, broken at the console's width with the next lines set in, but not between a number and %."""
    kept = re.sub(r"(?<=\d) %", f"{TOGETHER}%", visible(text))
    broken = fill(kept, out.width, subsequent_indent="  ", break_on_hyphens=False)
    out.print(broken.replace(TOGETHER, " "), markup=False)


def plain_table(names: list[str], lead: int = 1) -> Table:
    """A table without lines: words to the left in the first columns, figures to the right in the others."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, name in enumerate(names):
        table.add_column(escape(name), justify="right" if place >= lead else "left", overflow="fold")
    return table


def _one_system(scores: Scores) -> list[Table]:
    rows = []
    for row in scores.means.iter_rows(named=True):
        places = places_of(row)
        rows.append([row["measure"], *(figure(row[end], places) for end in ("value", "low", "high")), f"{row['n']:,}"])
    return side_by_side(["measure", "value", "low", "high", "queries"], rows, WIDTH)


def _many_systems(scores: Scores, systems: list[str], width: int) -> list[Table]:
    cells = {(row["system"], row["measure"]): row for row in scores.means.iter_rows(named=True)}
    names, rows = ["system"], [[system] for system in systems]
    if scores.means["n"].n_unique() > 1:
        names.append("queries")
        for row, system in zip(rows, systems, strict=True):
            row.append(f"{cells[system, scores.measures[0]]['n']:,}")
    names += scores.measures
    for measure in scores.measures:
        # One column, one number of decimals: what the narrowest interval in it supports.
        places = max(places_of(cells[system, measure]) for system in systems)
        for row, system in zip(rows, systems, strict=True):
            row.append(_with_interval(cells[system, measure], places))
    return side_by_side(names, rows, width)


def side_by_side(
    names: list[str], rows: list[list[str]], width: int, lead: int = 1, keys: Sequence[int] = ()
) -> list[Table]:
    """One table, or several under each other, so that none is too wide.

    What identifies a row is repeated in each: the first `lead` columns, which are words, and `keys`, which are numbers.

    >>> tables = side_by_side(["of", "level", "p", "weight"], [["3", "1", "0.5", "0.875"]], 16, lead=0, keys=[0, 1])
    >>> [[column.header for column in table.columns] for table in tables]
    [['of', 'level', 'p'], ['of', 'level', 'weight']]
    """
    names, *rows = ([visible(" ".join(cell.splitlines())) for cell in row] for row in [names, *rows])
    widths = [max(len(row[place]) for row in [names, *rows]) + 2 for place in range(len(names))]
    repeated = sorted({*range(lead), *keys})
    every = sum(widths[place] for place in repeated)
    groups: list[list[int]] = [[]]
    for place in range(len(names)):
        if place in repeated:
            continue
        if groups[-1] and every + sum(widths[p] for p in groups[-1]) + widths[place] > width + 2:
            groups.append([])
        groups[-1].append(place)
    tables = []
    for group in groups:
        shown = sorted([*repeated, *group])
        table = plain_table([names[place] for place in shown], lead)
        for row in rows:
            table.add_row(*(escape(row[place]) for place in shown))
        tables.append(table)
    return tables


def _with_interval(row: dict[str, Any], places: int) -> str:
    value = figure(row["value"], places)
    if math.isnan(row["low"]):
        return value
    return f"{value} [{figure(row['low'], places)}, {figure(row['high'], places)}]"


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
    pass

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

    pass

    console().print(f"[bold]{escape(visible(title))}[/bold]")
    print_result(result)


def _keys(told: Written) -> list[int]:
    """The columns of numbers that say what a row is of: a grade, a size, so many of so many users; no figure of it."""
    names = [head.replace(" ", "_") for head in told.heads]
    return [at for at, name in enumerate(names) if name in WHOLE and not any("[" in row[at] for row in told.rows)]
