"""`karat validate votes`: what did users answer, pair by pair?"""

from __future__ import annotations

import click

from karat import validity
from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import tell
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users


@click.command(epilog="\b\nExamples:\n  karat validate votes preferences.csv --how mode")
@of_users.preferences
@of_users.unit
@of_users.how("votes")
@of_users.min_strength
@options.preferences
@options.form
def votes(
    users: str, unit: str | None, how: str, min_strength: float | None, reading: Reading, form: options.Form
) -> None:
    """What users answered, all in all and for each pair of systems."""
    given = Users(users, reading).preferences
    found = {
        "Votes": validity.votes(given, at_least=min_strength),
        "Preferred": validity.preferred(given, by=unit or "query", how=how, at_least=min_strength),
    }
    tell(found, form, of_users.show)
