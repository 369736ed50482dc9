"""The answers of models, as they came: append only, by the key of the question; labels are made of them anew."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from karat.engines.response_cache import Kept
from karat.llm.requests import Request
from karat.records import PathLike

#: Changed with the tables; a store of another version is refused.
VERSION = 2
_TABLES = """
create table if not exists answers (
  id integer primary key, key text not null, at real not null, request blob not null, status integer not null,
  body text not null, error text not null, seconds real not null, attempts integer not null, without text not null,
  batch integer not null, lost integer not null default 0
);
create index if not exists answers_key on answers (key);
create table if not exists batches (name text primary key, url text, model text, keys text, ended integer default 0);
create table if not exists learned (url text not null, model text not null, name text not null);
create trigger if not exists answers_stay before update on answers begin select raise(abort, 'append only'); end;
create trigger if not exists answers_are_kept before delete on answers begin select raise(abort, 'append only'); end;
"""
_COLUMNS = "key, at, status, body, error, seconds, attempts, without, batch, lost"
_ADD = f"insert into answers (request, {_COLUMNS}) values ({', '.join('?' * (_COLUMNS.count(',') + 2))})"
_FIND = f"select {_COLUMNS} from answers where key = ? order by id desc"


@dataclass(frozen=True)
class RawAnswer:
    """What came back for a question: status and body as the server sent them; status 0 where none came."""

    key: str
    status: int
    body: str
    #: Why nothing came, or why the body is not whole.
    error: str = ""
    at: float = 0.0
    seconds: float = 0.0
    attempts: int = 1
    #: What the server does not take, and was not sent.
    without: tuple[str, ...] = ()
    #: Whether it came in a batch, at half the price.
    batch: bool = False
    #: Attempts to which nothing came back although they were sent: they may have to be paid.
    lost: int = 0


class AnswerStore(Kept):
    """A file of answers. What was added is there when `add` returns, however the process ends.

    >>> store = AnswerStore(":memory:")
    >>> from karat.llm.answer_form import Form
    >>> from karat.llm.requests import Model
    >>> question = Request(Model("small"), "Judge.", "Hooves?", Form(()))
    >>> store.add(question, RawAnswer(question.key, 200, "{}"))
    >>> store.find(question.key).status, store.find(question.again().key)
    (200, None)
    >>> store.close()
    """

    def __init__(self, path: PathLike, *, made: bool = True) -> None:
        super().__init__(path, _TABLES, VERSION, made=made)

    def add(self, request: Request, answer: RawAnswer) -> None:
        """Keep an answer; those that were there before stay, and `stored_answer` says which counts."""
        content = f'{{"max_tokens": {request.model.max_tokens}, {request.as_json[1:]}'
        # A higher level takes twice the time for a hundredth of the room; `zlib.compress` asks the system for a
        # quarter of a megabyte and gives it back for every question, which takes four times as long as packing.
        packer = zlib.compressobj(1, zlib.DEFLATED, 13, 6)
        asked = packer.compress(content.encode()) + packer.flush()
        said = (answer.status, answer.body, answer.error, answer.seconds, answer.attempts, json.dumps(answer.without))
        self._write(_ADD, (asked, answer.key, answer.at or time.time(), *said, answer.batch, answer.lost))

    def find(self, key: str) -> RawAnswer | None:
        """The newest answer to a question, if there is one."""
        return next(self.find_all(key), None)

    def find_all(self, key: str) -> Iterator[RawAnswer]:
        """All answers to a question, the newest first."""
        return map(_answer, self._connection.execute(_FIND, (key,)))

    def asked(self) -> Iterator[tuple[dict[str, Any], RawAnswer]]:
        """Every question with its answer, in the order in which they came; one asked again is there again."""
        for request, *row in self._connection.execute(f"select request, {_COLUMNS} from answers order by id"):
            yield json.loads(zlib.decompress(request)), _answer(row)

    def __len__(self) -> int:
        return int(self._connection.execute("select count(*) from answers").fetchone()[0])

    def learned(self, url: str, model: str) -> set[str]:
        """What a model's server was found not to take."""
        found = self._connection.execute("select name from learned where url = ? and model = ?", (url, model))
        return {name for (name,) in found}

    def learn(self, url: str, model: str, names: Sequence[str]) -> None:
        """Remember what a model's server does not take."""
        with suppress(sqlite3.OperationalError):  # it would only be learned again
            self._connection.executemany("insert into learned values (?, ?, ?)", [(url, model, n) for n in names])

    def batches(self, url: str, model: str) -> dict[str, list[str]]:
        """The batches of a model that were handed in and not fetched yet, and the keys of their questions."""
        asked = "select name, keys from batches where url = ? and model = ? and ended = 0"
        return {name: json.loads(keys) for name, keys in self._connection.execute(asked, (url, model))}

    def add_batch(self, url: str, model: str, name: str, keys: Sequence[str]) -> None:
        """Remember a batch that was handed in."""
        row = (name, url, model, json.dumps(list(keys)))
        self._connection.execute("insert or replace into batches (name, url, model, keys) values (?, ?, ?, ?)", row)

    def end_batch(self, name: str) -> None:
        """A batch whose answers are here."""
        self._connection.execute("update batches set ended = 1 where name = ?", (name,))


def _answer(row: Sequence[Any]) -> RawAnswer:
    """An answer from its row, whose types the table holds."""
    key, at, status, body, error, seconds, attempts, without, batch, lost = row
    left_out = () if without == "[]" else tuple(json.loads(without))
    return RawAnswer(key, status, body, error, at, seconds, attempts, left_out, bool(batch), lost)
