"""Measures as people type them: with commas, with spaces, repeated, or left among the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from karat.errors import BadInput
from karat.measures import parse_measure


def measures_named(given: Sequence[str]) -> list[str]:
    """The measures in what was given with -m.

    >>> measures_named(["nDCG@10,AP", "P.5,10"])
    ['nDCG@10', 'AP', 'P.5', 'P.10']
    """
    return [name for text in given for name in _split(text)]


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


def _split(text: str) -> list[str]:
    """Measures separated by commas or spaces that are not inside brackets.

    >>> _split("nDCG(gains={0:0,1:3})@10,AP P.5,10")
    ['nDCG(gains={0:0,1:3})@10', 'AP', 'P.5', 'P.10']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter in ", " and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    names: list[str] = []
    for part in parts:
        # trec_eval's P.5,10 asks for P.5 and P.10.
        if part.isdigit() and names and "." in names[-1]:
            part = f"{names[-1].rpartition('.')[0]}.{part}"
        names += [part] if part else []
    return names
