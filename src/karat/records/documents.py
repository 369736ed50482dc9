"""Documents: what a judge or user sees of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from karat.records import column_names
from karat.records.schema import Column, Schema
from karat.records.table import Records, count


@dataclass(frozen=True, eq=False, repr=False)
class Documents(Records):
    """Documents with title, snippet, address and text, as far as they are known.

    >>> Documents.of([{"doc": "d1", "title": "Horse hoof", "url": "https://en.wikipedia.org/wiki/Horse_hoof"}])
    1 document with title, url
    """

    schema: ClassVar[Schema] = Schema(
        "documents",
        (
            Column("doc", pl.String, "the document's id", True, column_names.DOC),
            Column("title", pl.String, "its title"),
            Column("snippet", pl.String, "what a result page shows of it"),
            Column("url", pl.String, "its address"),
            Column("text", pl.String, "its full text", aliases=column_names.TEXT_OF_DOCUMENTS),
        ),
        ordinary=("doc", "title", "text"),
        key=("doc",),
        once="each document once",
    )

    def __repr__(self) -> str:
        known = [name for name in self.frame.columns if name != "doc"]
        return count(len(self), "document") + (f" with {', '.join(known)}" if known else "")


SCHEME = r"^(?:(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//)?"
#: The host in the column url, in small letters.
HOST = pl.col("url").str.extract(SCHEME + r"(?:[^/?#@]*@)?([^/?#:]+)", 1).str.to_lowercase()
#: The host without www.
SITE = HOST.str.replace(r"^www\.", "")
