"""`karat judges distribution`: how do groups of judges use the scale?"""

from __future__ import annotations

import click

from karat import judges as analysis
from karat.cli import options
from karat.cli.judges.judged import Judged, features, of_labels
from karat.cli.results import Tables, tell
from karat.errors import BadInput

EXAMPLES = """\b
Examples:
  karat judges distribution crowd.csv pro.csv
  karat judges distribution crowd.csv pro.csv --by wikipedia --documents docs.jsonl --json"""

#: A text column with more values than this splits labels too finely.
MOST_VALUES = 50


@click.command(epilog=EXAMPLES)
@of_labels(options.gold, options.by, features, options.judges_are, options.level)
@options.form
def distribution(given: Judged, form: options.Form) -> None:
    """How often each group gives each grade, and whether groups, or values of a column, differ in it."""
    tell(found(given), form, given.show)


def found(given: Judged) -> Tables:
    """Shares of grades, and the tests between them."""
    for name in given.by:
        values = given.panel.feature(name)
        if not values.dtype.is_numeric() and values.n_unique() > MOST_VALUES:
            expected = f"a column of up to {MOST_VALUES} values"
            raise BadInput.at(f"--by {name}", expected=expected, found=f"{values.n_unique():,}")
    judges, level = given.judges_are, given.level
    return {
        "Label distribution": analysis.distribution(given.panel, given.by, judges=judges, level=level),
        "Tests": analysis.distribution_tests(given.panel, given.by, judges=judges, level=level),
    }
