"""A file in which answers are kept as they come: what was written is there, however the process ends."""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from karat.errors import BadInput
from karat.records import PathLike


class Kept:
    """An SQLite file with tables of some version; one of another version, or none at all, is refused in words."""

    def __init__(self, path: PathLike, tables: str, version: int, *, made: bool = True) -> None:
        place = self._place = str(path)
        if place != ":memory:" and not made and not Path(place).is_file():
            raise BadInput.at(place, expected="a store of answers", found="no file of that name")
        if place != ":memory:":
            with suppress(OSError):  # a place that cannot be written is told in better words on opening
                # Answers quote documents and prompts: for the owner alone. SQLite's files beside it follow suit.
                os.close(os.open(place, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            # One thread at a time uses it, though it may be another than the one that opened it (`workers.done`).
            self._connection = sqlite3.connect(place, timeout=30, isolation_level=None, check_same_thread=False)
            self._open(place, tables, version)
        except sqlite3.Error as error:
            raise BadInput.at(place, expected="a store of answers", found=str(error)) from None

    def _open(self, place: str, tables: str, version: int) -> None:
        """Make or check the tables; where that fails, the file is given back."""
        try:
            self._connection.execute("pragma journal_mode = wal")
            # What a process wrote stays when it is killed; only a power cut may lose the last answers.
            self._connection.execute("pragma synchronous = normal")
            found = self._connection.execute("pragma user_version").fetchone()[0]
            if found not in (0, version):
                raise BadInput.at(place, expected=f"answers of version {version}", found=f"version {found}")
            self._connection.executescript(tables)
            self._connection.execute(f"pragma user_version = {version}")
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    def _write(self, statement: str, row: tuple[object, ...]) -> None:
        """Write a row, which is there when this returns."""
        try:
            self._connection.execute(statement, row)
        except sqlite3.Error as error:
            raise BadInput.at(self._place, expected="a store that takes an answer", found=str(error)) from None


#: Changed with the table; a file of another version is refused.
VERSION = 1001
_TABLE = "create table if not exists fetched (key text primary key, at real, seconds real, body blob)"


@dataclass(frozen=True)
class Answer:
    """What an engine said: the text, when, and after how many seconds."""

    text: str
    at: float
    seconds: float


class KeptAnswers(Kept):
    """A file of answers by the key of the request; the newest counts.

    >>> kept = KeptAnswers(":memory:")
    >>> kept.add("k", Answer("{}", 0.0, 0.1))
    >>> kept.find("k").text, kept.find("other")
    ('{}', None)
    >>> kept.close()
    """

    def __init__(self, path: PathLike) -> None:
        super().__init__(path, _TABLE, VERSION)

    def add(self, key: str, answer: Answer) -> None:
        """Keep an answer."""
        row = (key, answer.at or time.time(), answer.seconds, zlib.compress(answer.text.encode(errors="replace"), 1))
        self._write("insert or replace into fetched values (?, ?, ?, ?)", row)

    def find(self, key: str) -> Answer | None:
        """The answer to a request, if there is one."""
        row = self._connection.execute("select body, at, seconds from fetched where key = ?", (key,)).fetchone()
        return None if row is None else Answer(zlib.decompress(row[0]).decode(), float(row[1]), float(row[2]))

    def __len__(self) -> int:
        return int(self._connection.execute("select count(*) from fetched").fetchone()[0])

    def forget(self, *, lock: bool = True) -> None:
        """Take the file away, and that by which it was held: nothing in it is wanted any more."""
        self.close()
        if self._place != ":memory:":
            for end in ("", "-wal", "-shm", *(["-asking"] if lock else [])):
                Path(f"{self._place}{end}").unlink(missing_ok=True)
