"""A whole study from one database to another, in one transaction on each side, and checked row by row before it counts.

Everything goes: tasks, people, links, sessions, reservations, the log with what was taken back. Numbers of rows change
where the other database has rows already, and what refers to them changes with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text

from karat.errors import BadInput
from karat.records.base import count
from karat.store.database import Database
from karat.store.tables import metadata, studies

#: So many rows are read and written at a time.
BATCH = 5_000
#: Parents before children: a row's references are there before it is.
TABLES = tuple(metadata.sorted_tables)


@dataclass(frozen=True)
class Copied:
    """How many rows of each table were copied, and the hash that both sides agree on."""

    rows: dict[str, int]
    hash: str

    @property
    def finding(self) -> str:
        """What was copied, in words."""
        things = {"tasks": "task", "judges": "judge", "events": "event"}
        said = ", ".join(count(self.rows[table], thing) for table, thing in things.items())
        return f"{said} (sha256 {self.hash[:12]})"


def copy_rows(source: Database, target: Database, key: str) -> Copied:
    """Copy the study of this key; the source is read as it is at one moment, also while judges answer.

    A target that has the study already is refused. Both sides are hashed, and a difference undoes the copy.
    """
    with source.engine.connect() as reading:
        if source.dialect == "postgresql":
            reading = reading.execution_options(isolation_level="REPEATABLE READ")
        with reading.begin():
            study = reading.execute(select(studies.c.id).where(studies.c.key == key)).scalar()
            if study is None:
                raise BadInput.at("the database", expected=f'the study "{key}"', found="none of that id")
            return target.write(lambda writing: _copied(reading, writing, int(study), key))


def study_ids(database: Database) -> list[str]:
    """The ids of the studies in a database."""
    with database.read() as connection:
        return [str(key) for key in connection.execute(select(studies.c.key).order_by(studies.c.id)).scalars()]


def count_rows(database: Database, key: str) -> Copied:
    """What a database holds of the study of this key."""
    with database.read() as connection:
        study = connection.execute(select(studies.c.id).where(studies.c.key == key)).scalar()
        if study is None:
            raise BadInput.at("the database", expected=f'the study "{key}"', found="none of that id")
        counts = {
            table.name: int(connection.execute(select(func.count()).where(_mine(table, int(study)))).scalar() or 0)
            for table in TABLES
        }
        return Copied(counts, _hash(connection, int(study), dict.fromkeys(counts, 0)))


def _copied(reading: Connection, writing: Connection, study: int, key: str) -> Copied:
    if writing.execute(select(studies.c.id).where(studies.c.key == key)).scalar() is not None:
        raise BadInput.at(
            "the database to copy to",
            expected=f'no study "{key}"',
            found="that it has one",
            remedy="copy to an empty database or folder",
        )
    shifts = {table.name: _shift(reading, writing, table, study) for table in TABLES}
    counts: dict[str, int] = {}
    for table in TABLES:
        counts[table.name] = 0
        for rows in _batches(reading, table, study):
            writing.execute(insert(table), [_shifted(table, row, shifts) for row in rows])
            counts[table.name] += len(rows)
        if writing.dialect.name == "postgresql" and counts[table.name]:
            # Rows with numbers of our own leave the counter where it was.
            counter = f"pg_get_serial_sequence('{table.name}', 'id')"
            writing.execute(text(f"SELECT setval({counter}, (SELECT max(id) FROM {table.name}))"))
    there = _hash(reading, study, dict.fromkeys(shifts, 0))
    here = _hash(writing, study + shifts["studies"], {name: -shift for name, shift in shifts.items()})
    if here != there:
        raise BadInput.at(
            "the copy", expected="every row as it was", found="rows that differ", remedy="nothing was kept"
        )
    return Copied(counts, here)


def _shift(reading: Connection, writing: Connection, table: Table, study: int) -> int:
    """By how much the numbers of a table grow: beyond all that are there, if there are any."""
    highest = writing.execute(select(func.max(table.c.id))).scalar()
    lowest = reading.execute(select(func.min(table.c.id)).where(_mine(table, study))).scalar()
    return 0 if highest is None or lowest is None else max(0, int(highest) - int(lowest) + 1)


def _mine(table: Table, study: int) -> Any:
    return (table.c.id if table is studies else table.c.study_id) == study


def _batches(connection: Connection, table: Table, study: int) -> Iterator[list[dict[str, Any]]]:
    """The study's rows of a table in the order of their numbers, some at a time."""
    last = -1
    while True:
        wanted = select(table).where(_mine(table, study), table.c.id > last).order_by(table.c.id).limit(BATCH)
        rows = [dict(row) for row in connection.execute(wanted).mappings()]
        if not rows:
            return
        yield rows
        last = int(rows[-1]["id"])


def _shifted(table: Table, row: dict[str, Any], shifts: dict[str, int]) -> dict[str, Any]:
    """A row with its numbers, and those of the rows that it refers to, in the other database."""
    moved = row | {"id": row["id"] + shifts[table.name]}
    for column in table.columns:
        for reference in column.foreign_keys:
            if row[column.name] is not None:
                moved[column.name] = row[column.name] + shifts[reference.column.table.name]
    return moved


def _hash(connection: Connection, study: int, shifts: dict[str, int]) -> str:
    """A hash of all rows of a study, by the numbers that they have without the shifts."""
    found = hashlib.sha256()
    for table in TABLES:
        for rows in _batches(connection, table, study):
            for row in rows:
                plain = _shifted(table, row, shifts)
                found.update(json.dumps([table.name, *plain.values()], ensure_ascii=True).encode())
    return found.hexdigest()
