"""Columns that a user names: which header of a table is which column, where names alone do not tell.

`kt.read_judgments("results.csv", columns={"query": "Input.qid"})` is about one table, and the header must be there. A
command, or a study, reads several: then what was said holds for every table that has the header, and one of them must.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from karat.advice import advise
from karat.errors import BadInput
from karat.formats.click_events import EVENTS
from karat.formats.open_files import File
from karat.formats.parquet_rows import read_names
from karat.records import ClickLog, Clicks, Documents, Judgments, Preferences, Queries, Ratings, Runs, SessionLists
from karat.records.queries import SUBTOPICS
from karat.records.schema import Schema

if TYPE_CHECKING:
    from karat.formats.format import Rows

#: Headers by the columns they are, `{"query": "Input.qid"}`, or as typed: `query=Input.qid,doc=Input.docid`.
ColumnsLike: TypeAlias = Mapping[str, str] | str
_KINDS = (Judgments, Runs, Preferences, Clicks, ClickLog, Queries, Documents, SessionLists, Ratings)


def _option() -> str:
    """Where the user said it: the option of commands, the parameter of functions."""
    return advise("--columns", "columns=")


@dataclass(frozen=True)
class Columns:
    """What a user said of a table's columns: the header of each."""

    said: Mapping[str, str] = field(default_factory=dict)
    #: Whether it was said of several tables at once, so that each has some of the headers.
    shared: bool = False

    @classmethod
    def of(cls, given: ColumnsLike | None, place: str = "") -> Columns:
        """What was said, in Python or as an option.

        >>> Columns.of("query=Input.qid, label=Answer.rel").said
        {'query': 'Input.qid', 'label': 'Answer.rel'}
        >>> Columns.of("query=a,query=b")
        Traceback (most recent call last):
        karat.errors.BadInput: columns=: expected each column once, found query=a and query=b
        """
        place = place or _option()
        if given is None:
            return cls()
        if not isinstance(given, str):
            return cls({str(name).strip(): str(header) for name, header in given.items()})
        said: dict[str, str] = {}
        try:
            # A line break can stand in no name of a column that is typed; as a blank it can end no row.
            parts = next(csv.reader([" ".join(given.splitlines())], skipinitialspace=True), [])
        except csv.Error as error:  # a name without end
            raise BadInput.at(place, expected="names of columns", found=str(error)) from None
        for part in parts:
            name, equals, header = (word.strip() for word in part.partition("="))
            if not (name and equals and header):
                example = "COLUMN=HEADER,..., as query=Input.qid,doc=Input.docid"
                raise BadInput.at(place, expected=example, found=f'"{part}"')
            if name in said:
                raise BadInput.at(place, expected="each column once", found=f"{name}={said[name]} and {name}={header}")
            said[name] = header
        return cls(said)

    @classmethod
    def of_files(cls, given: ColumnsLike | None, paths: Iterable[str]) -> Columns:
        """What was said of several files: refused where no kind of table has the column, or no file the header."""
        columns = cls.of(given)
        if not columns.said:
            return columns
        known = [name for kind in _KINDS for name in kind.schema.names] + SUBTOPICS.names + EVENTS.names
        strange = [name for name in columns.said if name not in known]
        if strange:
            names = ", ".join(dict.fromkeys(known))
            raise BadInput.at(_option(), expected=f"columns that karat knows ({names})", found=strange[0])
        headers = {path: headers_of(File(path)) for path in paths}
        for name, header in columns.said.items():
            if not any(_found(header, there) for there in headers.values()):
                found = "; ".join(f"{path} with {', '.join(there)}" for path, there in headers.items() if there)
                raise BadInput.at(
                    _option(), expected=f"a table with the column {header}, for {name}", found=found or "no table"
                )
        return replace(columns, shared=True)

    def named_in(self, rows: Rows, schema: Schema) -> Rows:
        """The rows of a table, with what was said of its columns."""
        frame, source = rows
        said = {name: _found(header, frame.columns) for name, header in self.said.items()}
        for name, header in said.items():
            if self.shared:
                continue
            if name not in schema.names:
                expected = f"columns of {schema.name} ({', '.join(schema.names)})"
                raise BadInput.at("columns", expected=expected, found=name)
            if header is None:
                expected = f"the column {self.said[name]}, for {name}"
                raise BadInput.at(source.name, expected=expected, found=", ".join(frame.columns) or "no columns")
        mine = {name: header for name, header in said.items() if header is not None and name in schema.names}
        return frame, replace(source, columns={**source.columns, **mine})

    def shown_in(self, headers: Sequence[str]) -> list[str]:
        """The headers, with those that were named under the names of their columns."""
        renamed = {_found(header, headers): name for name, header in self.said.items()}
        return [renamed.get(header, header) for header in headers]

    def may_be_in(self, file: File) -> bool:
        """Whether a file that need not be a table is one with these headers, as far as its first bytes tell."""
        if not self.shared:
            return bool(self.said)
        headers = headers_of(file)
        return any(_found(header, headers) for header in self.said.values())


#: What was said of all tables that are read now.
_IN_EFFECT: ContextVar[Columns | None] = ContextVar("columns", default=None)


@contextmanager
def said_of_all(columns: Columns) -> Iterator[None]:
    """While this holds, every table that is read has what was said of its columns."""
    token = _IN_EFFECT.set(columns)
    try:
        yield
    finally:
        _IN_EFFECT.reset(token)


def said_of(given: ColumnsLike | None) -> Columns:
    """What was said of one table: now, or of all tables."""
    return _IN_EFFECT.get() or Columns() if given is None else Columns.of(given, "columns")


def headers_of(file: File) -> list[str]:
    """The names of a table's columns, as they stand there, without reading all of it; none of what is no table."""
    head = file.head
    if head.startswith(b"PAR1"):
        try:
            return read_names(file)
        except BadInput:  # the reader says what is wrong
            return []
    if head.lstrip().startswith(b"{"):
        return [*dict.fromkeys(name for line in head.splitlines() for name in _keys(line))]
    first = file.first_line.decode(errors="replace").strip()
    separator = max("\t;,", key=lambda sign: (first.count(sign), sign == ","))
    try:
        names = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
    except csv.Error:  # a carriage return among the names, or one without end: the reader says what is wrong
        return []
    return names if len(names) > 1 else []  # a line of TREC's files has no such separators


def tables_in(folder: Path) -> list[str]:
    """The files of a study's folder that may be tables."""
    return [str(path) for path in sorted([*folder.glob("*"), *folder.glob("runs/*")]) if path.is_file()]


def _keys(line: bytes) -> list[str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # the last line of the first bytes may be cut
        return []
    return [*row] if isinstance(row, dict) else []


def _found(header: str, headers: Iterable[str]) -> str | None:
    """The header as it stands in a table; capitals and blanks around it do not matter where it is not there so."""
    there = [*headers]
    if header in there:
        return header
    return next((name for name in there if name.strip().lower() == header.strip().lower()), None)
