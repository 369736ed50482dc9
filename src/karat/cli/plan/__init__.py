"""`karat plan`: what should be judged next?"""

from __future__ import annotations

import click

from karat.cli.lazy import LazyGroup

SECTIONS = {
    "Commands": {
        "power": "How many queries, and how many gold labels, a difference needs.",
        "gold": "Draw the documents whose gold labels say most.",
        "context": "The judgments to collect alone and in context.",
        "pairs": "Pairs of lists worth showing to users, as tasks.",
    }
}


@click.group(cls=LazyGroup, package="karat.cli.plan", sections=SECTIONS)
def plan() -> None:
    """What to have judged next, with its number and cost before anything is written."""
