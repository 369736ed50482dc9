"""`karat plan`: what should be judged next?"""

from __future__ import annotations

import click

from karat.cli.plan.gold import gold
from karat.cli.plan.power import power


@click.group()
def plan() -> None:
    """Plan a comparison: how many queries and gold labels it takes, and which documents to label."""


plan.add_command(power)
plan.add_command(gold)
