"""`karat validate ratings`: do measures go with how users rate whole searches?"""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.named_measures import measures_named
from karat.cli.results import print_result, tell
from karat.formats import read_ratings, read_session_lists
from karat.records import Result
from karat.validity import against_ratings

#: What is compared with ratings when no measure is asked for.
DEFAULT = ("nDCG@10", "P@10", "ERR@10", "RBP")
EXAMPLES = """\b
Examples:
  karat validate ratings ratings.csv labels.csv lists.csv -m nDCG@10 --rating satisfaction"""


@click.command(epilog=EXAMPLES)
@click.argument("ratings_file", metavar="RATINGS")
@click.argument("labels")
@click.argument("lists")
@options.measure(several=True, otherwise=", ".join(DEFAULT))
@click.option("--rating", default="rating", show_default=True, metavar="COLUMN", help="The column of the rating.")
@click.option(
    "--aggregate",
    multiple=True,
    metavar="NAME",
    show_default="mean, last, max",
    help="From steps to a search: mean, last, max, first, min, sum, discounted.",
)
@click.option("--resample", metavar="COLUMN", help="Resample these instead of sessions, such as user.")
@options.resampling
@options.study
@options.form
def ratings(
    ratings_file: str,
    labels: str,
    lists: str,
    measure: tuple[str, ...],
    rating: str,
    aggregate: tuple[str, ...],
    resample: str | None,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """Measures against users' ratings of whole searches; LISTS has session, step, doc, rank."""
    found = against_ratings(
        read_ratings(ratings_file),
        reading.study(labels).judged,
        read_session_lists(lists),
        measures_named(measure) or DEFAULT,
        rating=rating,
        aggregates=aggregate or ("mean", "last", "max"),
        by=resample,
        **chance,
    )
    tell({"Ratings": found}, form, _show)


def _show(title: str, result: Result) -> None:
    print_result(result, [name for name in result.frame.columns if name not in ("rating", "systems", "queries")])
