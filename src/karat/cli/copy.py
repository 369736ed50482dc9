"""`karat copy`: a whole study to another folder or database."""

from __future__ import annotations

import click

from karat.cli import options

EXAMPLES = """\b
Examples:
  karat copy my-study postgresql://karat@localhost/karat     (then: karat serve my-study --database ...)
  karat copy my-study my-study-2
  karat copy my-study --database postgresql://karat@localhost/karat back-home"""


@click.command(epilog=EXAMPLES)
@click.argument("folder")
@click.argument("target", metavar="TARGET")
@options.database
def copy(folder: str, target: str, database: str | None) -> None:
    """Copy a study to TARGET, a database's URL or (files and all) a new folder, also while it is served.

    All goes along: tasks, people and their links, sessions, what is held, and the whole log. The copy is of one moment,
    and both sides are compared row by row before it counts. What judges answer afterwards is in the old place only:
    stop serving there first when you move.
    """
    from pathlib import Path

    from karat.cli.messages import tell_notes
    from karat.study.elsewhere import elsewhere, without_password
    from karat.study.moving import copy_study

    done = copy_study(folder, target, database=database)
    click.echo(f"copied to {without_password(target)}: {done.finding}.")
    tell_notes(elsewhere(Path(folder), database))
