"""`karat context agreement`: do judges agree, alone and in context?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.results import Tables, tell
from karat.judges import setting_agreement


@click.command(epilog="\b\nExamples:\n  karat context agreement judgments.csv")
@of_labels()
@options.form
def agreement(given: Aspects, form: options.Form) -> None:
    """Whether judges agree on each aspect, alone and in context."""
    tell(found(given), form, given.show)


def found(given: Aspects) -> Tables:
    """Agreement by aspect and setting."""
    return {"Agreement": setting_agreement(given.judgments, **given.chance)}
