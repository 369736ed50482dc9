"""Documents: what a judge or user sees of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from karat.errors import BadInput
from karat.records.base import Records, count, frame_of, source_or
from karat.records.schema import Column, Schema
from karat.records.source import Source


@dataclass(frozen=True, eq=False, repr=False)
class Documents(Records):
    """Documents with title, snippet, address and text, as far as they are known.

    >>> Documents.of([{"doc": "d1", "title": "Horse hoof", "url": "https://en.wikipedia.org/wiki/Horse_hoof"}])
    1 document with title, url
    """

    schema: ClassVar[Schema] = Schema(
        "documents",
        (
            Column("doc", pl.String, "the document's id", True, ("doc_id", "docid", "docno", "id")),
            Column("title", pl.String, "its title"),
            Column("snippet", pl.String, "what a result page shows of it"),
            Column("url", pl.String, "its address"),
            Column("text", pl.String, "its full text", aliases=("body", "contents")),
        ),
        ordinary=("doc", "title", "text"),
    )

    @classmethod
    def of(cls, data: Any) -> Documents:
        """Documents from a frame or rows."""
        return data if isinstance(data, Documents) else cls.check(frame_of(data, "the documents"))

    @classmethod
    def check(cls, frame: pl.DataFrame, *, source: Source | None = None) -> Documents:
        """Documents from a frame; `BadInput` names the first row that breaks a rule."""
        source = source_or(source, "the documents")
        frame = cls.schema.conform(frame, source)
        again = ~frame["doc"].is_first_distinct()
        if again.any():
            row = int(again.arg_max() or 0)
            raise BadInput.at(source.at(row), expected="each document once", found=f"{frame['doc'][row]} again")
        return cls(frame)

    def __repr__(self) -> str:
        known = [name for name in self.frame.columns if name != "doc"]
        return count(len(self), "document") + (f" with {', '.join(known)}" if known else "")
