"""`karat plan`: what should be judged next?"""

from __future__ import annotations

import click

from karat.cli.plan.context import context
from karat.cli.plan.gold import gold
from karat.cli.plan.pairs import pairs
from karat.cli.plan.power import power


@click.group(short_help="What to have judged next, and what it costs.")
def plan() -> None:
    """What to have judged next, with its number and cost before anything is written."""


plan.add_command(power)
plan.add_command(gold)
plan.add_command(context)
plan.add_command(pairs)
