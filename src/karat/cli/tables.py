"""Tables in the terminal: the finding in a sentence, the figures, then what to know about them."""

from __future__ import annotations

import errno
import math
import re
import sys
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from karat.cli.messages import visible
from karat.records.number_format import figure
from karat.scoring import Scores
from karat.scoring.scores import places_of

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
