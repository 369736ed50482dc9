"""`karat judges all`: every part of the report on judges that the data allows."""

from __future__ import annotations

from collections.abc import Callable

import click

from karat.cli import options
from karat.cli.judges import agreement, bias, clicks, distribution, error, gold
from karat.cli.judges.judged import Judged, features, of_labels
from karat.cli.results import Tables, tell_all

EXAMPLES = """\b
Examples:
  karat judges all crowd.csv
  karat judges my-study
  karat judges crowd.csv pro.csv --gold gold.csv --documents docs.jsonl --queries queries.csv"""

#: The parts of the report, in the order in which they are told.
PARTS: dict[str, Callable[[Judged], Tables]] = {
    "agreement": agreement.found,
    "error": error.found,
    "gold": gold.found,
    "clicks": clicks.found,
    "distribution": distribution.found,
    "bias": bias.found,
}


@click.command("all", epilog=EXAMPLES)
@of_labels(options.gold, options.clicks, options.by, features, options.judges_are, options.resampling)
@options.as_json
def all_(given: Judged, as_json: bool) -> None:
    """All that the data allows, the parts one after another; what is left out is said, with the reason."""
    tell_all(PARTS, given, as_json, given.show)
