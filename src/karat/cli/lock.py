"""One process at a time: a second one that serves a study, or asks for the same answers, is told so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from karat.errors import BadInput


def alone_serving(database: Path, address: str) -> AbstractContextManager[None]:
    """Hold the database of a study that is served until the end of the block, or say where it is served."""
    return _held(
        Path(f"{database}-serving"),
        address,
        lambda other: BadInput.at(
            str(database),
            expected="a study that nobody serves, for one process serves one study",
            found=f"that it is being served at {other or 'another port'}",
            remedy="stop that one first, or use PostgreSQL (--database) to share the study",
        ),
    )


def alone_asking(answers: Path, process: str, command: str = "karat ask") -> AbstractContextManager[None]:
    """Hold a file of answers until the end of the block, or say who asks: two would pay twice for the same."""
    return _held(
        Path(f"{answers}-asking"),
        process,
        lambda other: BadInput.at(
            str(answers),
            expected=f"answers that no other {command} is asking for",
            found=f"that {other or 'another process'} is",
            remedy="let it end, or keep other answers elsewhere (--answers)",
        ),
    )


@contextmanager
def _held(lock: Path, told: str, refusal: Callable[[str], BadInput]) -> Iterator[None]:
    """Hold a file, in which stands what others are `told`; the hold ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # no such holds on this system
        yield
        return
    if lock.is_symlink():
        # A folder of somebody else may have a link of that name, to a file that is not ours to empty.
        raise BadInput.at(str(lock), expected="a file of karat's own", found="a link", remedy="remove it")
    with ExitStack() as held:
        try:
            opened = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            file = held.enter_context(os.fdopen(opened, "r+", encoding="utf-8"))
        except OSError:  # a folder that cannot be written is said in better words when the database is opened
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise refusal(file.read().strip()) from None
        file.truncate(0)
        file.write(told)
        file.flush()
        yield
