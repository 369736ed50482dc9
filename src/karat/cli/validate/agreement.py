"""`karat validate agreement`: how often does a measure prefer the system that users prefer?"""

from __future__ import annotations

from typing import Any

import click

from karat import validity
from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import print_result, tell
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.records import Result

#: What is compared with users when no measure is asked for, down to what they saw.
DEFAULT = ("nDCG", "RR", "P", "ERR")

EXAMPLES = """\b
Examples:
  karat validate agreement preferences.csv qrels.txt a.run b.run -m nDCG@10,P@10
  karat validate my-study
  karat validate agreement preferences.csv diversity.qrels runs/*.run -m alpha_nDCG@10 --split difference
  karat validate agreement preferences.csv diversity.qrels runs/*.run --unit subtopic --split zero --split kind
      --queries topics.xml --json"""


@click.command(epilog=EXAMPLES)
@of_users.scored("PREFERENCES")
@options.measure(several=True, otherwise="nDCG, RR, P and ERR at --depth")
@of_users.unit
@of_users.depth
@click.option("--split", multiple=True, metavar="NAME", help="difference, zero, or a column of --queries such as kind.")
@options.queries
@click.option(
    "--ties", default="out", show_default=True, type=click.Choice(["out", "in"]), help="Pairs that a measure ties."
)
@of_users.how("votes")
@of_users.min_strength
@options.profile
@options.resampling
@options.study
@options.form
def agreement(
    users: str,
    files: tuple[str, ...],
    measure: tuple[str, ...],
    unit: str | None,
    depth: int | None,
    split: tuple[str, ...],
    queries: str | None,
    ties: str,
    how: str,
    min_strength: float | None,
    profile: str,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """How often a measure prefers the system that users prefer, over all pairs of systems that they compared.

    Tests are by query, and allow for the number of measures.
    """
    given = Users.typed(reading, users, files, measure, queries)
    found = validity.agreement(
        given.preferences,
        given.labels,
        given.runs,
        given.measures_or(DEFAULT, depth),
        by=unit,
        how=how,
        at_least=min_strength,
        split=split,
        ties=ties,
        queries=given.queries,
        profile=profile,
        depth=depth,
        **chance,
    )

    def show(title: str, result: Result) -> None:
        _show(found)

    tell({"Agreement": found}, form, show)


def _show(found: validity.Agreement) -> None:
    """Print the agreement, and what is between measures and between parts."""
    shown = ["measure", "split", "agree", "equal", "disagree", "ties", "n", "agree_share", "p", "p_adjusted"]
    print_result(found, shown)
    if found.between_measures.height:
        click.echo()
        names = ["first", "second", "difference", "sign_p", "p_adjusted", "better"]
        print_result(Result(found.between_measures, "Between measures, on the same pairs:"), names)
    if found.between_splits.height:
        click.echo()
        names = ["measure", "first", "second", "first_share", "second_share", "welch_p", "p_adjusted"]
        print_result(Result(found.between_splits, "Between parts:"), names)
