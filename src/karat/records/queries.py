"""Queries: what users asked, and the subtopics they may have meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from karat.errors import BadInput
from karat.records.base import Records, count, frame_of, repeats, source_or
from karat.records.schema import Column, Schema
from karat.records.source import Source

_QUERY = Column("query", pl.String, "the query's id", True, ("query_id", "qid", "topic", "number"))

SUBTOPICS = Schema(
    "subtopics",
    (
        _QUERY,
        Column("subtopic", pl.String, "the subtopic's id", True, ("subtopic_id",)),
        Column("description", pl.String, "what the user wants", aliases=("text",)),
        Column("kind", pl.String, "navigational or informational", aliases=("type",)),
        Column("weight", pl.Float64, "how many of the users mean it, as a share"),
    ),
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
            Column("text", pl.String, "what the user typed", aliases=("title", "query_text")),
            Column("description", pl.String, "the information need in a sentence"),
            Column("kind", pl.String, "ambiguous, faceted, navigational, ...", aliases=("type",)),
        ),
        ordinary=("query", "text"),
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
        source = source_or(source, "the queries")
        frame = cls.schema.conform(frame, source)
        again = ~frame["query"].is_first_distinct()
        if again.any():
            row = int(again.arg_max() or 0)
            raise BadInput.at(source.at(row), expected="each query once", found=f"{frame['query'][row]} again")
        if subtopics is None:
            return cls(frame)
        place = Source(f"the subtopics of {source.name}")
        subtopics = SUBTOPICS.conform(subtopics, place)
        again = repeats(subtopics, ["query", "subtopic"])
        if again.any():
            twice = subtopics.filter(again).row(0, named=True)
            raise BadInput.at(
                place.name, expected="each subtopic once", found=f"{twice['subtopic']} of query {twice['query']} again"
            )
        if "weight" in subtopics.columns:
            wrong = ((subtopics["weight"] < 0) | ~subtopics["weight"].is_finite()).fill_null(False)
            if wrong.any():
                row = int(wrong.arg_max() or 0)
                raise BadInput.at(place.at(row), expected="a weight of 0 or more", found=str(subtopics["weight"][row]))
        return cls(frame, (), subtopics)

    def __repr__(self) -> str:
        text = count(len(self), "query", "queries")
        return f"{text} with {count(self.subtopics.height, 'subtopic')}" if self.subtopics.height else text
