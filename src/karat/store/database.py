"""The database: SQLite in the study's folder, or PostgreSQL for many judges; every write is one transaction."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from karat.errors import BadInput

T = TypeVar("T")

#: A deadlock or a lost race is tried again so often; then something else is wrong.
TRIES = 12


class LostRace(Exception):
    """Somebody else was quicker: the transaction is to be tried again."""


class Database:
    """Connections to one database, whose tables are made or brought up to date on opening.

    >>> Database.open("sqlite://").dialect
    'sqlite'
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # SQLite has one writer at a time: waiting in line here is fair and quick, waiting in SQLite is neither.
        self._line = threading.Lock() if engine.dialect.name == "sqlite" else nullcontext()

    @property
    def dialect(self) -> str:
        """The kind of database: sqlite or postgresql."""
        return self.engine.dialect.name

    @classmethod
    def open(cls, url: str) -> Database:
        """The database at a URL, or at the path of an SQLite file."""
        from karat.store.migrations import migrate

        try:
            engine = _engine(url)
        except (ArgumentError, NoSuchModuleError, ImportError) as error:
            raise BadInput.at("the database", expected="a path or postgresql://...", found=_first_line(error)) from None
        if engine.dialect.name not in ("sqlite", "postgresql"):
            raise BadInput.at("the database", expected="a path or postgresql://...", found=engine.dialect.name)
        try:
            migrate(engine)
        except DBAPIError as error:
            raise BadInput(f"the database cannot be opened: {_first_line(error)}") from None
        return cls(engine)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read with."""
        with self.engine.connect() as connection:
            yield connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do some work in one transaction: all of it is stored when this returns, or none of it.

        The work is done again from the start when another transaction got in its way, so it must do nothing else.
        """
        for attempt in range(TRIES):
            try:
                with self._line, self.engine.connect() as connection:
                    connection = connection.execution_options(writes=True)
                    with connection.begin():
                        return work(connection)
            except (LostRace, IntegrityError):
                if attempt == TRIES - 1:
                    raise
            except DataError as error:
                raise BadInput(f"the database cannot hold this: {_first_line(error)}") from None
            except DBAPIError as error:
                if attempt == TRIES - 1 or not _passing(error):
                    raise
            time.sleep(random.uniform(0.001, 0.01) * (attempt + 1))
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    if "://" not in url:
        url = f"sqlite:///{Path(url).absolute()}"
    parsed = make_url(url)
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_size=20, max_overflow=20, pool_pre_ping=True, hide_parameters=True)
    memory = parsed.database in (None, "", ":memory:")
    more: dict[str, Any] = {"poolclass": StaticPool} if memory else {"pool_size": 20, "max_overflow": 40}
    patient = {"check_same_thread": False, "timeout": 30}
    # What is stored (answers, hashes of passwords) has no place in an error's text.
    engine = create_engine(parsed, connect_args=patient, hide_parameters=True, **more)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "busy_timeout = 30000"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes its turn at the start: a reader that turns writer half-way could be refused.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def in_plain_words() -> Iterator[None]:
    """For commands: a database that refuses is said as bad input, without SQL.

    The app itself does not use it: to a browser that is a fault of the server, and it keeps the answer.
    """
    try:
        yield
    except DBAPIError as error:
        raise BadInput.at(
            "the database",
            expected="one that can be read and written",
            found=_first_line(error),
            remedy="see who owns the file and its folder, or name another with --database",
        ) from None


def _passing(error: DBAPIError) -> bool:
    """Whether to try again: a deadlock, a serialization failure, a busy file."""
    code = getattr(error.orig, "sqlstate", None)
    return code in ("40001", "40P01", "55P03") or "database is locked" in str(error.orig)


def _first_line(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().splitlines()[0]
