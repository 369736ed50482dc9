"""A study that moved: its folder remembers what database it was last served from, lest old answers pass for all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from karat.advice import advise

#: Beside karat.db, with the place of the other database; it goes into no copy and no backup.
MARK = "karat.db-elsewhere"
#: Windows has no such flag.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def without_password(url: str) -> str:
    """A database's URL without who signs in.

    >>> without_password("postgresql://karat:secret@localhost/karat")
    'postgresql://...@localhost/karat'
    """
    return url if "@" not in url else f"{url.partition('://')[0]}://...@{url.rpartition('@')[2]}"


def remember(folder: Path, database: str) -> None:
    """Keep in a folder with a database of its own which other one its study is served from.

    A folder that cannot be written does without. No link is followed: the folder may be a stranger's.
    """
    own = folder / "karat.db"
    if own.is_file() and ("://" in database or Path(database).absolute() != own.absolute()):
        with suppress(OSError):
            opened = os.open(folder / MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOFOLLOW, 0o600)
            with os.fdopen(opened, "w", encoding="utf-8") as mark:
                mark.write(f"{without_password(database)}\n")


def elsewhere(folder: Path, database: str | None) -> list[str]:
    """The note for somebody who uses the folder's own database after the study moved; none where one is named."""
    if database is not None:
        return []
    try:
        place = "" if (folder / MARK).is_symlink() else (folder / MARK).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return []
    if not place or not place.isprintable():
        return []
    return [
        f"this study was last served from {place}, and {folder / 'karat.db'} has nothing that was said there: name it "
        f"with {advise('--database', 'database=')}, or delete {folder / MARK} if the folder counts again"
    ]
