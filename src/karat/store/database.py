"""The database: SQLite in the study's folder, or PostgreSQL for many judges; every write is one transaction."""

from __future__ import annotations

import contextlib
import os
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from karat.errors import BadInput
from karat.store.database_errors import ADDRESS, first_line, in_words
from karat.store.prepared import driver

T = TypeVar("T")

#: A deadlock or a lost race is tried again so often; then something else is wrong.
TRIES = 12
#: Others are waited for so many seconds.
PATIENCE = 30.0


class LostRace(Exception):
    """Somebody else was quicker: the transaction is to be tried again."""


@dataclass(eq=False)
class _Write:
    """Some work that waits for its turn, and what came of it."""

    work: Callable[[Connection], Any]
    value: Any = None
    error: BaseException | None = None
    done: bool = False


class Database:
    """Connections to one database, whose tables are made or brought up to date on opening.

    >>> database = Database.open("sqlite://")
    >>> database.dialect
    'sqlite'
    >>> database.close()
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._within = threading.local()
        # SQLite has one writer at a time: waiting in line here is fair and quick, waiting in SQLite is neither.
        self._one_writer = engine.dialect.name == "sqlite"
        self._line = threading.Lock()
        self._waiting: deque[_Write] = deque()

    @property
    def dialect(self) -> str:
        """The kind of database: sqlite or postgresql."""
        return self.engine.dialect.name

    @classmethod
    def open(cls, url: str) -> Database:
        """The database at a URL, or at the path of an SQLite file."""
        from karat.store.migrations import migrate

        engine = _engine(url)
        try:
            migrate(engine)
        except DBAPIError as error:
            engine.dispose()
            raise BadInput(f"the database cannot be opened: {in_words(error)}") from None
        except BadInput:
            engine.dispose()
            raise
        return cls(engine)

    @classmethod
    def again(cls, url: str) -> Database:
        """The same for one more process: the tables are known to be there, and nobody who writes is waited for."""
        return cls(_engine(url))

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read with."""
        if (within := self.transaction) is not None:
            yield within
            return
        with self.engine.connect() as connection:
            yield connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do some work in one transaction: all of it is stored when this returns, or none of it.

        The work is done again from the start when another transaction got in its way, so it must do nothing else. Work
        that writes by itself does so in the same transaction.
        """
        if (within := self.transaction) is not None:
            return work(within)
        end = time.monotonic() + PATIENCE
        for attempt in range(TRIES):
            try:
                return self._write_in_line(work) if self._one_writer else self._write(work)
            except (LostRace, IntegrityError):
                if attempt == TRIES - 1:
                    raise
            except DataError as error:
                raise BadInput(f"the database cannot hold this: {first_line(error)}") from None
            except DBAPIError as error:
                if attempt == TRIES - 1 or not _passing(error) or time.monotonic() > end:
                    raise
            time.sleep(random.uniform(0.001, 0.01) * (attempt + 1))
        raise AssertionError("unreachable")

    def _write(self, work: Callable[[Connection], T]) -> T:
        with self.engine.connect() as connection:
            connection = connection.execution_options(writes=True)
            with connection.begin(), self._open(connection):
                return work(connection)

    def _write_in_line(self, work: Callable[[Connection], T]) -> T:
        """Wait in line; whose turn it is does the work of all who came meanwhile, and brings it to the disk once."""
        mine = _Write(work)
        self._waiting.append(mine)
        with self._line:
            if not mine.done:
                self._write_together([self._waiting.popleft() for _ in range(len(self._waiting))])
        if mine.error is not None:
            raise mine.error
        return mine.value  # type: ignore[no-any-return]

    def _write_together(self, writes: list[_Write]) -> None:
        """Several pieces of work in one transaction; one that fails leaves nothing and the others untouched."""

        def each_apart(connection: Connection) -> None:
            for write in writes:
                connection.exec_driver_sql("SAVEPOINT one")
                try:
                    write.value = write.work(connection)
                except BaseException as error:
                    write.error = error
                    connection.exec_driver_sql("ROLLBACK TO one")
                connection.exec_driver_sql("RELEASE one")

        try:
            if len(writes) == 1:
                writes[0].value = self._write(writes[0].work)
            else:
                self._write(each_apart)
        except BaseException as error:  # nothing is on the disk: each of them hears it, and may try again
            for write in writes:
                write.error = write.error or error
        for write in writes:
            write.done = True

    @property
    def transaction(self) -> Connection | None:
        """The transaction that this thread is in, if any."""
        return getattr(self._within, "connection", None)

    @contextmanager
    def _open(self, connection: Connection) -> Iterator[None]:
        self._within.connection = connection
        try:
            yield
        finally:
            self._within.connection = None

    def settle(self) -> None:
        """Bring all that was stored into the one file of an SQLite database, which then may be moved as files are."""
        if self._one_writer:
            with self.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def file_of(url: str) -> Path | None:
    """The file of an SQLite database; none in memory, or on a server.

    >>> file_of("study/karat.db").name, file_of("sqlite://"), file_of("postgresql://karat@localhost/karat")
    ('karat.db', None, None)
    """
    parsed = _address(url)
    kept = parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:")
    return Path(str(parsed.database)) if kept else None


def _engine(url: str) -> Engine:
    parsed = _address(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_size=20, max_overflow=20, pool_pre_ping=True, hide_parameters=True)
    memory = parsed.database in (None, "", ":memory:")
    more: dict[str, Any] = {"poolclass": StaticPool} if memory else {"pool_size": 20, "max_overflow": 40}
    if not memory:
        # What judges said, and who they are, is for the owner alone; SQLite's files beside it follow suit.
        with contextlib.suppress(OSError):  # a place that cannot be written is told in better words on opening
            os.close(os.open(str(parsed.database), os.O_CREAT | os.O_RDWR, 0o600))
    patient = {"check_same_thread": False, "timeout": PATIENCE}
    # What is stored (answers, hashes of passwords) has no place in an error's text.
    engine = create_engine(parsed, connect_args=patient, hide_parameters=True, **more)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        busy = f"busy_timeout = {PATIENCE * 1000:.0f}"
        for pragma in (busy, "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes its turn at the start: a reader that turns writer half-way could be refused.
        writes = connection.get_execution_options().get("writes")
        begin = "BEGIN IMMEDIATE" if writes else "BEGIN"
        with driver(connection, begin) as cursor:
            cursor.execute(begin)

    return engine


def _address(url: str) -> URL:
    """A URL in its parts; one that cannot be read is not repeated, because a password may be anywhere in it."""
    if "://" not in url and not re.match(r"postgres\w*:?/", url):
        return make_url(f"sqlite:///{Path(url).absolute()}")
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise BadInput.at("the database", expected=ADDRESS, found="another form of address") from None
    if parsed.host and "@" in parsed.host:
        raise BadInput.at(
            "the database", expected=ADDRESS, found="more than one @", remedy="write @ in a name or password as %40"
        )
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    try:
        known = parsed.get_dialect().name in ("sqlite", "postgresql")
    except (NoSuchModuleError, ImportError):
        known = False
    if not known:
        raise BadInput.at("the database", expected=ADDRESS, found=f"{parsed.drivername}://")
    return parsed


def _passing(error: DBAPIError) -> bool:
    """Whether to try again: a deadlock, a serialization failure, a busy file."""
    code = getattr(error.orig, "sqlstate", None)
    return code in ("40001", "40P01", "55P03") or "database is locked" in str(error.orig)
