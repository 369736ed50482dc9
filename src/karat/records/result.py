"""Results: a table that begins with its finding in words and says how it was made."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any

import polars as pl

from karat.records.figures import in_words
from karat.records.scale import Scale


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A finding: the sentence first, then the figures, then what a reader should know about them.

    >>> Result(pl.DataFrame({"group": ["crowd"], "kappa": [math.nan]}), "The crowd agrees by chance only.")
    The crowd agrees by chance only.
    """

    frame: pl.DataFrame
    finding: str
    notes: tuple[str, ...] = ()
    #: The scale of the grades in it, whose names stand for them where people read; frames and JSON keep the numbers.
    scale: Scale | None = field(default=None, kw_only=True)

    def to_frame(self) -> pl.DataFrame:
        """The figures as a Polars frame; what is undefined is NaN or null."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """The result as one document: `finding`, `rows`, `notes`; what is undefined is None."""
        return {"finding": self.finding, "rows": rows_of(self.frame), "notes": list(self.notes)}

    def __repr__(self) -> str:
        return self.finding + "".join(f"\n- {note}" for note in self.notes)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        table = in_words(self.frame, self.scale)._repr_html_()
        return f"<p>{escape(self.finding)}</p>{table}{f'<ul>{notes}</ul>' if notes else ''}"


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries for JSON, NaN as None.

    >>> rows_of(pl.DataFrame({"a": [1.5, math.nan]}))
    [{'a': 1.5}, {'a': None}]
    """
    return [{name: _plain(value) for name, value in row.items()} for row in frame.iter_rows(named=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
