"""`karat judges clicks`: of two documents, do labels prefer the one that users click?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.judges.judged import Judged, features, of_labels
from karat.cli.results import Tables, tell
from karat.errors import BadInput
from karat.judges import against_clicks, most_clicked

EXAMPLES = """\b
Examples:
  karat judges clicks crowd.csv --clicks clicks.csv
  karat judges clicks crowd.csv --clicks clicks.csv --by wikipedia --documents docs.jsonl"""


@click.command(epilog=EXAMPLES)
@of_labels(options.gold, options.clicks, options.by, features, options.resampling)
@options.form
def clicks(given: Judged, form: options.Form) -> None:
    """Whether labels prefer what users click, and what the most clicked documents are labelled."""
    tell(found(given), form, given.show)


def found(given: Judged) -> Tables:
    """Pairs of documents by labels and by clicks, and the most clicked of each query."""
    clicked = given.clicks
    if clicked is None:
        raise BadInput("clicks are needed: give them with --clicks")
    tables = given.each(
        "Against clicks", lambda by: against_clicks(given.panel, clicked, by=by, pairs="both", **given.chance)
    )
    return tables | {"Most clicked": most_clicked(given.panel, clicked, **given.chance)}
