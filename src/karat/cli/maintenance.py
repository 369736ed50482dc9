"""`karat backup`: a study in one file."""

from __future__ import annotations

import click

from karat.cli import options

BACKUP_EXAMPLES = """\b
Examples:
  karat backup my-study                              (writes my-study-2025-01-31-1200.zip)
  karat backup my-study /backups/tonight.zip
  karat backup my-study --database postgresql://karat@localhost/karat"""


@click.command(epilog=BACKUP_EXAMPLES)
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

    from karat.cli.terminal import tell_notes
    from karat.study.backup import back_up
    from karat.study.folders import elsewhere

    made = file or f"{Path(folder).absolute().name}-{datetime.now():%Y-%m-%d-%H%M}.zip"
    done = back_up(folder, made, database=database)
    click.echo(f"backed up to {made}: {done.finding}.")
    tell_notes(elsewhere(Path(folder), database))


COPY_EXAMPLES = """\b
Examples:
  karat copy my-study postgresql://karat@localhost/karat     (then: karat serve my-study --database ...)
  karat copy my-study my-study-2
  karat copy my-study --database postgresql://karat@localhost/karat back-home"""


@click.command(epilog=COPY_EXAMPLES)
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

    from karat.cli.terminal import tell_notes
    from karat.study.backup import copy_study
    from karat.study.folders import elsewhere, without_password

    done = copy_study(folder, target, database=database)
    click.echo(f"copied to {without_password(target)}: {done.finding}.")
    tell_notes(elsewhere(Path(folder), database))


RESTORE_EXAMPLES = """\b
Examples:
  karat restore my-study-2025-01-31-1200.zip my-study
  karat restore tonight.zip my-study --database postgresql://karat@localhost/karat"""


@click.command(epilog=RESTORE_EXAMPLES)
@click.argument("file")
@click.argument("folder")
@options.database
def restore(file: str, folder: str, database: str | None) -> None:
    """Put a study that karat backup wrote into a new folder; with --database, its judgments into that database."""
    from karat.study.backup import restore

    where = folder if database is None else f"{folder} and the database"
    done = restore(file, folder, database=database)
    click.echo(f"restored to {where}: {done.finding}.")


LEADS_EXAMPLES = """\b
Examples:
  karat leads my-study                (who there is)
  karat leads my-study --add ana      (a password is made and shown once)
  karat leads my-study --remove ana"""


@click.command(epilog=LEADS_EXAMPLES)
@click.argument("folder")
@click.option("--add", metavar="NAME", help="Add a lead, or give one a new password; it is shown this once.")
@click.option("--remove", metavar="NAME", help="Let a lead sign in no more; what the lead did stays.")
@options.database
def leads(folder: str, add: str | None, remove: str | None, database: str | None) -> None:
    """List, add or remove the leads of a study, also while it is served.

    Each lead has a name and a password of their own. What a lead does (invite, pause, reject, withdraw, add tasks) is
    in the study's log under that name: karat export my-study log.jsonl --kind log.
    """
    from karat.cli.open_study import opened_study
    from karat.errors import BadInput, MissingExtra

    try:
        from karat.study.people import all_leads, lead_named, remove_lead
        from karat.web.sign_in import set_password
    except ImportError:
        raise MissingExtra.named("collect", "karat leads") from None

    if add is not None and not 0 < len(add.strip()) <= 200:
        raise BadInput.at("--add", expected="a name of 1 to 200 characters", found=f'"{add[:30]}"')
    with opened_study(folder, database) as opened:
        if remove is not None:
            remove_lead(opened.store, remove)
        if add is not None:
            what = "a new password" if lead_named(opened.store, add) is not None else "the password"
            password = set_password(opened.store, add)
            click.echo(f"{add} signs in with {what} {password} (shown this once).", err=True)
        names = all_leads(opened.store)
    click.echo("\n".join(names) if names else "Nobody yet: karat serve makes a lead, or --add a name.")
