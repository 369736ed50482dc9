"""One known column of a record type: what it is called here and elsewhere, and how its values are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

import numpy as np
import polars as pl

from karat.records.source import Source

#: As near to a column's name as a header must be to be a slip (two letters of five that changed places: 0.8), and the
#: shortest name that is looked at: what is near to "id" is many a word.
NEAR, SHORTEST = 0.79, 3
#: From here on, not every whole number is one of those that a column of numbers with decimals holds.
WHOLE = 2**53


@lru_cache(maxsize=4096)  # the same hundred names are compared in every table
def plain(name: str) -> str:
    """A name as it is compared: capitals, and what divides its words, do not matter.

    >>> plain(" Query ID"), plain("query-id")
    ('query_id', 'query_id')
    """
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split()) or name


@dataclass(frozen=True)
class Column:
    """One known column: its type, its meaning in a line, and what other tools call it."""

    name: str
    dtype: type[pl.DataType]
    about: str
    required: bool = False
    aliases: tuple[str, ...] = ()
    #: Whether every cell must be filled where the column is there; by default in required columns.
    filled: bool | None = None
    #: The least number that can stand here, where there is one: then none is infinite either, and NaN is no answer.
    least: float | None = None
    #: The words that can stand here, where only some can; capitals and blanks around them do not matter.
    among: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What a value of this column is, in words for an error."""
        if self.among:
            return f"{', '.join(self.among[:-1])} or {self.among[-1]}"
        words = {pl.Float64: "a number", pl.Int64: "a whole number", pl.Boolean: "true or false"}
        return words.get(self.dtype, "a text") + ("" if self.least is None else f" from {self.least:g}")

    @property
    def by_precedence(self) -> bool:
        """Whether the first of several names counts: then its own name stands among the others, at its place."""
        return self.name in self.aliases

    def meant_by(self, headers: Iterable[str]) -> list[str]:
        """The headers that mean this column, best first: its own name, then the others in their order.

        >>> Column("query", pl.String, "its id", aliases=("qid", "query-id", "query")).meant_by(["query", "Query ID"])
        ['Query ID', 'query']
        """
        spellings = [plain(name) for name in (self.aliases if self.by_precedence else (self.name, *self.aliases))]
        places = {header: plain(header) for header in headers}
        found = [header for header, said in places.items() if said in spellings]
        return sorted(found, key=lambda header: (spellings.index(places[header]), header != places[header]))

    def slip_in(self, headers: Iterable[str]) -> str:
        """The header that is nearly a name of this column, a slip of the pen; empty where none is.

        >>> Column("label", pl.Float64, "the grade", aliases=("relevance",)).slip_in(["query", "lable"])
        'lable'
        """
        names = [plain(name) for name in (self.name, *self.aliases) if len(name) >= SHORTEST]
        slips = {plain(header): header for header in headers}
        found = [near for name in names for near in get_close_matches(name, slips, n=1, cutoff=NEAR)]
        return slips[found[0]] if found else ""

    def read(self, values: pl.Series, source: Source, spelled: str) -> pl.Series:
        """The values in this column's type; `BadInput` at the first that has none, under the name that is `spelled`."""
        if values.dtype == self.dtype and not values.null_count():
            typed = values
        elif self.dtype == pl.Boolean and values.dtype == pl.String:
            words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
            typed = values.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)
        elif values.dtype == pl.Null:
            typed = pl.Series(values.name, [None] * len(values), dtype=self.dtype)
        else:
            if values.dtype == pl.String and self.dtype != pl.String:
                values = values.str.strip_chars()
            typed = values.cast(self.dtype, strict=False)
            if self.dtype == pl.String and values.dtype.is_float():
                typed = _texts_of(values)
            if self.dtype == pl.Int64 and values.dtype.is_float():
                typed = typed.set((typed != values).fill_null(False), None)
        if values.dtype == pl.String:
            empty = values == ""
            if empty.any():
                values, typed = values.set(empty, None), typed.set(empty, None)
        if self.among:
            typed = typed.str.strip_chars().str.to_lowercase()
            typed = typed.set(~typed.is_in([*self.among, ""]), None)
            values = values.set(typed == "", None)
            typed = typed.set(typed == "", None)
        if self.least is not None and not _all_from(typed, self.least):
            if typed.dtype.is_float():
                empty = typed.is_nan().fill_null(False)
                values, typed = values.set(empty, None), typed.set(empty, None)
            typed = typed.set(((typed < self.least) | typed.is_infinite()).fill_null(False), None)
        filled = self.required if self.filled is None else self.filled
        if typed.null_count() == (0 if filled else values.null_count()):
            return typed  # what was empty is empty, and nothing else: there is no cell to refuse
        source.refuse(
            typed.is_null() if filled else typed.is_null() & values.is_not_null(),
            expected=f"{self.kind} as {spelled}",
            found=lambda row: "nothing" if values[row] is None or values[row] == "" else f'"{values[row]}"',
            remedy=f"{self.name} is {self.about}",
        )
        return typed


def _texts_of(numbers: pl.Series) -> pl.Series:
    """Numbers as texts: whole ones, which pandas has as 301.0 beside an empty cell, as such; none that lost digits.

    >>> _texts_of(pl.Series([301.0, 1.5, 1e23, float("nan")])).to_list()
    ['301', '1.5', None, None]
    """
    number = pl.col(numbers.name)
    small = number.is_finite() & (number.abs() < WHOLE)
    whole = pl.when(small & (number == number.round(0))).then(number.cast(pl.Int64, strict=False).cast(pl.String))
    return numbers.to_frame().select(whole.otherwise(pl.when(small).then(number.cast(pl.String)))).to_series()


def _all_from(numbers: pl.Series, least: float) -> bool:
    """Whether every cell holds a finite number from `least` on, as in most columns: asked at once, of all cells."""
    if numbers.null_count():
        return False
    cells = numbers.to_numpy()
    return bool((np.isfinite(cells) & (cells >= least)).all())
