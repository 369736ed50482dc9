"""One study in a database: what every function of the store is given first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Insert, RowMapping, insert, select

from karat.errors import BadInput, KaratError
from karat.records.design import Rules, StudyDesign
from karat.records.scale import Scale
from karat.store.database import Database
from karat.store.tables import studies

#: Lots, which draw orders and sides, are below this: the product of two fits any database's integer.
LOTS = 30_000


class NotYours(KaratError):
    """There is no such task for this judge."""


class Closed(KaratError):
    """This judge is not given tasks now."""


class Conflict(KaratError):
    """The answer cannot be taken as things stand; what was said is in the log."""


@dataclass(frozen=True)
class Store:
    """A study in a database, its rules, a clock (seconds since 1970), which tests turn, and its scale."""

    database: Database
    study_id: int
    rules: Rules
    groups: tuple[str, ...]
    clock: Callable[[], float] = time.time
    scale: Scale | None = None

    @classmethod
    def open(cls, url: str, study: StudyDesign, *, clock: Callable[[], float] = time.time, made: bool = True) -> Store:
        """The study's place in the database at a URL or path; made when it is new, with `made` False refused then."""
        database = Database.open(url)

        def find(connection: Connection) -> int:
            found = connection.execute(select(studies.c.id).where(studies.c.key == study.id)).scalar()
            if found is None and not made:
                others = [f'"{key}"' for key in connection.execute(select(studies.c.key).limit(5)).scalars()]
                raise BadInput.at(
                    "the database",
                    expected=f'the study "{study.id}"',
                    found=", ".join(others) or "no study: nothing was collected here",
                    remedy="set the id in study.toml, or name another database" if others else "name another database",
                )
            if found is None:
                found = added(connection, insert(studies), {"key": study.id, "title": study.title, "made": clock()})
            return int(found)

        try:
            return cls(database, database.write(find), study.rules, study.groups, clock, study.scale)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        """Give all connections back."""
        self.database.close()


def added(connection: Connection, statement: Insert, row: dict[str, Any]) -> int:
    """Insert a row; returns its number."""
    key = connection.execute(statement, row).inserted_primary_key
    assert key is not None
    return int(key[0])


def as_dict(row: RowMapping | None) -> dict[str, Any] | None:
    """A row as a dictionary, none as none."""
    return None if row is None else dict(row)
