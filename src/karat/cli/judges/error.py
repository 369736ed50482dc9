"""`karat judges error`: which judges are careful, lenient, tired, or do not read?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.judges.judged import Judged, of_labels
from karat.cli.results import Tables, tell
from karat.judges import judge_table


@click.command(epilog="\b\nExamples:\n  karat judges error crowd.csv --gold gold.csv")
@of_labels(options.gold, options.level)
@options.form
def error(given: Judged, form: options.Form) -> None:
    """A row for each judge: agreement with the others, accuracy, leniency, pace, drift, and who may be a spammer."""
    tell(found(given), form, given.show)


def found(given: Judged) -> Tables:
    """The table of judges, with the errors that Dawid and Skene's model finds."""
    return {"Judges": judge_table(given.judgments, gold=given.gold, level=given.level)}
