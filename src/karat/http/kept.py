"""A file in which answers are kept as they come: what was written is there, however the process ends."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
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
