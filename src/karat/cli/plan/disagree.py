"""`karat plan disagree`: how many queries must be judged twice?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading
from karat.cli.results import Tables
from karat.cli.subcommand import part
from karat.plan.disagreement_power import plan_disagreement


@part(
    levels.labels,
    click.option("--within", default=0.05, metavar="X", help="How well p should be known: plus or minus X."),
    levels.top,
    options.level,
    options.study,
    examples="""karat plan disagree pilot.csv --within 0.05
karat plan disagree pilot.csv --top 2 --within 0.02 --plot queries.svg""",
)
def disagree(labels: tuple[str, ...], within: float, top: str | None, level: float, reading: Reading) -> Tables:
    """Queries to have judged twice until it is known how far users disagree, from a pilot that is.

    p is the probability that another user says top after one said this level; karat disagree has the weights.
    """
    read = levels.judged(reading, labels, None)
    return {"Queries": plan_disagreement(read, within, levels.level_named(top, read), level=level)}
