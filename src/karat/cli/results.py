"""Results in the terminal: any table that begins with its finding, intervals beside their figures."""

from __future__ import annotations

from karat.cli.tables import console, say, side_by_side
from karat.records import Result
from karat.records.figures import in_words, written

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
        told = written(frame.head(MOST_ROWS), columns or result.columns)
        for place, table in enumerate(side_by_side(told.heads, told.rows, out.width, told.lead)):
            if place:  # words come first and are repeated when the figures need more than one table
                out.print()
            out.print(table)
    if frame.height > MOST_ROWS:
        say(out, f"- {frame.height - MOST_ROWS:,} more rows, all of them with --json")
    for note in result.notes:
        say(out, f"- {note}")
