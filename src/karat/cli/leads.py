"""`karat leads`: who may lead a study."""

from __future__ import annotations

import click

from karat.cli import options

EXAMPLES = """\b
Examples:
  karat leads my-study                (who there is)
  karat leads my-study --add ana      (a password is made and shown once)
  karat leads my-study --remove ana"""


@click.command(epilog=EXAMPLES)
@click.argument("folder")
@click.option("--add", metavar="NAME", help="Add a lead, or give one a new password; it is shown this once.")
@click.option("--remove", metavar="NAME", help="Let a lead sign in no more; what the lead did stays.")
@options.database
def leads(folder: str, add: str | None, remove: str | None, database: str | None) -> None:
    """List, add or remove the leads of a study, also while it is served.

    Each lead has a name and a password of their own. What a lead does (invite, pause, reject, withdraw, add tasks) is
    in the study's log under that name: karat export my-study log.jsonl --kind log.
    """
    from karat.cli.study import opened_study
    from karat.errors import BadInput, MissingExtra

    try:
        from karat.collect.people import set_password
        from karat.store.people import all_leads, lead_named, remove_lead
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
