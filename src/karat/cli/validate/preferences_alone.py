"""`karat validate votes`, `ranking` and `judges`: what preferences say without any labels."""

from __future__ import annotations

from typing import Any

import click

from karat import validity
from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.part import part
from karat.cli.results import Tables, print_result
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.records import Result

#: How many judges are shown; --json has all.
SHOWN = 10


@part(
    of_users.preferences,
    of_users.unit,
    of_users.how("votes"),
    of_users.min_strength,
    options.preferences,
    examples="karat validate votes preferences.csv --how mode",
)
def votes(users: str, by: str | None, how: str, at_least: float | None, reading: Reading) -> Tables:
    """What users answered, all in all and for each pair of systems."""
    given = Users(users, reading).preferences
    return {
        "Votes": validity.votes(given, at_least=at_least),
        "Preferred": validity.preferred(given, by=by or "query", how=how, at_least=at_least),
    }


def _with_judges(result: Result, title: str) -> None:
    """Print the ranking, and the least reliable judges where they differ."""
    print_result(result)
    if isinstance(result, validity.SystemRanking) and result.judges.height:
        click.echo()
        said = "The least reliable judges (1 is the average, 0 guesses)."
        more = result.judges.height - SHOWN
        notes = (f"{more:,} more judges, all of them with --json",) if more > 0 else ()
        print_result(Result(result.judges.head(SHOWN), said, notes))


@part(
    of_users.preferences,
    of_users.min_strength,
    click.option("--reliability", is_flag=True, help="Let judges differ in reliability."),
    options.resampling,
    options.preferences,
    examples="karat validate ranking preferences.csv --reliability",
    show=_with_judges,
)
def ranking(users: str, reading: Reading, **asked: Any) -> Tables:
    """A ranking of systems by what users prefer: Bradley and Terry's model with Davidson's ties."""
    return {"Ranking": validity.rank_systems(Users(users, reading).preferences, **asked)}


@part(of_users.preferences, options.level, options.preferences, examples="karat validate judges preferences.csv")
def judges(users: str, level: float, reading: Reading) -> Tables:
    """A row for each judge of lists side by side: the share of left, pace, traps, and who looks careless."""
    return {"Judges": validity.preference_judges(Users(users, reading).preferences, level=level)}
