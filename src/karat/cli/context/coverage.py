"""`karat context coverage`: how often do judges have an answer to each aspect?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.results import Tables, tell
from karat.judges import aspect_coverage


@click.command(epilog="\b\nExamples:\n  karat context coverage judgments.csv")
@of_labels()
@options.form
def coverage(given: Aspects, form: options.Form) -> None:
    """How often judges have an answer to each aspect, alone and in context."""
    tell(found(given), form, given.show)


def found(given: Aspects) -> Tables:
    """The share of answers by aspect."""
    return {"Coverage": aspect_coverage(given.judgments, **given.chance)}
