"""`karat judges agreement`: do judges say the same of the same document?"""

from __future__ import annotations

from contextlib import suppress

import click

from karat import judges as analysis
from karat.cli import options
from karat.cli.judges.judged import Judged, features, of_labels
from karat.cli.results import Tables, tell
from karat.errors import KaratError

EXAMPLES = """\b
Examples:
  karat judges agreement llm-judges/*.txt --gold gold.qrels
  karat judges agreement crowd.csv pro.csv --by wikipedia --documents docs.jsonl"""


@click.command(epilog=EXAMPLES)
@of_labels(options.gold, options.by, features, options.judges_are, options.resampling)
@options.form
def agreement(given: Judged, form: options.Form) -> None:
    """How far judges agree, within a group, between groups and with gold labels, and whether groups differ in it."""
    tell(found(given), form, given.show)


def found(given: Judged) -> Tables:
    """Kappas and alphas, and the tests between groups where there are some."""
    labels, gold, judges = given.judgments, given.gold, given.judges_are
    tables = given.each("Agreement", lambda by: analysis.agreement(labels, gold, by=by, judges=judges, **given.chance))
    with suppress(KaratError):  # one group alone has nothing to differ from
        tests = given.each(
            "Differences",
            lambda by: analysis.agreement_tests(labels, gold, by=by, judges=judges, level=given.level),
        )
        tables |= {title: result for title, result in tests.items() if result.frame.height}
    return tables
