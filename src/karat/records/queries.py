"""Queries: what users asked, and the subtopics they may have meant."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import polars as pl

from karat.records import column_names
from karat.records.schema import Column, Schema
from karat.records.source import Source
from karat.records.table import Records, count, frame_of

_QUERY = Column("query", pl.String, "the query's id", True, column_names.QUERY_OF_QUERIES)

SUBTOPICS = Schema(
    "subtopics",
    (
        _QUERY,
        Column("subtopic", pl.String, "the subtopic's id", True, ("subtopic_id",)),
        Column("description", pl.String, "what the user wants", aliases=("text",)),
        Column("kind", pl.String, "navigational or informational", aliases=("type",)),
        Column("weight", pl.Float64, "how many of the users mean it, as a share", least=0),
    ),
    key=("query", "subtopic"),
    once="each subtopic once",
)
#: The column of a table of queries in which each query has a list of its subtopics.
NESTED = "subtopics"
#: What a subtopic's id may be called where it is nested in its query.
NESTED_IDS = ("subtopic", "subtopic_id", "number", "id")


@dataclass(frozen=True, eq=False, repr=False)
class Queries(Records):
    """Queries with their texts, kinds (ambiguous or faceted), and subtopics with weights.

    >>> Queries.of([{"query": "51", "text": "horse hooves"}])
    1 query
    >>> Queries.of([{"query": "51", "subtopics": [{"subtopic": "1", "kind": "navigational"}]}])
    1 query with 1 subtopic
    """

    subtopics: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={c.name: c.dtype for c in SUBTOPICS.columns})
    )

    schema: ClassVar[Schema] = Schema(
        "queries",
        (
            _QUERY,
            Column("text", pl.String, "what the user typed", aliases=column_names.TEXT_OF_QUERIES),
            Column("description", pl.String, "the information need in a sentence"),
            Column("kind", pl.String, "ambiguous, faceted, navigational, ...", aliases=("type",)),
        ),
        ordinary=("query", "text"),
        beside=("narrative",),
        key=("query",),
        once="each query once",
    )

    @classmethod
    def of(cls, data: Any, subtopics: Any = None) -> Queries:
        """Queries from a frame or rows, with subtopics from another."""
        if isinstance(data, Queries):
            return data
        return cls.check(
            frame_of(data, "the queries"),
            None if subtopics is None else frame_of(subtopics, "the subtopics"),
        )

    @classmethod
    def check(
        cls, frame: pl.DataFrame, subtopics: pl.DataFrame | None = None, *, source: Source | None = None
    ) -> Queries:
        """Queries from frames; `BadInput` names the first row that breaks a rule.

        Subtopics may be nested in the queries: a column `subtopics` with a list of objects.
        """
        query_rows = frame
        if subtopics is None and _has_nested_subtopics(frame):
            query_rows = frame.drop(NESTED)
        checked = super().check(query_rows, source=source)
        if query_rows is not frame:
            subtopics = _nested_subtopics(checked.frame["query"], frame[NESTED])
        if subtopics is None:
            return checked
        place, notes = Source("the subtopics" if source is None else f"the subtopics of {source.name}"), list[str]()
        return replace(
            checked, subtopics=SUBTOPICS.conform(subtopics, place, notes=notes), notes=(*checked.notes, *notes)
        )

    def __repr__(self) -> str:
        text = count(len(self), "query", "queries")
        return f"{text} with {count(self.subtopics.height, 'subtopic')}" if self.subtopics.height else text


def _has_nested_subtopics(frame: pl.DataFrame) -> bool:
    """Whether each query has a list of objects as its subtopics."""
    dtype = frame.schema.get(NESTED)
    return isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct)


def _nested_subtopics(query: pl.Series, nested: pl.Series) -> pl.DataFrame:
    """The nested subtopics as a table of their own; `query` has the id of each row."""
    rows = pl.DataFrame({"query": query, NESTED: nested}).explode(NESTED).drop_nulls(NESTED)
    rows = rows.select(pl.col("query").alias("_query"), pl.col(NESTED).struct.unnest()).drop("query", strict=False)
    found = next((name for name in NESTED_IDS if name in rows.columns), None)
    return rows.rename({"_query": "query"} | ({} if found is None else {found: "subtopic"}))
