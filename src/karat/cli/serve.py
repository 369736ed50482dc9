"""`karat serve`: the judging app of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options

if TYPE_CHECKING:
    from karat.study.store import Store

EXAMPLES = """\b
Examples:
  karat serve my-study
  karat serve my-study --port 9000 --lead ana       (a lead's name; the password is shown once)
  karat serve my-study --database postgresql://karat@localhost/karat --workers 4
  karat serve my-study --host 0.0.0.0 --invite ana --invite ben     (for the office network, with links)
  karat serve my-study --public-url https://judge.example.org       (behind a proxy that does https)"""


@click.command(epilog=EXAMPLES)
@click.argument("folder")
@options.database
@click.option("--host", default="127.0.0.1", help="The address to listen on; 0.0.0.0 for others in the network.")
@click.option("--port", default=8000, type=click.IntRange(1, 65535), help="The port to listen on.")
@click.option("--lead", default="lead", help="The name with which the lead signs in.")
@click.option("--invite", "invited", metavar="NAME", multiple=True, help="Invite a judge and show the personal link.")
@click.option("--new-password", is_flag=True, help="Give the lead a new password and show it.")
@click.option("--public-url", metavar="URL", help="The address that others open, for invite links.")
@click.option("--https", is_flag=True, help="The app is reached through https only: a proxy in front does that.")
@click.option(
    "--workers", default=1, type=click.IntRange(1, 64), help="Processes that serve, for many judges on PostgreSQL."
)
def serve(
    folder: str,
    database: str | None,
    host: str,
    port: int,
    lead: str,
    invited: tuple[str, ...],
    new_password: bool,
    public_url: str | None,
    https: bool,
    workers: int,
) -> None:
    """Serve a study: judges judge in a browser, the lead watches.

    Tasks of the folder's task file (or the top of its runs) are loaded; loading again adds only what is new. All that
    judges say is in the database as soon as they see the next task.
    """
    import os
    from contextlib import ExitStack
    from pathlib import Path
    from urllib.parse import urlsplit

    from karat.cli.open_study import alone_serving, opened_study
    from karat.errors import BadInput, MissingExtra
    from karat.formats.study_folder import read_study
    from karat.study.backup import left_in_folder
    from karat.study.folders import remember

    try:
        from karat.study.database import file_of
        from karat.study.people import lead_named
        from karat.web.addresses import here_only, public_address, served_at
        from karat.web.server import Serving, run
        from karat.web.sign_in import set_password
        from karat.web.unknown_references import references_to_nothing
        from karat.web.webhooks import SECRET, Webhooks, secret_of
    except ImportError:
        raise MissingExtra.named("collect", "karat serve") from None

    _check_free(host, port)
    address = served_at(host, port) if public_url is None else public_address(public_url)
    https = https or address.startswith("https:")
    with ExitStack() as held:
        webhook = read_study(folder).webhook  # what is wrong with the folder comes first
        secret = None if webhook is None else secret_of(os.environ.get(SECRET))
        file = file_of(database or str(Path(folder) / "karat.db"))
        if file is not None and workers > 1:
            raise BadInput.at(
                "--workers",
                expected="1 with SQLite, which has one writer",
                found=str(workers),
                remedy="use PostgreSQL (--database), or leave it out",
            )
        if file is not None:
            held.enter_context(alone_serving(file, address))
        opened = held.enter_context(opened_study(folder, database, load=True))
        store, study = opened.store, opened.folder.study
        material = opened.material()
        left = None if database is None else left_in_folder(opened.folder.path, store)
        if database is not None and left is None:
            remember(opened.folder.path, database)
        for note in [*opened.notes, *references_to_nothing(store, material), *([left] if left else [])]:
            click.echo(note, err=True)
        password = set_password(store, lead) if new_password or lead_named(store, lead) is None else None
        if password is not None:
            click.echo(f"The lead signs in as {lead} with the password {password} (shown this once).", err=True)
        here = (
            " (this machine only; --host 0.0.0.0 is for the network)"
            if here_only(urlsplit(address).hostname or "")
            else ""
        )
        for name in invited:
            click.echo(_invite(store, name, address), err=True)
        if webhook is not None:
            click.echo(f"{' and '.join(webhook.events)}: told to {webhook.url}.", err=True)
        click.echo(f"{study.title}: judges at {address}, the lead at {address}/lead{here}. Stop with Ctrl-C.", err=True)
        webhooks = None if webhook is None or secret is None else Webhooks(webhook, study, store, secret)
        # Behind a proxy whose address was not named, links begin as the lead's own request did.
        named = public_url is not None or not https
        place = str(Path(folder) / "karat.db") if database is None else database
        serving = Serving(folder, place, host, port, https, address if named else "", hosts_known=named)
        run(serving, opened.folder, store, webhooks, workers=workers)


def _invite(store: Store, name: str, address: str) -> str:
    """Invite a judge, and say the link; who has one keeps it."""
    from karat.study.people import add_judge, judge_named

    if judge_named(store, name) is not None:
        return f"{name} was invited before and keeps the link; the lead's page makes a new one."
    return f"{name}: {address}/join/{add_judge(store, name=name)[1]} (a personal link, shown this once)"


def _check_free(host: str, port: int) -> None:
    """Say at once when somebody else listens there."""
    import socket

    from karat.errors import BadInput

    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except OSError as error:
        raise BadInput.at(
            f"{host}:{port}",
            expected="a free port of this machine",
            found=(error.strerror or str(error)).lower(),
            remedy="choose others with --host and --port",
        ) from None
