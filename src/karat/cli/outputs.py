"""Files to write: never one that the same command reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from karat.errors import BadInput
from karat.formats import csv
from karat.formats.open_files import write_bytes


def keep_inputs(option: str, out: str | None, inputs: Iterable[str | None]) -> None:
    """Refuse to write over a file that the command reads, by whatever path it is named.

    >>> keep_inputs("--out", "plan.csv", ["labels.csv", None, "-"])
    >>> keep_inputs("--out", "./labels.csv", ["labels.csv"])
    Traceback (most recent call last):
    karat.errors.BadInput: --out: expected a file that is not read, found ./labels.csv; write to another file
    """
    if out is None or out == "-":
        return
    for path in inputs:
        if path is not None and path != "-" and _same(out, path):
            raise BadInput.at(option, expected="a file that is not read", found=out, remedy="write to another file")


def _same(one: str, two: str) -> bool:
    try:
        return Path(one).samefile(two)
    except OSError:  # one of them is not there
        return Path(one).resolve() == Path(two).resolve()


def write_csv(table: pl.DataFrame, path: str) -> None:
    """Write a table as CSV; - is standard output."""
    write_bytes(path, csv.write_csv(table))
