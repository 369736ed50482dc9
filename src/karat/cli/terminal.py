"""A progress bar on standard error, only on a terminal and only when there is something to wait for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer

import click

#: Seconds of silence before a bar is shown.
PATIENCE = 2.0


def progress(things: Sequence[str], doing: str) -> Iterator[str]:
    """The things one by one, with a bar that shows how far it is."""
    with waiting(doing, len(things)) as next_one:
        for thing in things:
            yield thing
            next_one()


@contextmanager
def waiting(doing: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """A bar while the block runs, of so many steps where that is known; the function given says that one is done."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(doing, total=total)
    start = Timer(PATIENCE, bar.start)
    start.daemon = True
    start.start()
    try:
        yield lambda: bar.advance(task)
    finally:
        start.cancel()
        start.join()  # a bar that is about to start would never be stopped
        bar.stop()


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
