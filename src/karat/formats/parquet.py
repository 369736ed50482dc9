"""Parquet: typed columns, packed."""

from __future__ import annotations

import io

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import MOST_COLUMNS
from karat.formats.format import Format, Rows, add_format
from karat.formats.open_files import File
from karat.formats.parquet_rows import count_rows, read_all, read_names
from karat.formats.unpacking import VARIABLE, most_bytes
from karat.records import Source


def read_parquet(file: File) -> Rows:
    """The rows of a table, typed."""
    _refuse_large(file)
    return read_all(file), Source(file.name)


def _refuse_large(file: File) -> None:
    """Refuse a table that a few bytes describe and no memory holds: Parquet writes a repeated value once."""
    columns, rows = len(read_names(file)), count_rows(file)
    if columns > MOST_COLUMNS or rows * columns * 8 > most_bytes():
        raise BadInput.at(
            file.name,
            expected=f"at most {MOST_COLUMNS:,} columns, and {most_bytes():,} bytes in all",
            found=f"{rows:,} rows of {columns:,} columns",
            remedy=f"set {VARIABLE} to allow more bytes",
        )


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
        has_lines=False,
    ),
    __name__,
)
