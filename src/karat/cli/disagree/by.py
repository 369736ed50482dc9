"""`karat disagree by`: do users disagree more about some queries or places in a list than about others?"""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading
from karat.judges import disagreement_by

EXAMPLES = """\b
Examples:
  karat disagree by crowd.csv kind --queries queries.csv --top 2 --min-labels 6
  karat disagree by crowd.csv list_quality
  karat disagree by crowd.csv top10"""


@click.command(epilog=EXAMPLES)
@click.argument("labels")
@click.argument("column")
@levels.top
@levels.min_labels
@levels.max_labels
@levels.all_labels
@options.queries
@options.out
@options.resampling
@options.study
@options.form
def by(
    labels: str,
    column: str,
    top: str | None,
    min_labels: int,
    max_labels: int | None,
    all_labels: bool,
    queries: str | None,
    out: str | None,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """How far users disagree by a column.

    COLUMN is one of LABELS or of --queries, such as kind; list_quality, how good a query's list is; or top5, top10,
    ..., whether a document is that high in it.
    """
    read = levels.judged(reading, labels, out, queries)
    found = disagreement_by(
        read,
        column,
        levels.top_of(top, read),
        min_labels=min_labels,
        most_labels=max_labels,
        all_labels=all_labels,
        **chance,
    )
    levels.tell_and_write({f"By {column}": found}, out, form)
