"""`karat plan`: what should be judged next?"""

from __future__ import annotations

import click

from karat.cli.plan.context import context

EXAMPLES = """\b
Examples:
  karat plan context production.run better.run --judges 8"""


@click.group(epilog=EXAMPLES)
def plan() -> None:
    """What to have judged next, with its number and cost before anything is written."""


plan.add_command(context)
