"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

from collections.abc import Sequence

import click

scale = click.option("--scale", metavar="LEVELS", help="The scale of the labels: 0..3, or bad,fair,good.")
drop_bad_labels = click.option(
    "--drop-bad-labels", is_flag=True, help="Drop labels outside the scale, and say how many."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document with full precision.")


def one_file(option: str, files: Sequence[str]) -> str | None:
    """The file given, for an option that takes one; a second is refused, where click would forget the first."""
    from karat.errors import BadInput

    if len(files) > 1:
        raise BadInput.at(
            option,
            expected="one file",
            found=", ".join(files),
            remedy="for gold labels of two rounds, karat plan gold --pilot FIRST writes a file that holds both",
        )
    return files[0] if files else None


def _enough(context: click.Context, option: click.Parameter, value: int) -> int:
    """Refuse a handful of draws before any work is done: an interval of them would mislead."""
    from karat.errors import BadInput

    if value != 0 and value < 100:
        raise BadInput.at("--draws", expected="0 draws, or 100 or more", found=str(value))
    return value


draws = click.option(
    "--draws",
    default=1000,
    show_default=True,
    callback=_enough,
    help="Bootstrap draws for the intervals: 0 for none, or 100 and more.",
)
seed = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="The seed of all that is drawn at random."
)
