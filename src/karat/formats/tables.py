"""Tables with named columns: CSV, TSV, JSON lines, Parquet."""

from __future__ import annotations

import io
from collections.abc import Callable

import polars as pl

from karat.errors import BadInput
from karat.formats.blame import blame_csv, blame_json
from karat.formats.files import File
from karat.records import Source

#: A spreadsheet takes a cell that starts so for a formula; written with a quote before it, it stays a text.
FORMULA = r"^[=+\-@\t\r]"
#: Ids are written as they are, because other tools match them; the rest may hold what anybody typed.
IDS = ("query", "doc", "docid", "system", "team", "context", "subtopic", "left", "right", "time")

#: As much of a first line as an error quotes.
MOST_SHOWN = 60


def read_table(file: File, format: str) -> tuple[pl.DataFrame, Source]:  # noqa: A002
    """The rows of a table, texts as they stand (CSV) or typed (JSON lines, Parquet), and their lines."""
    if format == "parquet":
        return _trouble(file, "a Parquet file", lambda: pl.read_parquet(file.for_polars)), Source(file.name)
    if not file.head.strip():
        raise BadInput.at(file.name, expected="a first line with the columns' names", found="an empty file")
    if format == "jsonl":
        return _read_jsonl(file)
    return _read_csv(file)


def separator_of(first_line: bytes) -> str:
    """The separator that a header line uses.

    >>> separator_of(b"query;doc;label"), separator_of(b"query,doc,label")
    (';', ',')
    """
    return max("\t;,", key=lambda s: (first_line.count(s.encode()), s == ","))


def write_csv(frame: pl.DataFrame, separator: str = ",") -> bytes:
    """A table as CSV; texts that a spreadsheet would run as a formula are written with a quote before them."""
    guarded = [
        pl.when(pl.col(name).str.contains(FORMULA) & pl.col(name).cast(pl.Float64, strict=False).is_null())
        .then("'" + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name, dtype in frame.schema.items()
        if dtype == pl.String and name not in IDS
    ]
    frame = whole_labels(frame)
    return frame.with_columns(guarded).write_csv(separator=separator).encode()


def write_jsonl(frame: pl.DataFrame) -> bytes:
    """A table as JSON lines."""
    return whole_labels(frame).write_ndjson().encode()


def whole_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Labels as whole numbers where all are: `2`, not `2.0`, which some tools cannot read."""
    columns = [
        name
        for name in ("label", "rating")
        if name in frame.columns and (frame[name] == frame[name].round(0)).fill_null(True).all()
    ]
    return frame.with_columns(pl.col(columns).cast(pl.Int64)) if columns else frame


def write_parquet(frame: pl.DataFrame) -> bytes:
    """A table as Parquet."""
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def _read_csv(file: File) -> tuple[pl.DataFrame, Source]:
    first_line = file.head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].strip()
    separator = separator_of(first_line)
    try:
        frame = pl.read_csv(file.for_polars, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        raise blame_csv(file, separator) from None
    frame = frame.rename({name: name.strip() for name in frame.columns})
    # A quoted text may run over several lines: the lines below it stand lower by as many.
    extra = frame.select(pl.sum_horizontal(pl.all().str.count_matches("\n").fill_null(0))).to_series()
    lines = pl.int_range(2, frame.height + 2, eager=True) + extra.cum_sum().shift(1, fill_value=0)
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    unguarded = [
        pl.when(pl.col(name).str.contains(r"^'[=+\-@\t\r]"))
        .then(pl.col(name).str.slice(1))
        .otherwise(pl.col(name))
        .alias(name)
        for name in frame.columns
        if name not in IDS
    ]
    frame = frame.with_columns(pl.all().str.strip_chars(" \t"))
    header = first_line.decode(errors="replace")
    header = header if len(header) <= MOST_SHOWN else header[: MOST_SHOWN - 3] + "..."
    source = Source(file.name, lines.filter(filled), header=header, separator=separator)
    return frame.with_columns(unguarded).filter(filled), source


def _read_jsonl(file: File) -> tuple[pl.DataFrame, Source]:
    data = file.content.removeprefix(b"\xef\xbb\xbf")
    lines = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    try:
        frame = pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        raise blame_json(file, data) from None
    return frame, Source(file.name, pl.Series(lines) if len(lines) == frame.height else None)


def _trouble(file: File, expected: str, read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    try:
        return read()
    except pl.exceptions.PolarsError as error:
        raise BadInput.at(file.name, expected=expected, found=str(error).splitlines()[0]) from None
