"""Parquet: typed columns, packed."""

from __future__ import annotations

import io

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Rows, add_format
from karat.formats.open_files import File
from karat.records import Source


def read_parquet(file: File) -> Rows:
    """The rows of a table, typed."""
    try:
        return pl.read_parquet(file.for_polars), Source(file.name)
    except pl.exceptions.PolarsError as error:
        raise BadInput.at(file.name, expected="a Parquet file", found=str(error).splitlines()[0]) from None


def write_parquet(frame: pl.DataFrame) -> bytes:
    """A table as Parquet."""
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


add_format(
    Format(
        "parquet",
        read_parquet,
        write_parquet,
        (".parquet", ".pq"),
        sniff=lambda file, schema: file.head.startswith(b"PAR1"),
    ),
    __name__,
)
