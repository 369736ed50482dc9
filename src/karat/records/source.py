"""Where a row came from, so that an error can point at it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Source:
    """The name of some rows' origin and, for a file, the line of each row.

    >>> Source("the judgments").at(2)
    'the judgments row 3'
    >>> Source("crowd.csv", lines=pl.Series([2, 3, 5])).at(2)
    'crowd.csv line 5'
    """

    name: str
    lines: pl.Series | None = None

    def at(self, row: int) -> str:
        """The place of a row, as a reader would look it up."""
        if self.lines is None:
            return f"{self.name} row {row + 1}"
        return f"{self.name} line {self.lines[row]}"

    def keep(self, mask: pl.Series) -> Source:
        """The source of the rows that a filter leaves."""
        return self if self.lines is None else Source(self.name, self.lines.filter(mask))
