"""`karat measures`: which measures are there?"""

from __future__ import annotations

from dataclasses import fields

import click
import polars as pl
from rich.markup import escape
from rich.table import Table

from karat.cli import options
from karat.cli.results import console, tell
from karat.measures import MEASURES, about
from karat.records import Result


@click.command(epilog="\b\nExample:\n  karat measures")
@options.undrawn
def measures(form: options.Form) -> None:
    """List the measures, their parameters and what they mean."""
    rows = []
    for name, cls in MEASURES.items():
        cutoff = "@k" if cls.needs_cutoff else "" if cls.never_cut else "[@k]"
        parameters = [f for f in fields(cls) if f.name != "cutoff"]
        given = ", ".join(f.name if f.default is None else f"{f.name}={f.default}" for f in parameters)
        rows.append((name + cutoff, given, about(cls)))
    frame = pl.DataFrame(rows, schema=["measure", "parameters", "meaning"], orient="row")
    said = "Measures, with their parameters and defaults; a cutoff follows as @10."
    tell({"Measures": Result(frame, said)}, form, _show)


def _show(result: Result, title: str) -> None:
    """The table with long cells broken, which no other table has."""
    click.echo(result.finding)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in result.frame.columns:
        table.add_column(name, no_wrap=name == "measure")
    for row in result.frame.iter_rows():
        table.add_row(*map(escape, row))
    console().print(table)
