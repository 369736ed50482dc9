"""Quepid's basic CSV of `query,docid,rating`.

Quepid knows queries by their text, so the text is the query's id here.
"""

from __future__ import annotations

import polars as pl

from karat.formats.csv import names_of, read_csv, write_csv
from karat.formats.format import Format, Narrow, add_format
from karat.formats.open_files import File
from karat.records import Judgments, Scale
from karat.records.base import count

BASIC = ["query", "docid", "rating"]


def read_basic(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from `query,docid,rating`; queries without any rating, which Quepid lists too, are noted."""
    frame, source = read_csv(file)
    frame = frame.rename({name: name.lower() for name in frame.columns})
    alone = frame["docid"].is_null() & frame["rating"].is_null()
    judgments = Judgments.check(
        frame.filter(~alone), scale=scale, source=source.keep(~alone), drop_bad_labels=drop_bad_labels, one_each=True
    )
    if not alone.any():
        return judgments
    note = f"{file.name}: {count(int(alone.sum()), 'query', 'queries')} without a rating"
    return Judgments(judgments.frame, (*judgments.notes, note), scale)


def write_basic(judgments: Judgments, name: str) -> bytes:
    """Judgments as `query,docid,rating`."""
    frame = judgments.frame.drop_nulls("label")
    return write_csv(frame.select("query", pl.col("doc").alias("docid"), pl.col("label").alias("rating")))


add_format(
    Format(
        "quepid-csv",
        read_csv,
        read_from=(".csv",),
        sniff=lambda file, schema: file.ending == ".csv" and names_of(file) == BASIC,
        records={Judgments: Narrow(read_basic, write_basic, frozenset({"query", "doc", "label"}))},
        holds=lambda file: "judgments",
    ),
    __name__,
)
