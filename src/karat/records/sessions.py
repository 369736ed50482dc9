"""Sessions: the result lists that a user saw one after another, and what the user said of the search as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from karat.errors import BadInput
from karat.records.base import Records, count, frame_of, repeats, source_or
from karat.records.schema import Column, Schema
from karat.records.source import Source

_SESSION = Column("session", pl.String, "the search's id", True, ("session_id", "sessionid", "search"))


@dataclass(frozen=True, eq=False, repr=False)
class SessionLists(Records):
    """What users saw: a row for each result of each list (step 1, 2, ...) of a session; no doc: an empty list.

    >>> SessionLists.of([{"session": "s1", "step": 1, "doc": "d1", "rank": 1}, {"session": "s1", "step": 2}])
    1 result in 2 lists of 1 session
    """

    schema: ClassVar[Schema] = Schema(
        "session lists",
        (
            _SESSION,
            Column("step", pl.Int64, "which list of the session, 1 the first", True, ("qno", "query_no", "list")),
            Column("doc", pl.String, "the document's id; none for a list without results", True, ("url",), False),
            Column("rank", pl.Int64, "the place in the list, 1 the best", True, ("position",), False),
            Column("query", pl.String, "the query's id in the labels; the session's where absent"),
        ),
    )

    @classmethod
    def of(cls, data: Any) -> SessionLists:
        """Lists from a frame or rows."""
        return data if isinstance(data, SessionLists) else cls.check(frame_of(data, "the session lists"))

    @classmethod
    def check(cls, frame: pl.DataFrame, *, source: Source | None = None) -> SessionLists:
        """Lists from a frame; `BadInput` names the first row that breaks a rule."""
        source = source_or(source, "the session lists")
        frame = cls.schema.conform(frame, source)
        known = frame["doc"].is_not_null()
        low = known & (frame["rank"].is_null() | (frame["rank"] < 1))
        if low.any():
            row = int(low.arg_max() or 0)
            raise BadInput.at(
                source.at(row),
                expected="a rank from 1 for a result",
                found="nothing" if frame["rank"][row] is None else str(frame["rank"][row]),
                remedy="leave doc empty for a list without results",
            )
        again = known & repeats(frame, ["session", "step", "doc"])
        if again.any():
            row = int(again.arg_max() or 0)
            raise BadInput.at(
                source.at(row),
                expected="each document once in a list",
                found=f"{frame['doc'][row]} again in list {frame['step'][row]} of session {frame['session'][row]}",
            )
        return cls(frame)

    def __repr__(self) -> str:
        return (
            f"{count(self.frame['doc'].count(), 'result')} in "
            f"{count(self.frame.select('session', 'step').n_unique(), 'list')} of "
            f"{count(self.frame['session'].n_unique(), 'session')}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(Records):
    """What users said of a search: a row for each session, with one or more columns of numbers.

    >>> Ratings.of([{"session": "s1", "performance": 4}, {"session": "s2", "performance": 2}])
    ratings of 2 sessions
    """

    schema: ClassVar[Schema] = Schema(
        "ratings",
        (
            _SESSION,
            Column("user", pl.String, "who searched", aliases=("user_id", "userid", "participant")),
        ),
    )

    @classmethod
    def of(cls, data: Any) -> Ratings:
        """Ratings from a frame or rows."""
        return data if isinstance(data, Ratings) else cls.check(frame_of(data, "the ratings"))

    @classmethod
    def check(cls, frame: pl.DataFrame, *, source: Source | None = None) -> Ratings:
        """Ratings from a frame; `BadInput` names the first row that breaks a rule."""
        source = source_or(source, "the ratings")
        frame = cls.schema.conform(frame, source)
        again = repeats(frame, ["session"])
        if again.any():
            row = int(again.arg_max() or 0)
            raise BadInput.at(
                source.at(row),
                expected="one row for each session",
                found=f"session {frame['session'][row]} again",
                remedy="put several ratings of a session in columns",
            )
        return cls(frame)

    def rating(self, name: str) -> pl.Series:
        """One column of ratings as numbers, null where the user gave none; names may differ in case."""
        spelled = {column.casefold(): column for column in reversed(self.frame.columns)}
        column = name if name in self.frame.columns else spelled.get(name.casefold())
        if column is None or column == "session":
            others = [c for c in self.frame.columns if c not in self.schema.names]
            raise BadInput.at(
                "the ratings", expected=f"a column {name}", found=", ".join(others) or "no column of ratings"
            )
        values = self.frame[column]
        if values.dtype == pl.String:
            stripped = values.str.strip_chars()
            values = stripped.set(stripped == "", None)
        numbers = values.cast(pl.Float64, strict=False)
        wrong = numbers.is_null() & values.is_not_null() | numbers.is_infinite().fill_null(False)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise BadInput.at(
                f"the ratings of session {self.frame['session'][row]}",
                expected=f"a number as {name}",
                found=f'"{values[row]}"',
            )
        return numbers.fill_nan(None).alias(name)

    def __repr__(self) -> str:
        return f"ratings of {count(len(self), 'session')}"
