"""`karat context prediction`: how well do aspects tell overall relevance?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.results import Tables, tell
from karat.judges import predict_overall


@click.command(epilog="\b\nExamples:\n  karat context prediction judgments.csv")
@of_labels()
@options.form
def prediction(given: Aspects, form: options.Form) -> None:
    """How well sets of aspects tell overall, alone and in context."""
    tell(found(given), form, given.show)


def found(given: Aspects) -> Tables:
    """The accuracy of every set of aspects."""
    return {"Prediction of overall": predict_overall(given.judgments, **given.chance)}
