"""`karat validate ranking`: which system do users like best, without any labels?"""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import print_result, tell
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.records import Result
from karat.validity import SystemRanking, rank_systems

#: How many judges are shown; --json has all.
SHOWN = 10


@click.command(epilog="\b\nExamples:\n  karat validate ranking preferences.csv --reliability")
@of_users.preferences
@of_users.min_strength
@click.option("--reliability", is_flag=True, help="Let judges differ in reliability.")
@options.resampling
@options.preferences
@options.form
def ranking(
    users: str,
    min_strength: float | None,
    reliability: bool,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """A ranking of systems by what users prefer: Bradley and Terry's model with Davidson's ties."""
    given = Users(users, reading).preferences
    found = rank_systems(given, at_least=min_strength, reliability=reliability, **chance)
    tell({"Ranking": found}, form, _show)


def _show(title: str, result: Result) -> None:
    of_users.show(title, result)
    if isinstance(result, SystemRanking) and result.judges.height:
        click.echo()
        said = "The least reliable judges (1 is the average, 0 guesses)."
        more = result.judges.height - SHOWN
        notes = (f"{more:,} more judges, all of them with --json",) if more > 0 else ()
        print_result(Result(result.judges.head(SHOWN), said, notes))
