"""CSV and TSV: tables with a first line of names, safe to open in a spreadsheet."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.formats.decompression import most_bytes
from karat.formats.format_registry import Format, Rows, add_format
from karat.formats.open_files import File
from karat.formats.read_errors import blame_csv
from karat.records import Runs, Source
from karat.records.schema import Schema

#: A spreadsheet takes a cell that starts so for a formula; with one more quote before it, it stays a text. Texts that
#: have quotes already get one more, too, so that reading can take one away from every text that starts so. Some
#: spreadsheets take full-width signs for the ordinary ones, and those of some countries begin a cell after every `;`.
STARTS = r"[ ']*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]"
FORMULA, GUARDED = rf"(^|;)({STARTS})", rf"(^|;)'({STARTS})"
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"

#: From here on, not every whole number is one of those that a column of numbers holds.
MOST_WHOLE = 2**53

#: As many columns as a table may have, and from how many on its cells are counted.
MOST_COLUMNS, WIDE = 2_000, 100

#: As much of a first line as an error quotes.
MOST_SHOWN = 60


def separator_of(first_line: bytes) -> str:
    """The separator that a header line uses.

    >>> separator_of(b"query;doc;label"), separator_of(b"query,doc,label")
    (';', ',')
    """
    return max("\t;,", key=lambda s: (first_line.count(s.encode()), s == ","))


def write_csv(frame: pl.DataFrame, separator: str = ",") -> bytes:
    """A table as CSV; texts that a spreadsheet would run as a formula, names too, have a quote before them."""
    return guarded(whole_labels(_flat(frame))).write_csv(separator=separator).encode()


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with lists and objects, for which CSV has no place, as texts of JSON."""
    nested = [column for column in frame.iter_columns() if column.dtype.is_nested()]
    texts = [
        [None if v is None else json.dumps(v, ensure_ascii=False, default=str) for v in c.to_list()] for c in nested
    ]
    return frame.with_columns(pl.Series(c.name, text, pl.String) for c, text in zip(nested, texts, strict=True))


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """A table that is safe to open in a spreadsheet once it is written as CSV.

    >>> guarded(pl.DataFrame({"doc": ["a", "=1+1", "-7", "'=b"]}))["doc"].to_list()
    ['a', "'=1+1", '-7', "''=b"]
    """
    frame = frame.with_columns(_guarded(column) for column in frame.iter_columns() if column.dtype == pl.String)
    names = _guarded(pl.Series(frame.columns, dtype=pl.String))
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def whole_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Labels as whole numbers where all are: `2`, not `2.0`, which some tools cannot read."""
    columns = [
        name
        for name in ("label", "rating")
        if name in frame.columns
        and frame[name].dtype.is_numeric()
        and ((frame[name] == frame[name].round(0)) & (frame[name].abs() < MOST_WHOLE)).fill_null(True).all()
    ]
    return frame.with_columns(pl.col(columns).cast(pl.Int64)) if columns else frame


def read_csv(file: File) -> Rows:
    """The rows of a table, texts as they stand, and their lines."""
    refuse_empty(file)
    first_line = file.first_line.strip()
    separator = separator_of(first_line)
    _refuse_wide(file, first_line.count(separator.encode()) + 1)
    try:
        table = io.BytesIO(file.content[len(file.blank) :]) if file.blank else file.for_polars
        frame = pl.read_csv(table, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        raise blame_csv(file, separator) from None
    frame = _named(frame, file)
    # Asked of all columns at once, and changed where there is something to change: most tables have nothing of it.
    looked = frame.select(
        filled=pl.any_horizontal(pl.all().is_not_null()),
        extra=pl.sum_horizontal(pl.all().str.count_matches("\n").fill_null(0)),
    )
    # A quoted text may run over several lines: the lines below it stand lower by as many.
    extra = looked["extra"].to_numpy().astype(np.int64)
    above = file.above + file.blank.count(b"\n")
    lines = pl.Series(np.arange(2, frame.height + 2) + above + extra.cumsum() - extra)
    frame = frame.select(pl.all().str.strip_chars(" \t"))
    quoted = frame.select(pl.all().str.contains("'", literal=True).any()).row(0)
    frame = frame.with_columns(
        _unguarded(column) for column, some in zip(frame.iter_columns(), quoted, strict=True) if some
    )
    filled = looked["filled"]
    if not filled.all():
        frame, lines = frame.filter(filled), lines.filter(filled)
    header = first_line.decode(errors="replace")
    header = header if len(header) <= MOST_SHOWN else header[: MOST_SHOWN - 3] + "..."
    return frame, Source(file.name, lines, header=header, separator=separator)


def _named(frame: pl.DataFrame, file: File) -> pl.DataFrame:
    """The frame with its names as they were before they were guarded."""
    if frame.width > MOST_COLUMNS:  # where a quote runs over the end of the line, more than its first line shows
        raise _too_wide(file, frame.width)
    names = _unguarded(pl.Series(frame.columns, dtype=pl.String).str.strip_chars()).to_list()
    # Polars gives the second column of a name another one. Unnamed columns are what a spreadsheet leaves at the side,
    # and numbers are no names, but the first row of a table without a line of names.
    firsts = [_first_name(name) for name in names]
    names = [first if first in names else name for name, first in zip(names, firsts, strict=True)]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise BadInput.at(file.name, expected="each column once", found=f"{twice[0]} twice")
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def _refuse_wide(file: File, columns: int) -> None:
    """Refuse a table with more columns, or wide ones with more cells, than any table of records has."""
    rows = file.content.count(b"\n") if MOST_COLUMNS >= columns > WIDE else 0
    if columns > MOST_COLUMNS or columns * rows * 16 > most_bytes():
        raise _too_wide(file, columns, rows)


def _too_wide(file: File, columns: int, rows: int = 0) -> BadInput:
    return BadInput.at(
        file.name,
        expected=f"at most {MOST_COLUMNS:,} columns",
        found=f"{columns:,} or more" + (f" in {rows:,} lines" if rows else ""),
        remedy="is this a table with a line for each row?",
    )


def _first_name(name: str) -> str | None:
    """The name that Polars found twice, where it made this one of it; found without a pattern, as names may be long."""
    first, made, number = name.rpartition("_duplicated_")
    return first if made and number.isdecimal() and first.strip("0123456789.") else None


def _guarded(texts: pl.Series) -> pl.Series:
    formula = texts.str.contains(FORMULA)
    if not formula.any():
        return texts
    formula &= ~texts.str.contains(NUMBER)
    safe = texts.str.replace_all(FORMULA, "${1}'${2}")
    return pl.select(pl.when(formula).then(safe).otherwise(texts).alias(texts.name)).to_series()


def _unguarded(texts: pl.Series) -> pl.Series:
    # Nearly all columns have no such cell, and are spared the slower look.
    if not texts.str.contains("'", literal=True).any():
        return texts
    return texts.str.replace_all(GUARDED, "${1}${2}")


def refuse_empty(file: File) -> None:
    """Refuse a file in which there is nothing."""
    if not file.head.strip():
        raise BadInput.at(file.name, expected="a first line with the columns' names", found="an empty file")


def names_of(file: File) -> list[str]:
    """The names in a file's first line, in lower case."""
    first = file.first_line.decode(errors="replace")
    return [part.strip().strip('"').lower() for part in first.split(separator_of(first.encode()))]


def stands_beside(file: File, schema: Schema, own: Callable[[str], bool]) -> bool:
    """Whether columns that are not a tool's `own` hold such records by themselves."""
    found = schema.chosen([name for name in names_of(file) if not own(name)])
    needed = {*schema.required} <= {*found}
    return needed and (schema.name != Runs.schema.name or bool({"score", "rank"} & {*found}))


def _has_header(file: File, schema: Schema) -> bool:
    """Whether the first line has the names of most columns that the records need."""
    names = names_of(file)
    header = schema.chosen(names)
    return sum(name in header for name in schema.required) > len(schema.required) / 2


add_format(Format("csv", read_csv, write_csv, (".csv",), sniff=_has_header), __name__)
# A file .tsv may have TREC's columns instead, without a header: that is for the first line to say.
add_format(Format("tsv", read_csv, lambda frame: write_csv(frame, "\t"), (".tsv",), ()), __name__)
