"""The answers of engines, kept as they came until all are there: a fetch that ended half-way goes on from them."""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from karat.http.kept import Kept
from karat.records import PathLike

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
