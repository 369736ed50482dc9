"""Words for the terminal: what a file holds may be read there, and may not steer it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

#: Letters that move the cursor, change colours or turn the direction of writing; not the tab and the end of a line.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""The text with letters that steer a terminal written out.

    >>> print(visible("bm25\x1b[31m, café"))
    bm25\x1b[31m, café
    """
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def tell_notes(notes: Iterable[str]) -> None:
    """What a reader should know, each line once, on standard error."""
    for note in dict.fromkeys(notes):
        click.echo(visible(f"note: {note}"), err=True)
