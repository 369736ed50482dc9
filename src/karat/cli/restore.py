"""`karat restore`: a study that was backed up, in a new folder."""

from __future__ import annotations

import click

from karat.cli import options

EXAMPLES = """\b
Examples:
  karat restore my-study-2025-01-31-1200.zip my-study
  karat restore tonight.zip my-study --database postgresql://karat@localhost/karat"""


@click.command(epilog=EXAMPLES)
@click.argument("file")
@click.argument("folder")
@options.database
def restore(file: str, folder: str, database: str | None) -> None:
    """Put a study that karat backup wrote into a new folder; with --database, its judgments into that database."""
    from karat.study.moving import restore

    where = folder if database is None else f"{folder} and the database"
    done = restore(file, folder, database=database)
    click.echo(f"restored to {where}: {done.finding}.")
