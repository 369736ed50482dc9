"""`karat context distribution`: how do grades spread, alone and in context?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.results import Tables, tell
from karat.judges import aspect_distribution


@click.command(epilog="\b\nExamples:\n  karat context distribution judgments.csv")
@of_labels()
@options.form
def distribution(given: Aspects, form: options.Form) -> None:
    """How the grades of each aspect spread, alone and in context."""
    tell(found(given), form, given.show)


def found(given: Aspects) -> Tables:
    """The share of each grade by aspect."""
    return {"Distribution": aspect_distribution(given.judgments, **given.chance)}
