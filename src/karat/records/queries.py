"""Queries: what users asked, and the subtopics they may have meant."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import polars as pl

from karat.records import names
from karat.records.base import Records, count, frame_of
from karat.records.schema import Column, Schema
from karat.records.source import Source

_QUERY = Column("query", pl.String, "the query's id", True, names.QUERY_OF_QUERIES)

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


@dataclass(frozen=True, eq=False, repr=False)
class Queries(Records):
    """Queries with their texts, kinds (ambiguous or faceted), and subtopics with weights.

    >>> Queries.of([{"query": "51", "text": "horse hooves"}])
    1 query
    """

    subtopics: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={c.name: c.dtype for c in SUBTOPICS.columns})
    )

    schema: ClassVar[Schema] = Schema(
        "queries",
        (
            _QUERY,
            Column("text", pl.String, "what the user typed", aliases=names.TEXT_OF_QUERIES),
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
        """Queries from frames; `BadInput` names the first row that breaks a rule."""
        checked = super().check(frame, source=source)
        if subtopics is None:
            return checked
        place, notes = Source("the subtopics" if source is None else f"the subtopics of {source.name}"), list[str]()
        return replace(
            checked, subtopics=SUBTOPICS.conform(subtopics, place, notes=notes), notes=(*checked.notes, *notes)
        )

    def __repr__(self) -> str:
        text = count(len(self), "query", "queries")
        return f"{text} with {count(self.subtopics.height, 'subtopic')}" if self.subtopics.height else text
