"""The columns of a record type, and the one check that every frame passes on entry.

A record type is a Polars frame with a checked schema: required columns are there and filled, known columns have
their type, names that other tools use for them are understood, and whatever else the user brought is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from karat.errors import BadInput
from karat.records.source import Source


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

    @property
    def kind(self) -> str:
        """What a value of this column is, in words for an error."""
        if self.dtype == pl.Float64:
            return "a number"
        if self.dtype == pl.Int64:
            return "a whole number"
        if self.dtype == pl.Boolean:
            return "true or false"
        return "a text"


@dataclass(frozen=True)
class Schema:
    """The known columns of one record type, in the order in which they are shown."""

    name: str
    columns: tuple[Column, ...]
    #: The names in the first line of an ordinary file, where the required ones alone would not do.
    ordinary: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The known names, in order."""
        return [column.name for column in self.columns]

    @property
    def required(self) -> list[str]:
        """The names without which there is no record."""
        return [column.name for column in self.columns if column.required]

    def rename(self, headers: Iterable[str]) -> dict[str, str]:
        """Which of these headers mean a known column under another name.

        >>> from karat.records import Judgments
        >>> Judgments.schema.rename(["query_id", "Doc", "relevance", "colour"])
        {'query_id': 'query', 'Doc': 'doc', 'relevance': 'label'}
        """
        headers = list(headers)
        taken = set(headers)
        renamed: dict[str, str] = {}
        for column in self.columns:
            if column.name in taken:
                continue
            spellings = (column.name, *column.aliases)
            match = next((h for h in headers if h.strip().lower() in spellings and h not in renamed), None)
            if match is not None:
                renamed[match] = column.name
                taken.add(column.name)
        return renamed

    def first_line(self, separator: str = ",") -> str:
        """A first line that names the columns, to show to somebody who has none.

        >>> from karat.records import Judgments
        >>> Judgments.schema.first_line(";")
        'query;doc;label'
        """
        return separator.join(self.ordinary or self.required)

    def spelled(self, headers: Iterable[str]) -> dict[str, str]:
        """The known columns as a message names them: with the name that stands in the file where that is another.

        >>> from karat.records import Judgments
        >>> Judgments.schema.spelled(["query", "Doc", "relevance"])["label"]
        'label (column relevance)'
        """
        other = {name: header for header, name in self.rename(headers).items() if header.strip().lower() != name}
        return {name: f"{name} (column {other[name]})" if name in other else name for name in self.names}

    def named(self, frame: pl.DataFrame, source: Source, hint: str = "") -> pl.DataFrame:
        """The frame with known names; required columns that miss and lists or objects in known ones are refused.

        `hint` ends the error for missing columns.
        """
        headers = frame.columns
        frame = frame.rename(self.rename(headers))
        missing = [name for name in self.required if name not in frame.columns]
        if missing and source.header is not None and not {*self.names} & {*frame.columns}:
            raise BadInput.at(
                f"{source.name} line 1",
                expected="the names of the columns",
                found=f'none that is known: "{source.header}"',
                remedy=f"if this is data, put a line of names above it, such as {self.first_line(source.separator)}",
            )
        if missing:
            raise BadInput.at(
                source.name,
                expected=f"{self.name} with the columns {', '.join(self.required)}",
                found=f"{', '.join(headers) or 'no columns'} (no {', '.join(missing)})",
                remedy=hint or "name the columns so" + ("" if source.header is None else " in the first line"),
            )
        for name in self.names:
            if name in frame.columns and frame[name].dtype.is_nested():
                raise BadInput.at(source.name, expected=f"single values as {name}", found="lists or objects")
        return frame

    def conform(
        self, frame: pl.DataFrame, source: Source, hint: str = "", spelled: Mapping[str, str] | None = None
    ) -> pl.DataFrame:
        """The frame with known names, types and order; `BadInput` at the first cell that cannot be read.

        `spelled` is what messages call the columns of a frame that was renamed already.
        """
        spelled = self.spelled(frame.columns) if spelled is None else spelled
        frame = self.named(frame, source, hint)
        casts = [self._cast(frame[c.name], c, source, spelled[c.name]) for c in self.columns if c.name in frame.columns]
        frame = frame.with_columns(casts)
        known = [name for name in self.names if name in frame.columns]
        return frame.select([*known, *(name for name in frame.columns if name not in known)])

    @staticmethod
    def _cast(values: pl.Series, column: Column, source: Source, spelled: str) -> pl.Series:
        if values.dtype == column.dtype and not values.null_count():
            typed = values
        elif column.dtype == pl.Boolean and values.dtype == pl.String:
            words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
            typed = values.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)
        elif values.dtype == pl.Null:
            typed = pl.Series(values.name, [None] * len(values), dtype=column.dtype)
        else:
            if values.dtype == pl.String and column.dtype != pl.String:
                values = values.str.strip_chars()
            typed = values.cast(column.dtype, strict=False)
            if column.dtype == pl.Int64 and values.dtype.is_float():
                typed = typed.set((typed != values).fill_null(False), None)
        if values.dtype == pl.String:
            empty = values == ""
            if empty.any():
                values, typed = values.set(empty, None), typed.set(empty, None)
        filled = column.required if column.filled is None else column.filled
        lost = typed.is_null() if filled else typed.is_null() & values.is_not_null()
        if lost.any():
            row = int(lost.arg_max() or 0)
            found = values[row]
            raise BadInput.at(
                source.at(row),
                expected=f"{column.kind} as {spelled}",
                found="nothing" if found is None or found == "" else f'"{found}"',
                remedy=f"{column.name} is {column.about}",
            )
        return typed
