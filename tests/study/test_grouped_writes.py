"""SQLite has one writer: what waits for its turn is written together, each piece whole or not at all."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, insert, select

from karat.study.database import Database
from karat.study.store import Conflict
from karat.study.tables import studies


def add(connection: Connection, key: str) -> str:
    connection.execute(insert(studies), {"key": key, "title": "", "made": 0.0})
    return key


def test_those_who_wait_are_written_in_one_transaction_and_who_fails_alone_leaves_nothing(tmp_path: Path) -> None:
    database = Database.open(str(tmp_path / "karat.db"))
    commits: list[set[str]] = []
    event.listen(database.engine, "commit", lambda connection: commits.append(keys(connection)))
    inside, go = threading.Event(), threading.Event()

    def first(connection: Connection) -> str:
        inside.set()
        assert go.wait(20)
        return add(connection, "first")

    def fails(connection: Connection) -> None:
        add(connection, "nothing of this")
        raise Conflict("no")

    with ThreadPoolExecutor(8) as pool:
        one = pool.submit(database.write, first)
        assert inside.wait(20)
        others = [pool.submit(database.write, lambda c, n=n: add(c, f"k{n}")) for n in range(5)]
        wrong = pool.submit(database.write, fails)
        while len(database._waiting) < 6:
            pass
        go.set()
        assert one.result() == "first"
        assert [each.result() for each in others] == [f"k{n}" for n in range(5)]
        with pytest.raises(Conflict, match="no"):
            wrong.result()
    whole = {"first", *(f"k{n}" for n in range(5))}
    assert commits == [{"first"}, whole], "six pieces of work, one of which failed, with one wait for the disk"
    with database.read() as connection:
        assert keys(connection) == whole
    database.close()


def keys(connection: Connection) -> set[str]:
    return set(connection.execute(select(studies.c.key)).scalars())


def test_nobody_is_told_that_it_is_stored_when_the_disk_refuses(tmp_path: Path) -> None:
    database = Database.open(str(tmp_path / "karat.db"))
    inside, go = threading.Event(), threading.Event()

    def refuse(connection: Connection) -> None:
        raise OSError("no space left on device")

    def first(connection: Connection) -> str:
        inside.set()
        assert go.wait(20)
        return add(connection, "first")

    with ThreadPoolExecutor(4) as pool:
        one = pool.submit(database.write, first)
        assert inside.wait(20)
        others = [pool.submit(database.write, lambda c, n=n: add(c, f"k{n}")) for n in range(3)]
        while len(database._waiting) < 3:
            pass
        event.listen(database.engine, "commit", refuse)
        go.set()
        for each in (one, *others):
            with pytest.raises(OSError, match="no space"):
                each.result()
    with database.read() as connection:
        assert keys(connection) == set()
    database.close()
