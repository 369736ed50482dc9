"""`karat context change`: how far do grades change when another document was read before?"""

from __future__ import annotations

from dataclasses import replace

import click

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.results import Tables, tell
from karat.context import add_company
from karat.errors import KaratError
from karat.judges import grade_change, mean_change

EXAMPLES = """\b
Examples:
  karat context change judgments.csv
  karat context change judgments.csv --documents documents.jsonl"""


@click.command(epilog=EXAMPLES)
@of_labels(options.by, options.documents)
@options.form
def change(given: Aspects, form: options.Form) -> None:
    """How far grades change when another document was read before, by how much and which way.

    With --documents also by company: after a near copy, a page of the same site, or another.
    """
    tell(found(given), form, given.show)


def found(given: Aspects) -> Tables:
    """Sizes of changes, and mean changes over all, by columns and by company."""
    tables = {
        "Size of change": grade_change(given.judgments, **given.chance),
        "Mean change": mean_change(given.judgments, level=given.chance["level"]),
    }
    for by in given.by:
        tables[f"Mean change by {by}"] = mean_change(given.judgments, by, level=given.chance["level"])
    if given.documents is not None:
        try:
            judgments = add_company(given.judgments, given.documents)
            tables["Mean change by company"] = mean_change(judgments, "company", level=given.chance["level"])
        except KaratError as error:
            mean = tables["Mean change"]
            tables["Mean change"] = replace(mean, notes=(*mean.notes, f"by company: left out ({error})"))
    return tables
