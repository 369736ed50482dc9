"""`karat validate clicks`, `ratings` and `reasons`: other signs of what users think."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import polars as pl

import karat as kt
from karat.cli import options
from karat.cli.inputs import Reading, measures_named
from karat.cli.options import columns
from karat.cli.output_formats import keep_inputs, write_csv
from karat.cli.results import Tables, print_result
from karat.cli.subcommand import part
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.formats import read_comments, read_ratings, read_session_lists
from karat.records import Result
from karat.users.agreement_curves import MEASURES
from karat.users.reasons import NAMES

#: What is compared with ratings when no measure is asked for.
RATINGS = ("nDCG@10", "P@10", "ERR@10", "RBP")


@part(
    of_users.scored("CLICKS"),
    options.measure(several=True, otherwise=", ".join(MEASURES)),
    options.depth(5),
    options.resampling,
    options.scored,
    examples="karat validate clicks clicks.csv qrels.txt a.run -m DCG@5",
)
def clicks(
    users: str, files: tuple[str, ...], measure: tuple[str, ...], depth: int, reading: Reading, **chance: Any
) -> Tables:
    """Measures against click rates, over queries, which says less: easy queries get clicks whatever the ranking."""
    given = Users.typed(reading, users, files, measure)
    found = kt.users.against_click_rates(
        given.clicks, given.labels, given.runs, given.measures or MEASURES, cutoff=depth, **chance
    )
    return {"Click rates": found}


@part(
    click.argument("users", metavar="RATINGS"),
    click.argument("labels"),
    click.argument("lists"),
    options.measure(several=True, otherwise=", ".join(RATINGS)),
    click.option("--rating", default="rating", metavar="COLUMN", help="The column of the rating."),
    click.option(
        "--aggregate",
        multiple=True,
        metavar="NAME",
        show_default="mean, last, max",
        help="From steps to a search: mean, last, max, first, min, sum, discounted.",
    ),
    click.option("--resample", "by", metavar="COLUMN", help="Resample these instead of sessions, such as user."),
    options.resampling,
    options.scored,
    examples="karat validate ratings ratings.csv labels.csv lists.csv -m nDCG@10 --rating satisfaction",
)
def ratings(
    users: str,
    labels: str,
    lists: str,
    measure: tuple[str, ...],
    aggregate: tuple[str, ...],
    reading: Reading,
    **asked: Any,
) -> Tables:
    """Measures against users' ratings of whole searches; LISTS has session, step, doc, rank."""
    found = kt.users.against_ratings(
        read_ratings(users),
        reading.study(labels).judged,
        read_session_lists(lists),
        measures_named(measure) or RATINGS,
        aggregates=aggregate or ("mean", "last", "max"),
        **asked,
    )
    return {"Ratings": found}


def _of_coded(result: Result, title: str) -> None:
    """Print a table, of a model the classes that somebody coded."""
    if isinstance(result, kt.users.ReasonModel):
        result = replace(result, frame=result.frame.filter(pl.col("coded") > 0))
    print_result(result)


@part(
    of_users.preferences,
    click.option("--coded", metavar="FILE", help="Comments coded by hand, to learn from."),
    options.folds,
    options.out,
    options.resampling,
    columns,
    examples="""karat validate reasons preferences.csv
karat validate reasons preferences.csv --coded coded.csv --out suggested.csv""",
    show=_of_coded,
)
def reasons(users: str, coded: str | None, out: str | None, **asked: Any) -> Tables:
    """Why users preferred it: their comments sorted into classes, by rules, or as learned from coded ones.

    --out writes the suggested classes of each comment.
    """
    keep_inputs("--out", out, [users, coded])
    comments = read_comments(users)
    if coded is None:
        options.refuse(*asked, why="only what is learned from --coded is tested and drawn")
        found: dict[str, Result] = {"Reasons": kt.users.reason_table(comments)}
        suggested = kt.users.reasons_by_rules(comments)
    else:
        model = kt.users.learn_reasons(read_comments(coded), **asked)
        suggested = model.suggest(comments)
        table = kt.users.reason_table(comments.drop("codes", strict=False), suggested.select(NAMES).to_numpy())
        found = {"Model": model, "Reasons": table}
    if out is not None:
        write_csv(suggested, out)
    return found
