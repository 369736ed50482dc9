"""A progress bar on standard error, only on a terminal and only when there is something to wait for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence


def progress(things: Sequence[str], doing: str) -> Iterator[str]:
    """The things one by one, with a bar that shows how far it is."""
    if len(things) < 2 or not sys.stderr.isatty():
        yield from things
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(things, doing, console=Console(stderr=True), transient=True)
