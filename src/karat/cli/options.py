"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

import click

scale = click.option("--scale", metavar="LEVELS", help="The scale of the labels: 0..3, or bad,fair,good.")
drop_bad_labels = click.option(
    "--drop-bad-labels", is_flag=True, help="Drop labels outside the scale, and say how many."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document with full precision.")
draws = click.option("--draws", default=1000, show_default=True, help="Bootstrap draws for the intervals; 0 for none.")
seed = click.option("--seed", default=0, show_default=True, help="The seed of all that is drawn at random.")
