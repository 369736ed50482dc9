"""`karat validate clicks`: do measures go with click rates, over queries?"""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import tell
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.validity import against_click_rates

#: What is compared with clicks when no measure is asked for.
DEFAULT = ("CG@5", "DCG@5", "ERR@5", "CCG@5")


@click.command(epilog="\b\nExamples:\n  karat validate clicks clicks.csv qrels.txt a.run -m DCG@5")
@of_users.scored("CLICKS")
@options.measure(several=True, otherwise=", ".join(DEFAULT))
@options.depth(5)
@options.resampling
@options.study
@options.form
def clicks(
    users: str,
    files: tuple[str, ...],
    measure: tuple[str, ...],
    depth: int,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """Measures against click rates, over queries, which says less: easy queries get clicks whatever the ranking."""
    given = Users.typed(reading, users, files, measure)
    found = against_click_rates(
        given.clicks, given.labels, given.runs, given.measures or DEFAULT, cutoff=depth, **chance
    )
    tell({"Click rates": found}, form, of_users.show)
