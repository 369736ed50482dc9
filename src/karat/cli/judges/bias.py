"""`karat judges bias`: which queries and documents do judges rate too high or too low?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.judges.judged import Judged, features, of_labels
from karat.cli.results import Tables, tell
from karat.errors import BadInput
from karat.judges import find_bias
from karat.records import Judgments

EXAMPLES = """\b
Examples:
  karat judges bias crowd.csv --gold gold.csv --documents docs.jsonl --queries queries.csv
  karat judges bias llm.csv --gold gold.csv --runs bm25.run --runs neural.run"""


@click.command(epilog=EXAMPLES)
@of_labels(options.gold, features, options.judges_are, options.level)
@options.form
def bias(given: Judged, form: options.Form) -> None:
    """Slices of queries and documents that judges rate too high or too low, found without naming them.

    Looked through are the columns of LABELS and the features that --documents, --queries and --runs allow: wikipedia,
    query_in_url, root_url, url_depth, domain, query_length, navigational, document_length, rank_shown, shown_by.
    """
    tell(found(given), form, given.show)


def found(given: Judged) -> Tables:
    """The slices, each with its effect and what is left of it beside the others."""
    labels = given.judgments
    if not any(labels.has(name) for name in {*labels.frame.columns} - {*Judgments.schema.names}):
        raise BadInput("features of query and document are needed: give --documents, --queries or --runs")
    return {"Bias": find_bias(labels, gold=given.gold, judges=given.judges_are, level=given.level)}
