"""Questions that are put at every answer: their SQL is written once, and only their values change.

SQLAlchemy works out a statement's parameters and the form of its result anew at each execution, which takes longer than
SQLite takes to answer. What can be known before is known here; the rest (transactions, errors, connections lost) is
SQLAlchemy's as ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, Boolean, Connection, Executable, Select
from sqlalchemy.sql.visitors import iterate


@dataclass(frozen=True)
class _Written:
    """A question in the SQL of one database: the text, the values it has already, their order, the answer's columns."""

    sql: str
    values: dict[str, Any]
    order: list[str] | None
    names: list[str]
    truths: list[str]


@dataclass(eq=False)
class Prepared:
    """A question that is put often; names in it get their values when it is put.

    >>> from sqlalchemy import bindparam, create_engine, literal, select
    >>> question = Prepared(select((literal(2) * bindparam("n")).label("twice")))
    >>> with create_engine("sqlite://").connect() as connection:
    ...     question.rows(connection, {"n": 21})
    [{'twice': 42}]
    """

    statement: Select[Any]
    _written: dict[str, _Written | None] = field(default_factory=dict)

    def rows(self, connection: Connection, names: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of the answer; names that the question does not have are left aside."""
        dialect = connection.dialect.name
        if dialect not in self._written:
            self._written[dialect] = self._write(connection)
        ready = self._written[dialect]
        if ready is None:
            return rows_of(connection, self.statement, names)
        values = {name: names.get(name, known) for name, known in ready.values.items()}
        found = connection.exec_driver_sql(
            ready.sql, values if ready.order is None else tuple([values[name] for name in ready.order])
        ).fetchall()
        rows = [dict(zip(ready.names, row, strict=True)) for row in found]
        for name in ready.truths:
            for row in rows:
                row[name] = None if row[name] is None else bool(row[name])
        return rows

    def _write(self, connection: Connection) -> _Written | None:
        """The question in SQL; None where its text depends on its values: lists whose length is not known."""
        names = [part for part in iterate(self.statement) if isinstance(part, BindParameter)]
        if any(name.expanding and (name.required or name.callable) for name in names):
            return None
        empty = self.statement.params({name.key: None for name in names if name.required})
        written = empty.compile(dialect=connection.dialect).construct_expanded_state()
        columns = {str(column.key): column.type for column in self.statement.selected_columns}
        order = None if written.positiontup is None else [*written.positiontup]
        truths = [name for name, kind in columns.items() if isinstance(kind, Boolean)]
        return _Written(written.statement, dict(written.parameters), order, [*columns], truths)


def rows_of(connection: Connection, statement: Executable | Prepared, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What the database answers."""
    if isinstance(statement, Prepared):
        return statement.rows(connection, names)
    return [dict(row) for row in connection.execute(statement, names).mappings()]
