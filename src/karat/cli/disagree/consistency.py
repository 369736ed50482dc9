"""`karat disagree consistency`: do judges say the same twice?"""

from __future__ import annotations

import click

from karat import judges as analysis
from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading


@click.command(epilog="\b\nExamples:\n  karat disagree consistency crowd.csv --top 2")
@click.argument("labels")
@levels.top
@levels.all_labels
@options.out
@options.draws
@options.seed
@options.study
@options.form
def consistency(
    labels: str,
    top: str | None,
    all_labels: bool,
    out: str | None,
    draws: int,
    seed: int,
    reading: Reading,
    form: options.Form,
) -> None:
    """Judges compared with themselves, where they judged a document twice, and with each other."""
    read = levels.judged(reading, labels, out)
    wanted = levels.top_of(top, read)
    found = {
        "Overlap": analysis.overlap(read, wanted, all_labels=all_labels),
        "Consistency": analysis.consistency(read, wanted, all_labels=all_labels, draws=draws, seed=seed),
    }
    levels.tell_and_write(found, out, form)
