"""`karat context all`: every part of the report on aspects and context that the data allows."""

from __future__ import annotations

from collections.abc import Callable

import click

from karat.cli import options
from karat.cli.context import agreement, change, correlation, coverage, distribution, labels, prediction
from karat.cli.context.aspects import Aspects, of_labels
from karat.cli.results import Tables, tell_all

EXAMPLES = """\b
Examples:
  karat context all judgments.csv
  karat context my-study
  karat context judgments.csv my.run --documents documents.jsonl"""

#: The parts of the report, in the order in which they are told.
PARTS: dict[str, Callable[[Aspects], Tables]] = {
    "coverage": coverage.found,
    "distribution": distribution.found,
    "change": change.found,
    "correlation": correlation.found,
    "prediction": prediction.found,
    "agreement": agreement.found,
    "labels": labels.found,
}


@click.command("all", epilog=EXAMPLES)
@of_labels(options.by, options.documents, runs=True)
@options.as_json
def all_(given: Aspects, as_json: bool) -> None:
    """All that the data allows, the parts one after another; what is left out is said, with the reason."""
    tell_all(PARTS, given, as_json, given.show)
