"""What the parts of `karat disagree` share: options, the level that users want, and how tables are told."""

from __future__ import annotations

import click

from karat.cli.inputs import Reading, with_kinds
from karat.cli.option_values import as_one
from karat.cli.options import refuse
from karat.cli.outputs import keep_inputs, write_csv
from karat.cli.results import Tables
from karat.errors import BadInput
from karat.records import Judgments

top = click.option("--top", metavar="LEVEL", help="The level that users want, by its grade or name.")
all_labels = click.option("--all-labels", is_flag=True, help="Use also labels asked only where the first two differed.")
min_labels = click.option("--min-labels", default=2, metavar="N", help="Use documents with at least so many labels.")
max_labels = click.option(
    "--max-labels", "most_labels", type=int, metavar="N", help="Use the first N labels of each document only."
)
#: Which labels are used.
used = as_one(min_labels, max_labels, all_labels)
at_least = click.option("--at-least", type=int, metavar="M", help="At least so many users say top.")
of_users = click.option("--of", "of_users", type=int, metavar="N", help="Of so many users, the judge among them.")


def judged(
    reading: Reading, labels: str, out: str | None, queries: str | None = None, column: str | None = None
) -> Judgments:
    """The labels, with what is known of their queries; --out may not name a file that is read."""
    keep_inputs("--out", out, [labels, queries])
    study = reading.study(labels, only=["queries"], queries=queries)
    if study.queries is not None and column not in study.queries.frame.columns:
        refuse("queries", why=f"it has no column {column}")
    return with_kinds(study.judged, study.queries)


def level_named(text: str | None, judgments: Judgments) -> float | None:
    """A level by its number, or by its name on the scale; none where none is named."""
    if text is None:
        return None
    names = {level.name.casefold(): level.grade for level in judgments.scale or ()}
    if text.casefold() in names:
        return names[text.casefold()]
    try:
        return float(text)
    except ValueError:
        raise BadInput.at("--top", expected="a level, as a number or a name of --scale", found=f'"{text}"') from None


def kept(found: Tables, out: str | None) -> Tables:
    """The tables, the last of them written to a file where one is named."""
    *_, last = found.values()
    if out is not None:
        write_csv(last.frame.drop("draws", strict=False), out)
    return found
