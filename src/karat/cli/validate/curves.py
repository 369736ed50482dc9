"""`karat validate curves`: how does agreement go with the share of ties and the weight of context?"""

from __future__ import annotations

from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import print_result, tell
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.errors import BadInput
from karat.records import Result
from karat.validity import preference_curves
from karat.validity.agreement_curves import CONDITIONS

#: What is compared with users when no measure is asked for.
DEFAULT = ("CG@5", "DCG@5", "ERR@5", "CCG@5")
EXAMPLES = """\b
Examples:
  karat validate curves preferences.csv context.csv a.run b.run -m CG@5,CCG@5"""


@click.command(epilog=EXAMPLES)
@of_users.scored("PREFERENCES")
@options.measure(several=True, otherwise=", ".join(DEFAULT))
@of_users.unit
@of_users.depth
@of_users.how("mode")
@click.option("--condition", multiple=True, metavar="NAME=SHARE", help="A share of ties, or `users` for as theirs.")
@click.option("--context", default=0.5, show_default=True, help="The context weight along the shares of ties.")
@click.option("--strong-from", type=float, metavar="STRENGTH", help="A strong preference has this strength.")
@options.resampling
@options.study
@options.form
def curves(
    users: str,
    files: tuple[str, ...],
    measure: tuple[str, ...],
    unit: str | None,
    depth: int | None,
    how: str,
    condition: tuple[str, ...],
    context: float,
    strong_from: float | None,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """Agreement of measures with users along shares of ties and weights of context."""
    given = Users.typed(reading, users, files, measure)
    found = preference_curves(
        given.preferences,
        given.labels,
        given.runs,
        given.measures or DEFAULT,
        conditions=_conditions(condition) or CONDITIONS,
        context=context,
        strong_from=strong_from,
        by=unit,
        how=how,
        depth=depth,
        **chance,
    )
    tell({"Curves": found}, form, _show)


def _conditions(texts: tuple[str, ...]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for text in texts:
        name, _, share = text.partition("=")
        try:
            found[name] = None if share == "users" else float(share)
        except ValueError:
            raise BadInput.at("--condition", expected="NAME=SHARE, as few=0.1", found=f'"{text}"') from None
    return found


def _show(title: str, result: Result) -> None:
    """The ends and the middle of the curves along context, which fit a terminal."""
    rows = result.frame.filter((pl.col("curve") == "context") & ~pl.col("context").is_between(0.01, 0.49))
    rows = rows.filter(~pl.col("context").is_between(0.51, 0.99) | pl.col("context").is_nan())
    names = ["condition", "measure", "context", "preference", "ties", "jaccard", "jaccard_low", "jaccard_high"]
    more = "the curves along shares of ties and the other context weights: with --json"
    kept = rows.select(*names, "kappa", "kappa_low", "kappa_high", "n")
    print_result(Result(kept, result.finding, (*result.notes, more)))
