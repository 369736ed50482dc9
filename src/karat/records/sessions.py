"""Sessions: the result lists that a user saw one after another, and what the user said of the search as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from karat.errors import BadInput
from karat.records import column_names
from karat.records.schema import Column, Schema
from karat.records.source import Source
from karat.records.table import Records, count

_DOC = (*column_names.DOC, "url")
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
            Column(
                "doc",
                pl.String,
                "the document's id; none for a list without results",
                True,
                (*column_names.DOC, "url"),
                False,
            ),
            Column("rank", pl.Int64, "the place in the list, 1 the best", True, ("position",), False),
            Column(
                "query",
                pl.String,
                "the query's id in the labels; the session's where absent",
                aliases=column_names.QUERY,
            ),
        ),
        key=("session", "step", "doc"),
        once="each document once in a list",
    )

    @classmethod
    def _refuse(cls, frame: pl.DataFrame, source: Source) -> None:
        rank = frame["rank"]
        source.refuse(
            frame["doc"].is_not_null() & (rank.is_null() | (rank < 1)),
            expected="a rank from 1 for a result",
            found=lambda row: "nothing" if rank[row] is None else str(rank[row]),
            remedy="leave doc empty for a list without results",
        )

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
        key=("session",),
        once="one row for each session",
        remedy="put several ratings of a session in columns",
        beside=("*",),
    )

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
