"""`karat validate tables`: the tables of Sanderson et al. for a study of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import print_json, show_all
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.validity import agreement_tables


@click.command(epilog="\b\nExamples:\n  karat validate tables preferences.csv diversity.qrels runs/*.run")
@of_users.scored("PREFERENCES")
@options.queries
@of_users.how("votes")
@of_users.min_strength
@options.resampling
@options.study
@options.as_json
def tables(
    users: str,
    files: tuple[str, ...],
    queries: str | None,
    how: str,
    min_strength: float | None,
    chance: dict[str, Any],
    reading: Reading,
    as_json: bool,
) -> None:
    """The tables of Sanderson et al. (SIGIR 2010), from these preferences; in JSON each under its number."""
    given = Users(users, reading, files, queries_path=queries)
    found = agreement_tables(
        given.preferences,
        given.labels,
        given.runs,
        how=how,
        at_least=min_strength,
        queries=given.queries,
        **chance,
    )
    if as_json:
        print_json({name: table.to_dict() for name, table in found.items()})
        return
    named = {name: replace(table, finding=f"{name}. {table.finding}") for name, table in found.items()}
    show_all(named.items(), of_users.show)
