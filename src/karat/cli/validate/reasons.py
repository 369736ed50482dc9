"""`karat validate reasons`: why did users prefer it?"""

from __future__ import annotations

from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.outputs import keep_inputs
from karat.cli.results import tell
from karat.cli.validate import users as of_users
from karat.formats import read_comments
from karat.formats.csv import write_csv
from karat.formats.open_files import write_bytes
from karat.records import Result
from karat.validity import ReasonModel, learn_reasons, reason_table, reasons_by_rules
from karat.validity.reason_classes import NAMES

EXAMPLES = """\b
Examples:
  karat validate reasons preferences.csv
  karat validate reasons preferences.csv --coded coded.csv --out suggested.csv"""


@click.command(epilog=EXAMPLES)
@of_users.preferences
@click.option("--coded", metavar="FILE", help="Comments coded by hand, to learn from.")
@options.folds
@options.out
@options.resampling
@options.form
def reasons(
    users: str, coded: str | None, folds: int, out: str | None, chance: dict[str, Any], form: options.Form
) -> None:
    """Why users preferred it: their comments sorted into classes, by rules, or as learned from coded ones.

    --out writes the suggested classes of each comment.
    """
    keep_inputs("--out", out, [users, coded])
    comments = read_comments(users)
    if coded is None:
        found: dict[str, Result] = {"Reasons": reason_table(comments)}
        suggested = reasons_by_rules(comments)
    else:
        model = learn_reasons(read_comments(coded), folds=folds, **chance)
        suggested = model.suggest(comments)
        table = reason_table(comments.drop("codes", strict=False), suggested.select(NAMES).to_numpy())
        found = {"Model": model, "Reasons": table}
    if out is not None:
        write_bytes(out, write_csv(suggested))
    tell(found, form, _show)


def _show(title: str, result: Result) -> None:
    if isinstance(result, ReasonModel):
        result = Result(result.frame.filter(pl.col("coded") > 0), result.finding, result.notes)
    of_users.show(title, result)
