"""`karat context correlation`: which aspects go with overall relevance, and change together?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.results import Tables, tell
from karat.judges import change_correlation, overall_correlation


@click.command(epilog="\b\nExamples:\n  karat context correlation judgments.csv --json")
@of_labels()
@options.form
def correlation(given: Aspects, form: options.Form) -> None:
    """Which aspects go with overall, alone and in context, and which change together."""
    tell(found(given), form, given.show)


def found(given: Aspects) -> Tables:
    """Correlations with overall, and of changes where there are labels in context."""
    tables = {"Correlation with overall": overall_correlation(given.judgments, **given.chance)}
    if given.judgments.has("context"):
        tables["Correlation of changes"] = change_correlation(given.judgments, **given.chance)
    return tables
