"""`karat plan preferences`: how many pairs and judges until a measure is shown to agree with users?"""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.results import print_result, tell_as
from karat.plan import plan_preferences

EXAMPLES = """\b
Examples:
  karat plan preferences --agreement 0.65
  karat plan preferences --agreement 0.7 --more-than 0.6 --judges-each 3 --judges-each 8"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--agreement", required=True, type=float, metavar="SHARE", help="How often the measure prefers what users prefer."
)
@click.option("--more-than", default=0.5, metavar="SHARE", help="The agreement to exceed; a half is chance.")
@click.option("--judge-right", default=0.7, metavar="SHARE", help="How often a judge's side is the one users prefer.")
@click.option("--equal", default=0.2, metavar="SHARE", help="How often a judge finds both lists equal.")
@click.option(
    "--judges-each",
    "judges",
    multiple=True,
    type=click.IntRange(1),
    show_default="1, 2, 3, 5, 8, 12",
    help="Judges who see each pair.",
)
@click.option("--power", default=0.8, help="Probability of detecting the difference.")
@click.option("--alpha", default=0.05, help="False-positive rate of the test.")
@options.form
def preferences(form: options.Form, agreement: float, **asked: Any) -> None:
    """Pairs and judges needed to show that a measure agrees with users.

    Few pairs seen by many judges, or many pairs by few: the table has both, and which takes the fewest answers.
    """
    found = plan_preferences(agreement, **asked)
    tell_as(form, found.to_dict(), found, lambda: print_result(found))
