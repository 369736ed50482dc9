"""The database: SQLite in the study's folder, or PostgreSQL for many judges; every write is one transaction."""

from __future__ import annotations

import contextlib
import os
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    BindParameter,
    Boolean,
    Connection,
    Engine,
    Executable,
    Insert,
    Select,
    Table,
    Update,
    create_engine,
    event,
    insert,
)
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.visitors import iterate

from karat.errors import BadInput

#: What a database says that cannot be used now, though the question was in order.
UNREACHABLE = (OperationalError, InterfaceError, NoConnection)
ADDRESS = "a path or postgresql://NAME:PASSWORD@HOST/DATABASE"
#: What to do, by a part of what the database said; the first that fits.
REMEDIES = {
    "locked": "another program works with the file: wait until it is done, or end it",
    "readonly": "see who owns the file and its folder, or name another with --database",
    "unable to open": "see who owns the file and its folder, or name another with --database",
    "disk": "make room on the disk, or keep the database elsewhere with --database",
    "malformed": "the file is damaged: take the last copy of it",
    "not a database": "name another with --database",
    "authentication failed": "see the name and password in the URL",
    "no password": "put the password into the URL: postgresql://NAME:PASSWORD@HOST/DATABASE",
    "permission denied": "the user in the URL needs the right to make and change tables",
    "does not exist": "make it on the server first (createdb), or name another with --database",
}


def in_words(error: Exception) -> str:
    """What a database said, in a line, and what to do about it."""
    found = first_line(error)
    remedy = next((remedy for part, remedy in REMEDIES.items() if part in found.lower()), None)
    if remedy is None and isinstance(error, UNREACHABLE):
        remedy = "see whether the server runs and can be reached"
    return f"{found}; {remedy}" if remedy else found


def first_line(error: Exception) -> str:
    """The first line of what the database itself said."""
    cause = getattr(error, "orig", None) or error
    return next(iter(str(cause).strip().splitlines()), type(cause).__name__)


@contextmanager
def in_plain_words() -> Iterator[None]:
    """For commands: a database that fails is said without SQL; what was not finished is not stored.

    The app itself does not use it: to a browser that is a fault of the server, and it keeps the answer.
    """
    try:
        yield
    except (DBAPIError, NoConnection) as error:
        raise BadInput(f"the database failed: {in_words(error)}") from None


#: A question with lists in it is written for each length; so many forms are kept.
MOST_FORMS = 100


@dataclass(frozen=True)
class _Written:
    """A question in the SQL of one database: the text, the values it has already, their order, the answer's columns."""

    sql: str
    values: dict[str, Any]
    #: For each list the names of its members.
    lists: dict[str, list[str]]
    order: list[str] | None
    names: list[str]
    truths: list[str]


