"""`karat validate judges`: who answered, how fast, and more often for one side?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import tell
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.validity import preference_judges


@click.command(epilog="\b\nExamples:\n  karat validate judges preferences.csv")
@of_users.preferences
@options.level
@options.preferences
@options.form
def judges(users: str, level: float, reading: Reading, form: options.Form) -> None:
    """A row for each judge of lists side by side: the share of left, pace, traps, and who looks careless."""
    tell({"Judges": preference_judges(Users(users, reading).preferences, level=level)}, form, of_users.show)
