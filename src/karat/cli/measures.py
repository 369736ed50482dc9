"""`karat measures`: which measures are there?"""

from __future__ import annotations

from dataclasses import fields

import click
from rich.table import Table

from karat.cli.tables import console
from karat.measures import MEASURES, about


@click.command(epilog="\b\nExample:\n  karat measures")
def measures() -> None:
    """List the measures, their parameters and what they mean."""
    click.echo("Measures, with their parameters and defaults; a cutoff follows as @10.")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("measure", no_wrap=True)
    table.add_column("parameters")
    table.add_column("meaning")
    for name, cls in MEASURES.items():
        cutoff = "@k" if cls.needs_cutoff else "" if cls.never_cut else "[@k]"
        given = ", ".join(
            f.name if f.default is None else f"{f.name}={f.default}" for f in fields(cls) if f.name != "cutoff"
        )
        table.add_row(name + cutoff.replace("[", "\\["), given, about(cls))
    console().print(table)
