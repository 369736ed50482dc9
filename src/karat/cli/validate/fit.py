"""`karat validate fit`: which parameters make a measure agree with users?"""

from __future__ import annotations

from typing import Any, Literal

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import tell
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.errors import BadInput
from karat.records import Result
from karat.validity import FittedMeasure, fit_measure
from karat.validity.measure_variants import GRIDS

EXAMPLES = """\b
Examples:
  karat validate fit preferences.csv qrels.txt a.run b.run -m "RBP(p=0.8)" --vary p
  karat validate fit preferences.csv qrels.txt runs/*.run -m DCG@10 --vary discount --vary gains"""


@click.command(epilog=EXAMPLES)
@of_users.scored("PREFERENCES")
@options.measure(several=True, otherwise="RBP(p=0.8) at --depth")
@of_users.unit
@of_users.depth
@of_users.min_strength
@click.option(
    "--vary",
    multiple=True,
    required=True,
    metavar="NAME[=X,Y,...]",
    help="Parameters of the measure to choose, maybe from these values.",
)
@click.option(
    "--test",
    default="likelihood",
    show_default=True,
    type=click.Choice(["likelihood", "agreement"]),
    help="The gain that decides, in the votes' likelihood or in how many agree.",
)
@options.folds
@options.resampling
@options.study
@options.form
def fit(
    users: str,
    files: tuple[str, ...],
    measure: tuple[str, ...],
    unit: str | None,
    depth: int | None,
    min_strength: float | None,
    vary: tuple[str, ...],
    test: Literal["likelihood", "agreement"],
    folds: int,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """A measure's parameters fitted to what users prefer, and what that gains on queries left out."""
    given = Users.typed(reading, users, files, measure)
    found = {
        name: fit_measure(
            given.preferences,
            given.labels,
            given.runs,
            name,
            _values(vary),
            test=test,
            folds=folds,
            by=unit,
            at_least=min_strength,
            depth=depth,
            **chance,
        )
        for name in given.measures_or(["RBP(p=0.8)"], depth)
    }
    tell(found, form, _show)


def _values(texts: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    found = {}
    for text in texts:
        name, _, values = text.partition("=")
        try:
            found[name] = tuple(float(value) for value in values.split(",")) if values else GRIDS.get(name, ())
        except ValueError:
            raise BadInput.at("--vary", expected="NAME or NAME=X,Y,..., as p=0.5,0.8", found=f'"{text}"') from None
    return found


def _show(title: str, result: Result) -> None:
    of_users.show(title, result)
    if isinstance(result, FittedMeasure):
        click.echo()
        held = result.held_out.drop("likelihood_gain_low", "likelihood_gain_high")
        of_users.show(title, Result(held, "On queries that were not fitted to:"))
