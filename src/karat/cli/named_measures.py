"""Measures as people type them: with commas, with spaces, repeated, or left among the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from karat.errors import BadInput
from karat.measures import parse_measure
from karat.measures.names import split_names


def measures_named(given: Sequence[str]) -> list[str]:
    """The measures in what was given with -m.

    >>> measures_named(["nDCG@10,AP", "P.5,10"])
    ['nDCG@10', 'AP', 'P.5', 'P.10']
    """
    return [name for text in given for name in split_names(text, ", ") if name.strip(", ")]


def measures_among(runs: tuple[str, ...], given: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Runs and measures apart: `-m nDCG@10 AP` leaves AP among the runs, though no such file exists."""
    names = measures_named(given)
    files = []
    for word in runs:
        if word != "-" and given and not Path(word).exists():
            try:
                parse_measure(word)
            except BadInput:
                pass
            else:
                names.append(word)
                continue
        files.append(word)
    return files, names
