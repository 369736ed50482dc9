"""Tables with named columns: CSV, TSV, JSON lines, Parquet."""

from __future__ import annotations

import io
from collections.abc import Callable

import polars as pl

from karat.errors import BadInput
from karat.formats.blame import blame_csv, blame_json
from karat.formats.files import File
from karat.records import Source

#: A spreadsheet takes a cell that starts so for a formula; with one more quote before it, it stays a text. Texts that
#: have quotes already get one more, too, so that reading can take one away from every text that starts so.
FORMULA = r"^[ ']*[=+\-@\t\r\n]"
GUARDED = r"^'[ ']*[=+\-@\t\r\n]"
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"

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
    """A table as CSV; texts that a spreadsheet would run as a formula, names too, have a quote before them."""
    return guarded(whole_labels(frame)).write_csv(separator=separator).encode()


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """A table that is safe to open in a spreadsheet once it is written as CSV.

    >>> guarded(pl.DataFrame({"doc": ["a", "=1+1", "-7", "'=b"]}))["doc"].to_list()
    ['a', "'=1+1", '-7', "''=b"]
    """
    frame = frame.with_columns(_guarded(column) for column in frame.iter_columns() if column.dtype == pl.String)
    names = _guarded(pl.Series(frame.columns, dtype=pl.String))
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def write_jsonl(frame: pl.DataFrame) -> bytes:
    """A table as JSON lines."""
    return whole_labels(frame).write_ndjson().encode()


def whole_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Labels as whole numbers where all are: `2`, not `2.0`, which some tools cannot read."""
    columns = [
        name
        for name in ("label", "rating")
        if name in frame.columns
        and frame[name].dtype.is_numeric()
        and (frame[name] == frame[name].round(0)).fill_null(True).all()
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
    frame = _named(frame, file)
    # A quoted text may run over several lines: the lines below it stand lower by as many.
    extra = frame.select(pl.sum_horizontal(pl.all().str.count_matches("\n").fill_null(0))).to_series()
    lines = pl.int_range(2, frame.height + 2, eager=True) + extra.cum_sum().shift(1, fill_value=0)
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    frame = frame.with_columns(pl.all().str.strip_chars(" \t"))
    frame = frame.with_columns(_unguarded(column) for column in frame.iter_columns())
    header = first_line.decode(errors="replace")
    header = header if len(header) <= MOST_SHOWN else header[: MOST_SHOWN - 3] + "..."
    return frame.filter(filled), Source(file.name, lines.filter(filled), header=header, separator=separator)


def _named(frame: pl.DataFrame, file: File) -> pl.DataFrame:
    """The frame with its names as they were before they were guarded."""
    names = _unguarded(pl.Series(frame.columns, dtype=pl.String).str.strip_chars()).to_list()
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise BadInput.at(file.name, expected="each column once", found=f"{twice[0]} twice")
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def _guarded(texts: pl.Series) -> pl.Series:
    formula = texts.str.contains(FORMULA)
    if not formula.any():
        return texts
    formula &= ~texts.str.contains(NUMBER)
    return pl.select(pl.when(formula).then("'" + texts).otherwise(texts).alias(texts.name)).to_series()


def _unguarded(texts: pl.Series) -> pl.Series:
    # Nearly all columns have no such cell, and are spared the slower look.
    if not texts.str.starts_with("'").any():
        return texts
    guarded = texts.str.contains(GUARDED)
    return pl.select(pl.when(guarded).then(texts.str.slice(1)).otherwise(texts).alias(texts.name)).to_series()


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
