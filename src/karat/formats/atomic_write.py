"""Writing a file whole or not at all: beside its place first, and then put there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def put_in_place(path: Path, data: bytes) -> None:
    """Write a file; whatever goes wrong, a full disk say, leaves the one that was there as it was.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     put_in_place(Path(folder, "labels.csv"), b"query,doc,label")
    ...     Path(folder, "labels.csv").read_text(), len(list(Path(folder).iterdir()))
    ('query,doc,label', 1)

    A link stays one, and what it leads to is replaced; a file keeps its rights. Pipes and devices are written to as
    they are, and so is a file in a folder in which no other may be made.
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        path.write_bytes(data)
        return
    try:
        number, beside = tempfile.mkstemp(prefix=f".{place.name[:100]}.", dir=place.parent)
    except PermissionError:
        path.write_bytes(data)
        return
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
        Path(beside).chmod(_rights(place))
        Path(beside).replace(place)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _rights(place: Path) -> int:
    """The rights of the file that is there, or those that a new one has."""
    if place.exists():
        return place.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