@dataclass(eq=False)
class Prepared:
    """A question, a change of rows, or a new row, that is put often; names in it get their values when it is put.

    >>> from sqlalchemy import bindparam, create_engine, literal, select
    >>> question = Prepared(select((literal(2) * bindparam("n")).label("twice")))
    >>> engine = create_engine("sqlite://")
    >>> with engine.connect() as connection:
    ...     question.rows(connection, {"n": 21})
    [{'twice': 42}]
    >>> engine.dispose()
    """

    statement: Select[*tuple[Any, ...]] | Update | Insert
    _written: dict[tuple[Any, ...], _Written] = field(default_factory=dict)

    @classmethod
    def new_row(cls, table: Table) -> Prepared:
        """A new row of a table, whose number the database gives."""
        return cls(insert(table).values({column.name: None for column in table.columns if not column.primary_key}))

    def __post_init__(self) -> None:
        parts = [part for part in iterate(self.statement) if isinstance(part, BindParameter)]
        self._lists = {part.key: part.callable for part in parts if part.expanding and (part.required or part.callable)}

    def rows(self, connection: Connection, names: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of the answer; names that the question does not have are left aside."""
        ready, cursor = self._put(connection, names)
        found = [dict(zip(ready.names, row, strict=True)) for row in cursor.fetchall()]
        for name in ready.truths:
            for row in found:
                row[name] = None if row[name] is None else bool(row[name])
        return found

    def change(self, connection: Connection, names: dict[str, Any]) -> int:
        """How many rows were changed."""
        return int(self._put(connection, names)[1].rowcount)

    def add(self, connection: Connection, row: dict[str, Any]) -> int:
        """The number of the new row."""
        cursor = self._put(connection, row)[1]
        return int(cursor.lastrowid if connection.dialect.name == "sqlite" else cursor.fetchone()[0])

    def _put(self, connection: Connection, names: dict[str, Any]) -> tuple[_Written, Any]:
        """The question as it was put, and the driver's cursor with the answer."""
        dialect = connection.dialect
        lists = {name: names[name] if now is None else now() for name, now in self._lists.items()}
        key = (dialect.name, *map(len, lists.values()))
        ready = self._written.get(key) or self._write(dialect, key, lists)
        values = ready.values | names
        for name, members in ready.lists.items():
            values.update(zip(members, lists[name], strict=True))
        cursor = connection.connection.cursor()
        try:
            cursor.execute(ready.sql, values if ready.order is None else [values[name] for name in ready.order])
        except dialect.loaded_dbapi.Error as error:
            raise _refused(connection, cursor, ready.sql, error) from error
        return ready, cursor

    def _write(self, dialect: Dialect, key: tuple[Any, ...], lists: dict[str, Any]) -> _Written:
        names = [part for part in iterate(self.statement) if isinstance(part, BindParameter)]
        empty = {name.key: None for name in names if name.required and name.key not in lists}
        compiled = self.statement.compile(dialect=dialect)
        written = compiled.construct_expanded_state({**empty, **lists})
        columns = getattr(self.statement, "selected_columns", [])
        types = {str(column.key): column.type for column in columns}
        members = {name: list(written.parameter_expansion.get(name, ())) for name in lists}
        gone = {member for each in members.values() for member in each}
        ready = _Written(
            written.statement,
            {name: value for name, value in written.parameters.items() if name not in gone},
            members,
            None if written.positiontup is None else [*written.positiontup],
            [*types],
            [name for name, kind in types.items() if isinstance(kind, Boolean)],
        )
        if len(self._written) >= MOST_FORMS:
            self._written.clear()
        self._written[key] = ready
        return ready


def add_all(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Many new rows of a table at once; what a row has beside the table's columns is left aside."""
    names = [column.name for column in table.columns if not column.primary_key]
    values = map(itemgetter(*names), rows)
    columns = ", ".join(f'"{name}"' for name in names)
    if connection.dialect.name == "sqlite":
        sql = f"INSERT INTO {table.name} ({columns}) VALUES ({', '.join('?' * len(names))})"
        with driver(connection, sql) as cursor:
            cursor.executemany(sql, values)
        return
    sql = f"COPY {table.name} ({columns}) FROM STDIN"
    with driver(connection, sql) as cursor, cursor.copy(sql) as copy:
        for each in values:
            copy.write_row(each)


@contextmanager
def driver(connection: Connection, sql: str) -> Iterator[Any]:
    """The driver's cursor; what it refuses is told as SQLAlchemy tells it."""
    cursor = connection.connection.cursor()
    try:
        yield cursor
    except connection.dialect.loaded_dbapi.Error as error:
        raise _refused(connection, cursor, sql, error) from error


def _refused(connection: Connection, cursor: Any, sql: str, error: Any) -> BaseException:
    """What the driver refused, as SQLAlchemy tells it."""
    dialect = connection.dialect
    lost = dialect.is_disconnect(error, connection.connection, cursor)
    if lost:
        connection.invalidate(error)
    # What is stored has no place in an error's text.
    known: BaseException = DBAPIError.instance(
        sql, None, error, dialect.loaded_dbapi.Error, True, connection_invalidated=lost, dialect=dialect
    )
    return known


def rows_of(connection: Connection, statement: Executable | Prepared, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What the database answers."""
    if isinstance(statement, Prepared):
        return statement.rows(connection, names)
    return [dict(row) for row in connection.execute(statement, names).mappings()]


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
        from karat.study.migrations import migrate

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
