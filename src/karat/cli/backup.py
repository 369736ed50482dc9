"""`karat backup`: a study in one file."""

from __future__ import annotations

import click

from karat.cli import options

EXAMPLES = """\b
Examples:
  karat backup my-study                              (writes my-study-2025-01-31-1200.zip)
  karat backup my-study /backups/tonight.zip
  karat backup my-study --database postgresql://karat@localhost/karat"""


@click.command(epilog=EXAMPLES)
@click.argument("folder")
@click.argument("file", required=False)
@options.database
def backup(folder: str, file: str | None, database: str | None) -> None:
    """Write a study into one file, its folder and its database as they are at one moment, also while it is served.

    A plain copy of karat.db while judges answer may lack what they said last: SQLite keeps that in a file beside it.
    karat restore puts the study back.
    """
    from datetime import datetime
    from pathlib import Path

    from karat.cli.messages import tell_notes
    from karat.study.elsewhere import elsewhere
    from karat.study.moving import back_up

    made = file or f"{Path(folder).absolute().name}-{datetime.now():%Y-%m-%d-%H%M}.zip"
    done = back_up(folder, made, database=database)
    click.echo(f"backed up to {made}: {done.finding}.")
    tell_notes(elsewhere(Path(folder), database))
