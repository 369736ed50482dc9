"""A progress bar on standard error, only on a terminal and only when there is something to wait for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer

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
