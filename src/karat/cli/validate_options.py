"""Which options each part of `karat validate` takes: one that no asked part takes is refused, not passed over."""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.core import ParameterSource

#: Options beside files, seeds, draws and --json, which all parts may be given.
TAKES: dict[str, tuple[str, ...]] = {
    "agreement": ("measure", "by", "split", "ties", "how", "at_least", "profile", "depth"),
    "tables": ("how", "at_least"),
    "votes": ("by", "how", "at_least"),
    "judges": (),
    "ranking": ("at_least", "reliability"),
    "correlation": ("measure", "picture", "profile", "depth"),
    "curves": ("measure", "by", "how", "condition", "context", "strong_from", "depth"),
    "fit": ("measure", "by", "at_least", "vary", "test", "folds", "depth"),
    "clicks": ("measure", "cutoff"),
    "ratings": ("measure", "lists", "rating", "aggregate", "resample"),
    "reasons": ("folds", "coded", "suggested"),
    "coders": (),
}


def typed(name: str) -> bool:
    """Whether the user gave this option, rather than its default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_untaken(parts: Sequence[str]) -> None:
    """Refuse an option that none of these parts takes."""
    from karat.errors import BadInput

    particular = {name for names in TAKES.values() for name in names}
    taken = {name for part in parts for name in TAKES[part]}
    for option in click.get_current_context().command.params:
        name = str(option.name)
        if name in particular - taken and typed(name):
            flag = option.opts[-1]
            takers = [part for part, names in TAKES.items() if name in names]
            raise BadInput(
                f"part {' and '.join(parts)} takes no {flag}: leave it out, or ask for --part {' or '.join(takers)}"
            )
