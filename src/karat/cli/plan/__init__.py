"""`karat plan`: what should be judged next? One file per kind of plan."""

from __future__ import annotations

import click

from karat.cli.plan.pairs import pairs

EXAMPLES = """\b
Examples:
  karat plan pairs diversity.qrels runs/*.run --teams teams.csv --queries topics.xml --out tasks.jsonl"""


@click.group(epilog=EXAMPLES)
def plan() -> None:
    """What should be judged next: the counts first, a task file with --out."""


plan.add_command(pairs)
