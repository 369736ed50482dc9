"""One process serves one SQLite study: a second one is told so, and where the first is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from karat.errors import BadInput


@contextmanager
def alone(database: Path, address: str) -> Iterator[None]:
    """Hold the database of a study until the end of the block, or say who does.

    The hold is the operating system's: it ends with the process, however that ends.
    """
    try:
        import fcntl
    except ImportError:  # no such holds on this system
        yield
        return
    with ExitStack() as held:
        try:
            file = held.enter_context(Path(f"{database}-serving").open("a+", encoding="utf-8"))
        except OSError:  # a folder that cannot be written is said in better words when the database is opened
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise BadInput.at(
                str(database),
                expected="a study that nobody serves, for one process serves one study",
                found=f"that it is being served at {file.read().strip() or 'another port'}",
                remedy="stop that one first, or use PostgreSQL (--database) to share the study",
            ) from None
        file.truncate(0)
        file.write(address)
        file.flush()
        yield
