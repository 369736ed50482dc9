"""`karat judges gold`: where do labels err, seen from gold labels of the same documents?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.judges.judged import Judged, features, of_labels
from karat.cli.results import Tables, tell
from karat.judges import against_gold, error_distribution, gold_regression

EXAMPLES = """\b
Examples:
  karat judges gold crowd.csv pro.csv --gold gold.csv
  karat judges gold crowd.csv --gold gold.csv --by wikipedia --documents docs.jsonl"""

#: Features of yes or no, which the regression of the errors is on; a domain or a length would fill the page.
SPLITS = ("wikipedia", "query_in_url", "root_url", "navigational")


@click.command(epilog=EXAMPLES)
@of_labels(options.gold, options.by, features, options.judges_are, options.level)
@options.form
def gold(given: Judged, form: options.Form) -> None:
    """How labels err against gold labels: too high, too low, by how much, and by which features."""
    tell(found(given), form, given.show)


def found(given: Judged) -> Tables:
    """Mean errors, their distribution, and their regression on features."""
    by, judges, level = given.by, given.judges_are, given.level
    tables = {
        "Against gold": against_gold(given.panel, by=by, judges=judges, level=level),
        "Error distribution": error_distribution(given.panel, by=by, judges=judges, level=level),
    }
    features = [name for name in SPLITS if given.judgments.has(name)]
    if features:
        regression = gold_regression(given.panel, features, "error", judges=judges, level=level)
        tables["Regression of the error"] = regression
    return tables
