"""JSON lines: a JSON object for each row."""

from __future__ import annotations

import polars as pl

from karat.formats.csv import refuse_empty, whole_labels
from karat.formats.format import Format, Rows, add_format
from karat.formats.open_files import File
from karat.formats.parse_errors import blame_json
from karat.records import Source


def read_jsonl(file: File) -> Rows:
    """The rows, typed, and their lines."""
    refuse_empty(file)
    data = file.content.removeprefix(b"\xef\xbb\xbf")
    lines = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    try:
        frame = pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        raise blame_json(file, data) from None
    return frame, Source(file.name, pl.Series(lines) if len(lines) == frame.height else None)


def write_jsonl(frame: pl.DataFrame) -> bytes:
    """A table as JSON lines."""
    return whole_labels(frame).write_ndjson().encode()


def is_json(file: File) -> bool:
    """Whether a file begins as JSON does."""
    return file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


add_format(
    Format(
        "jsonl",
        read_jsonl,
        write_jsonl,
        (".jsonl", ".ndjson"),
        (".jsonl", ".ndjson", ".json"),
        sniff=lambda file, schema: is_json(file),
    ),
    __name__,
)
