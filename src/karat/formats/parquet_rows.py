"""The rows of Parquet files: all reading of them goes through here, so that a damaged file is bad input everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from threading import RLock

import polars as pl

from karat.formats.open_files import File
from karat.formats.unbroken import PANIC, refuse_unreadable

#: Standard error is one for the whole process: one reader at a time holds it back.
_HOLDING = RLock()
STDERR = 2


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
    with refuse_unreadable(file, "a Parquet file"), _hold_back_stderr():
        yield


@contextmanager
def _hold_back_stderr() -> Iterator[None]:
    """Keep what Polars prints when it panics, a backtrace, off standard error; anything else is printed afterwards."""
    with _HOLDING:
        try:
            saved = os.dup(STDERR)
        except OSError:  # there is no standard error
            yield
            return
        has_panicked = False
        with TemporaryFile() as held:
            _flush_stderr()
            os.dup2(held.fileno(), STDERR)
            try:
                yield
            except BaseException as error:
                has_panicked = isinstance(error, PANIC)
                raise
            finally:
                _flush_stderr()
                os.dup2(saved, STDERR)
                os.close(saved)
                held.seek(0)
                printed = b"" if has_panicked else held.read()
                if printed:
                    os.write(STDERR, printed)


def _flush_stderr() -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
