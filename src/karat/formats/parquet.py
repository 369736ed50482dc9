"""Parquet: typed columns, packed."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile
from threading import RLock

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import MOST_COLUMNS
from karat.formats.decompression import VARIABLE, is_limit_set, most_bytes
from karat.formats.format_registry import Format, Rows, add_format
from karat.formats.open_files import File
from karat.formats.parquet_footer import Footer, read_footer
from karat.formats.read_errors import refuse_unreadable
from karat.records import Source

#: Standard error is one for the whole process: one reader at a time holds it back.
_HOLDING = RLock()
STDERR = 2
#: A value takes so many bytes in memory, or more.
VALUE_BYTES = 8


def check_footer(file: File) -> None:
    """Refuse a file whose footer is damaged, or that has more bytes than the user allows, before Polars sees it."""
    if file.on_disk:
        known = Path(file.path).stat()
        footer = _footer_on_disk(file.path, known.st_size, known.st_mtime_ns)
    else:
        data = file.content
        footer = read_footer(len(data), lambda start, size: data[start : start + size], file.name)
    if is_limit_set() and footer.rows * footer.columns * VALUE_BYTES > most_bytes():
        raise BadInput.at(
            file.name,
            expected=f"at most {most_bytes():,} bytes",
            found=f"{footer.rows:,} rows of {footer.columns:,} columns",
            remedy=f"set {VARIABLE} to allow more bytes",
        )


@lru_cache(100)
def _footer_on_disk(path: str, size: int, modified: int) -> Footer:
    """The footer of a file that was last modified then."""
    with Path(path).open("rb") as stream:

        def read(start: int, size: int) -> bytes:
            stream.seek(start)
            return stream.read(size)

        return read_footer(size, read, path)


def read_names(file: File) -> list[str]:
    """The names of the columns."""
    with _refuse_damaged(file):
        return [*pl.read_parquet_schema(file.for_polars)]


def count_rows(file: File) -> int:
    """How many rows there are, by the file's own description."""
    with _refuse_damaged(file):
        return int(pl.scan_parquet(file.for_polars).select(pl.len()).collect().item())


def read_all(file: File) -> pl.DataFrame:
    """All rows, typed."""
    with _refuse_damaged(file):
        return pl.read_parquet(file.for_polars)


def read_slice(file: File, start: int, rows: int) -> pl.DataFrame:
    """So many rows of a file on disk, from the row `start` on."""
    return collect_rows(file, pl.scan_parquet(file.path).slice(start, rows))


def collect_rows(file: File, table: pl.LazyFrame) -> pl.DataFrame:
    """What is asked of a file on disk."""
    with _refuse_damaged(file):
        return table.collect()


@contextmanager
def _refuse_damaged(file: File) -> Iterator[None]:
    with refuse_unreadable(file, "a Parquet file"):
        check_footer(file)
        with _hold_back_stderr():
            yield


@contextmanager
def _hold_back_stderr() -> Iterator[None]:
    """Keep what Polars prints when it fails, a backtrace, off standard error; otherwise it is printed afterwards."""
    with _HOLDING:
        try:
            saved = os.dup(STDERR)
        except OSError:  # there is no standard error
            yield
            return
        has_failed = False
        with TemporaryFile() as held:
            _flush_stderr()
            os.dup2(held.fileno(), STDERR)
            try:
                yield
            except BaseException:
                has_failed = True  # also where a thread of Polars panicked, and the error is another
                raise
            finally:
                _flush_stderr()
                os.dup2(saved, STDERR)
                os.close(saved)
                held.seek(0)
                printed = b"" if has_failed else held.read()
                if printed:
                    os.write(STDERR, printed)


def _flush_stderr() -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.flush()


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
