"""Where a row came from, so that an error can point at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from karat.errors import BadInput


@dataclass(frozen=True)
class Source:
    """The name of some rows' origin and, for a file, the line of each row: listed, or counted from the first.

    >>> Source("the judgments").at(2)
    'the judgments row 3'
    >>> Source("run.txt", first_line=1).at(2)
    'run.txt line 3'
    >>> Source("crowd.csv", lines=pl.Series([2, 3, 5])).at(2)
    'crowd.csv line 5'
    """

    name: str
    lines: pl.Series | None = None
    first_line: int | None = None
    #: The first line as it stands and what divides its cells, where a first line names the columns.
    header: str | None = None
    separator: str = ","
    #: Which header the user says is which known column, where names alone do not tell.
    columns: Mapping[str, str] = field(default_factory=dict)
    #: What reading left aside, in words.
    notes: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether the rows have lines to point at."""
        return self.lines is not None or self.first_line is not None

    def at(self, row: int) -> str:
        """The place of a row, as a reader would look it up."""
        if self.lines is not None:
            return f"{self.name} line {self.lines[row]}"
        if self.first_line is not None:
            return f"{self.name} line {self.first_line + row}"
        return f"{self.name} row {row + 1}"

    def places(self, rows: int) -> pl.Series | None:
        """The line of each of so many rows; None where there are no lines."""
        if self.lines is not None or self.first_line is None:
            return self.lines
        return pl.int_range(self.first_line, self.first_line + rows, eager=True)

    def refuse(self, wrong: pl.Series, *, expected: str, found: Callable[[int], str], remedy: str = "") -> None:
        """Refuse the first row that is wrong, if one is; `found` says what stands there."""
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise BadInput.at(self.at(row), expected=expected, found=found(row), remedy=remedy)

    def keep(self, mask: pl.Series) -> Source:
        """The source of the rows that a filter leaves."""
        lines = self.places(len(mask))
        return self if lines is None else replace(self, lines=lines.filter(mask), first_line=None)
