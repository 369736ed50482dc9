"""The columns of a record type, and the one check that every frame passes on entry.

A record type is a Polars frame with a checked schema: required columns are there and filled, known columns have
their type, names that other tools use for them are understood, and whatever else the user brought is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

import numpy as np
import polars as pl

from karat.advice import advise, on_command_line
from karat.errors import BadInput
from karat.records.column_names import OTHER, PASSED_OVER, passed_over
from karat.records.source import Source
from karat.records.table import repeats
from karat.records.times import read_times

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


#: A number with a comma in it, as spreadsheets of many countries write it.
COMMA = r"^(\s*[+-]?\d+),(\d+\s*)$"
#: The least probability with which a document can have been drawn: below it, one label would stand for billions.
LEAST_CHANCE = 1e-9
#: What a probability is, for errors.
CHANCE = f"a probability above 0 (from {LEAST_CHANCE:g}) and at most 1"
#: What the draw of a gold label can speak for: each system's own score too, or only differences between systems.
SCORES, DIFFERENCES = DRAWN_FOR = ("scores", "differences")
#: When a judge answered; read as times are, with the caller's format.
TIME = Column("time", pl.String, "when: ISO 8601, seconds since 1970 or a place in the sequence")
#: What is known of every answer of a judge.
OF_ANSWERS = (
    TIME,
    Column("seconds", pl.Float64, "how long the judge took", least=0),
    Column("away", pl.Float64, "how many seconds the judge was away meanwhile", least=0),
    Column("probability", pl.Float64, "the chance with which the pair was drawn for judging"),
)


@dataclass(frozen=True)
class Schema:
    """The known columns of one record type, in the order in which they are shown."""

    name: str
    columns: tuple[Column, ...]
    #: The names in the first line of an ordinary file, where the required ones alone would not do.
    ordinary: tuple[str, ...] = ()
    #: What no two rows may share, how that is said, and what to do where they do.
    key: tuple[str, ...] = ()
    once: str = ""
    remedy: str = ""
    #: Names that mean something to an analysis, and need no note that they were not understood; "*": all do.
    beside: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The known names, in order."""
        return [column.name for column in self.columns]

    @property
    def required(self) -> list[str]:
        """The names without which there is no record."""
        return [column.name for column in self.columns if column.required]

    def chosen(self, headers: Sequence[str], said: Mapping[str, str] | None = None) -> dict[str, str]:
        """The header of each known column that is there; what the user `said` of some stands above all names.

        >>> from karat.records import Queries
        >>> Queries.schema.chosen(["query_id", "query"])
        {'query': 'query_id', 'text': 'query'}
        """
        found = {name: header for name, header in (said or {}).items() if name in self.names and header in headers}
        for column in self.columns:
            meant = [header for header in column.meant_by(headers) if header not in found.values()]
            if meant and column.name not in found:
                found[column.name] = meant[0]
        return found

    def rename(self, headers: Sequence[str], said: Mapping[str, str] | None = None) -> dict[str, str]:
        """The new names of headers that mean a known column, or that another was preferred to.

        >>> from karat.records import Judgments
        >>> Judgments.schema.rename(["query_id", "Doc", "relevance", "colour"])
        {'query_id': 'query', 'Doc': 'doc', 'relevance': 'label'}
        >>> Judgments.schema.rename(["qid", "query", "docid", "docno", "label"])
        {'qid': 'query', 'docno': 'doc', 'query': 'query_text', 'docid': 'other_docid'}
        """
        chosen = self.chosen(headers, said)
        renamed = {header: name for name, header in chosen.items() if header != name}
        taken = {*headers, *chosen}
        for column in self.columns:
            # Under its name such a column would be preferred when the table is checked again.
            before = column.meant_by([column.name, *headers])
            for header in before[: before.index(column.name) + 1]:
                if column.name in chosen and header in headers and header not in chosen.values():
                    renamed[header] = passed_over(header, taken)
                    taken.add(renamed[header])
        return renamed

    def first_line(self, separator: str = ",") -> str:
        """A first line that names the columns, to show to somebody who has none.

        >>> from karat.records import Judgments
        >>> Judgments.schema.first_line(";")
        'query;doc;label'
        """
        return separator.join(self.ordinary or self.required)

    def spelled(self, headers: Sequence[str], said: Mapping[str, str] | None = None) -> dict[str, str]:
        """The known columns as a message names them: with the name that stands in the file where that is another.

        >>> from karat.records import Judgments
        >>> Judgments.schema.spelled(["query", "Doc", "relevance"])["label"]
        'label (column relevance)'
        """
        chosen = self.chosen(headers, said).items()
        other = {name: header for name, header in chosen if header.strip().lower() != name}
        return {name: f"{name} (column {other[name]})" if name in other else name for name in self.names}

    def named(
        self, frame: pl.DataFrame, source: Source, hint: str = "", notes: list[str] | None = None
    ) -> pl.DataFrame:
        """The frame with known names; required columns that miss and lists or objects in known ones are refused.

        `hint` ends the error for missing columns. Of two columns for one thing that differ, the one with the very name
        counts, which a note says where there is a list of notes; otherwise they are refused.
        """
        headers, given = frame.columns, frame
        self._refuse_doubled(frame, source, notes)
        frame = frame.rename(self.rename(headers, source.columns))
        # One column may be said to be two things, as a text that is the id, too.
        twice = {n: h for n, h in self.chosen(headers, source.columns).items() if n not in frame.columns}
        frame = frame.with_columns(given[header].alias(name) for name, header in twice.items())
        missing = [name for name in self.required if name not in frame.columns]
        if missing and source.header is not None and not {*self.names} & {*frame.columns}:
            raise BadInput.at(
                f"{source.name} line 1",
                expected="the names of the columns",
                found=f'none that is known: "{source.header}"',
                remedy=f"if this is data, put a line of names above it, such as {self.first_line(source.separator)}; "
                f"if these are names, say which is which: {columns_option(missing[0], '...')}",
            )
        if missing:
            raise BadInput.at(
                source.name,
                expected=f"{self.name} with the columns {', '.join(self.required)}",
                found=f"{', '.join(headers) or 'no columns'} (no {', '.join(missing)})",
                remedy=hint
                or self.slip(missing[0], frame.columns, source)
                or "name the columns so"
                + ("" if source.header is None else " in the first line")
                + self._or_say_which(missing[0], source),
            )
        for name in self.names:
            if name in frame.columns and frame[name].dtype.is_nested():
                dtype = frame[name].dtype
                inside = f" with {', '.join(f.name for f in dtype.fields[:4])}" if isinstance(dtype, pl.Struct) else ""
                raise BadInput.at(
                    source.name,
                    expected=f"single values as {name}",
                    found=f"lists or objects{inside}",
                    remedy="put the one value itself there",
                )
        if notes is not None:
            notes += self.not_understood(frame.columns, source)
        return self._with_points(frame, source, notes) if source.separator == ";" else frame

    def slip(self, name: str, headers: Sequence[str], source: Source | None = None) -> str:
        """What to say of a header that is nearly the column of this name; empty where none is.

        >>> from karat.records import Judgments
        >>> Judgments.schema.slip("label", ["query", "doc", "lable"])
        'did you mean label by lable? Call it so'
        """
        column = next(column for column in self.columns if column.name == name)
        found = column.slip_in([header for header in headers if header not in self.names])
        if not found:
            return ""
        can_say = on_command_line() or (source is not None and source.is_file)
        return f"did you mean {name} by {found}? Call it so" + (
            f", or say {columns_option(name, found)}" if can_say else ""
        )

    def say(self, name: str, header: str, source: Source) -> str:
        """How to say that a header is a known column: of a file to its reader, of a table by renaming it."""
        if source.is_file or on_command_line():
            return f"say {columns_option(name, header)}"
        return f"rename the column {header} to {name}"

    def _or_say_which(self, name: str, source: Source, header: str = "...") -> str:
        """Where columns can be named without renaming them, how."""
        can_say = source.is_file or on_command_line()
        return f", or say which it is: {columns_option(name, header)}" if can_say else ""

    def _with_points(self, frame: pl.DataFrame, source: Source, notes: list[str] | None) -> pl.DataFrame:
        """Numbers with points: where `;` divides cells, a comma in a number is the decimal sign."""
        texts = [c.name for c in self.columns if c.dtype == pl.Float64 and frame.schema.get(c.name) == pl.String]
        commas = [name for name in texts if frame[name].str.contains(COMMA).any()]
        if commas and notes is not None:
            notes.append(f"{source.name}: commas in {', '.join(commas)} are decimal points")
        return frame.with_columns(pl.col(name).str.replace(COMMA, "${1}.${2}") for name in commas)

    def conform(
        self,
        frame: pl.DataFrame,
        source: Source,
        hint: str = "",
        *,
        spelled: Mapping[str, str] | None = None,
        notes: list[str] | None = None,
        time_format: str | None = None,
    ) -> pl.DataFrame:
        """The frame with known names, types and order; `BadInput` at the first cell that cannot be read.

        `spelled` is what messages call the columns of a frame that was renamed already.
        """
        spelled = self.spelled(frame.columns, source.columns) if spelled is None else spelled
        frame = self.named(frame, source, hint, notes)
        if TIME in self.columns and "time" in frame.columns and frame["time"].null_count() < frame.height:
            frame = frame.with_columns(read_times(frame["time"], source, time_format))
        casts = [c.read(frame[c.name], source, spelled[c.name]) for c in self.columns if c.name in frame.columns]
        frame = frame.with_columns(casts)
        if self.key:
            whole = frame.select(pl.all_horizontal(pl.col(self.key).is_not_null())).to_series()
            source.refuse(
                whole & repeats(frame, self.key),
                expected=self.once,
                found=lambda row: f"{', '.join(f'{name} {frame[name][row]}' for name in self.key)} again",
                remedy=self.remedy,
            )
        known = [name for name in self.names if name in frame.columns]
        return frame.select([*known, *(name for name in frame.columns if name not in known)])

    def _refuse_doubled(self, frame: pl.DataFrame, source: Source, notes: list[str] | None) -> None:
        chosen = self.chosen(frame.columns, source.columns)
        for column in self.columns:
            first = chosen.get(column.name, "")
            others = [other for other in column.meant_by(frame.columns) if other not in chosen.values()]
            # An address beside an id is no second id, a score beside a grade none, a copy of a column no other answer.
            others = [other for other in others if other.strip().lower() not in ("url", "score")]
            others = [other for other in others if not _same(frame[first], frame[other])]
            if not others or column.name in source.columns:
                continue
            if notes is not None and (column.by_precedence or first == column.name):
                notes.append(f"{source.name}: {first} counts as {column.about}, and not {', '.join(others)}")
            else:
                raise BadInput.at(
                    source.name,
                    expected=f"one column as {column.name}, {column.about}",
                    found=" and ".join([first, *others]),
                    remedy=f"call the one that counts {column.name}{self._or_say_which(column.name, source, first)}",
                )

    def not_understood(self, headers: Sequence[str], source: Source) -> list[str]:
        """The headers that mean nothing to karat, in a note; none where all do."""
        known = {*self.names, *self.beside, *PASSED_OVER.values()}
        strange = [name for name in headers if name not in known and not name.startswith(OTHER)]
        if not strange or "*" in known:
            return []
        shown = ", ".join(strange[:8]) + (f" and {len(strange) - 8} more" if len(strange) > 8 else "")
        what = "a column that was not understood" if len(strange) == 1 else "columns that were not understood"
        said = f"{source.name}: {what}, kept as {'it is' if len(strange) == 1 else 'they are'}: {shown}"
        absent = [name for name in self.names if name not in headers]
        slips = [slip for name in absent if (slip := self.slip(name, strange, source))]
        return ["; ".join([said, *slips])]


def columns_option(name: str, header: str) -> str:
    """The option, or parameter of a reader, that says which header is this column.

    >>> columns_option("label", "lable")
    'columns={"label": "lable"}'
    """
    return advise(f"--columns {name}={header}", f'columns={{"{name}": "{header}"}}')


def _same(one: pl.Series, other: pl.Series) -> bool:
    """Whether two columns hold the same, as text."""
    if one.dtype.is_nested() or other.dtype.is_nested():
        return one.dtype == other.dtype and one.to_list() == other.to_list()
    return bool(one.cast(pl.String, strict=False).eq_missing(other.cast(pl.String, strict=False)).all())
