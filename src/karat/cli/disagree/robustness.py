"""`karat disagree robustness`: which measures hold when another judge's labels score the ranking?"""

from __future__ import annotations

import click

from karat import validity
from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading


@click.command(epilog="\b\nExamples:\n  karat disagree robustness crowd.csv --top 2")
@click.argument("labels")
@levels.top
@levels.all_labels
@options.out
@options.study
@options.form
def robustness(
    labels: str, top: str | None, all_labels: bool, out: str | None, reading: Reading, form: options.Form
) -> None:
    """Scores of one judge's perfect ranking by another judge's labels, measure by measure."""
    read = levels.judged(reading, labels, out)
    found = validity.robustness(read, levels.top_of(top, read), all_labels=all_labels)
    levels.tell_and_write({"Robustness": found}, out, form)
