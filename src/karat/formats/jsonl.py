"""JSON lines: a JSON object for each row. A list of such objects is read, too."""

from __future__ import annotations

import json

import polars as pl

from karat.formats.csv import refuse_empty, whole_labels
from karat.formats.format import Format, Rows, add_format
from karat.formats.json_text import check_lines, load_json, objects, refuse_twice
from karat.formats.open_files import NEWLINE, File
from karat.formats.parse_errors import blame_json
from karat.records import Source


def read_jsonl(file: File) -> Rows:
    """The rows, typed, and their lines; a list of objects is read, too."""
    refuse_empty(file)
    data = file.content
    if data.lstrip().startswith(b"["):
        rows = objects(load_json(file), file, "a list of objects")
        return _frame(file, "\n".join(json.dumps(row) for row in rows).encode()), Source(file.name)
    lines = data.split(NEWLINE)
    check_lines(file, data, lines)
    frame = _frame(file, data)
    refuse_twice(file, data, lines, {column.name: len(column) - column.null_count() for column in frame.iter_columns()})
    filled = [number for number, line in enumerate(lines, 1) if line.strip()]
    return frame, Source(file.name, pl.Series(filled) if len(filled) == frame.height else None)


def _frame(file: File, data: bytes) -> pl.DataFrame:
    if not data:
        return pl.DataFrame()
    try:
        return pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        raise blame_json(file, data) from None


def write_jsonl(frame: pl.DataFrame) -> bytes:
    """A table as JSON lines."""
    return whole_labels(frame).write_ndjson().encode()


def is_json(file: File) -> bool:
    """Whether a file begins as JSON does: an object, or a list of objects."""
    start = file.head.lstrip()
    return start.startswith(b"{") or (start.startswith(b"[") and start[1:].lstrip()[:1] in (b"{", b"]"))


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
