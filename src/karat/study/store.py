"""One study in a database: what every function of the store is given first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Executable, Table, select

from karat.errors import BadInput, KaratError
from karat.records.scale import Scale
from karat.records.study_design import Rules, StudyDesign
from karat.study.database import Database, Prepared, add_all, rows_of
from karat.study.tables import studies

P = ParamSpec("P")
T = TypeVar("T")

#: Where people come from whom nobody invited.
PLATFORMS = ("prolific", "mturk")
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
    """A study in a database, its rules, a clock (seconds since 1970), which tests turn, and its scale.

    What is done `by` a lead has the lead's name in the log.
    """

    database: Database
    study_id: int
    rules: Rules
    groups: tuple[str, ...]
    clock: Callable[[], float] = time.time
    scale: Scale | None = None
    by: str | None = None

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
                new = {"key": study.id, "title": study.title, "made": clock()}
                found = Prepared.new_row(studies).add(connection, new)
            return int(found)

        try:
            return cls(database, database.write(find), study.rules, study.groups, clock, study.scale)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        """Give all connections back."""
        self.database.close()

    def kept_until(self) -> float:
        """Until when a task is kept that a judge gets now."""
        return self.clock() + 60 * self.rules.reserve_minutes

    def times(self) -> dict[str, float]:
        """Now, and the latest time until which anything may be kept, as questions to the database name them.

        A clock that is set back leaves tasks kept until a far future. Twice the time of the rules is no far future:
        clocks are put right by seconds all the time, and nobody is to lose a task by that.
        """
        now = self.clock()
        return {"now": now, "latest": now + 120 * self.rules.reserve_minutes}

    def rows(self, statement: Executable | Prepared, **names: Any) -> list[dict[str, Any]]:
        """What the database answers to a question, with the names in it; within a transaction, a part of it."""
        if (within := self.database.transaction) is not None:
            return rows_of(within, statement, names)
        with self.database.read() as connection:
            return rows_of(connection, statement, names)

    def first(self, statement: Executable | Prepared, **names: Any) -> dict[str, Any] | None:
        """The first row of an answer, if there is one."""
        return next(iter(self.rows(statement, **names)), None)

    def value(self, statement: Executable | Prepared, **names: Any) -> Any:
        """The first value of an answer, if there is one."""
        return next(iter((self.first(statement, **names) or {}).values()), None)

    def change(self, statement: Executable | Prepared, values: Any = None) -> int:
        """Change the database, within a `transaction` only; returns how many rows were changed."""
        if isinstance(statement, Prepared):
            return statement.change(self._within, values)
        return int(self._within.execute(statement, values).rowcount)

    def add(self, new_row: Prepared, row: dict[str, Any]) -> int:
        """Insert a row, within a `transaction` only; returns its number."""
        return new_row.add(self._within, row)

    def add_all(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert many rows, within a `transaction` only; what a row has beside the table's columns is left aside."""
        add_all(self._within, table, rows)

    @property
    def _within(self) -> Connection:
        connection = self.database.transaction
        assert connection is not None
        return connection


def made_at(store: Store) -> float:
    """When the study was made in its database, in seconds since 1970."""
    return float(store.value(select(studies.c.made).where(studies.c.id == store.study_id)))


def transaction(work: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Make a function of a store one transaction: all of it is stored when it returns, or nothing.

    It is done again from the start when another transaction got in its way, so it must do nothing else. Within another
    transaction it is a part of that.
    """

    @wraps(work)
    def whole(store: Store, /, *args: P.args, **named: P.kwargs) -> T:
        return store.database.write(lambda connection: work(store, *args, **named))

    return whole
