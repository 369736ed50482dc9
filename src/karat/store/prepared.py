"""Questions that are put at every answer: their SQL is written once, and only their values change.

SQLAlchemy works out a statement's parameters and the form of its result anew at each execution, which takes ten times
as long as SQLite takes to answer. What can be known before is known here, and the driver is asked; transactions, errors
and lost connections are SQLAlchemy's as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from sqlalchemy import BindParameter, Boolean, Connection, Executable, Insert, Select, Table, Update, insert
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.visitors import iterate

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
