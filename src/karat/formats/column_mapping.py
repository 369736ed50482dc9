"""Columns that a user names: which header of a table is which column, where names alone do not tell.

`kt.read_judgments("results.csv", columns={"query": "Input.qid"})` is about one table, and the header must be there. A
command, or a study, reads several: then what was said holds for every table that has the header, and one of them must.
`gold.label=grade` is about the gold labels only, and counts there before `label=relevance`, which is about all tables.
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
from karat.formats.parquet import read_names
from karat.records import ClickLog, Clicks, Documents, Judgments, Preferences, Queries, Ratings, Runs, SessionLists
from karat.records.queries import SUBTOPICS
from karat.records.schema import Schema

if TYPE_CHECKING:
    from karat.formats.format_registry import Rows

#: Headers by the columns they are, `{"query": "Input.qid"}`, or as typed: `query=Input.qid,doc=Input.docid`.
ColumnsLike: TypeAlias = Mapping[str, str] | str
#: What a table is read for, with the kinds of records that it may hold: what may stand before a dot.
ROLES: dict[str, tuple[Schema, ...]] = {
    "labels": (Judgments.schema,),
    "gold": (Judgments.schema,),
    "runs": (Runs.schema,),
    "preferences": (Preferences.schema,),
    "clicks": (Clicks.schema, ClickLog.schema, EVENTS),
    "queries": (Queries.schema,),
    "subtopics": (SUBTOPICS,),
    "documents": (Documents.schema,),
    "lists": (SessionLists.schema,),
    "ratings": (Ratings.schema,),
}
#: What the files of a study's folder are read for, by the beginnings of their names.
_IN_FOLDERS = {"judgments": "labels", "qrels": "labels", **{name: name for name in ROLES}}


def _option() -> str:
    """Where the user said it: the option of commands, the parameter of functions."""
    return advise("--columns", "columns=")


@dataclass(frozen=True)
class Columns:
    """What a user said of a table's columns: the header of each."""

    said: Mapping[str, str] = field(default_factory=dict)
    #: Whether it was said of several tables at once, so that each has some of the headers.
    shared: bool = False
    #: The names of files that hold gold labels, which look like other labels.
    gold_files: frozenset[str] = frozenset()

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
    def of_files(cls, given: ColumnsLike | None, files: Mapping[str, str]) -> Columns:
        """What was said of several files: refused where no kind of table has the column, or no file the header.

        `files` says what each is read for, as far as it is known: a role, or nothing.
        """
        columns = cls.of(given)
        if not columns.said:
            return columns
        headers = {path: headers_of(File(path)) for path in files}
        for name, header in columns.said.items():
            role, _, column = name.rpartition(".")
            _refuse_unknown(name, role, column)
            meant = {path: there for path, there in headers.items() if not role or files[path] in (role, "")}
            if not any(_found(header, there) for there in meant.values()):
                found = "; ".join(f"{path} with {', '.join(there)}" for path, there in meant.items() if there)
                what = "a table" if not role else f"a table of {role}"
                raise BadInput.at(
                    _option(), expected=f"{what} with the column {header}, for {name}", found=found or "no table"
                )
        gold = frozenset(File(path).name for path, role in files.items() if role == "gold")
        return replace(columns, shared=True, gold_files=gold)

    def named_in(self, rows: Rows, schema: Schema) -> Rows:
        """The rows of a table, with what was said of its columns."""
        frame, source = rows
        roles = self._roles(source.name, schema)
        said = {name: _found(header, frame.columns) for name, header in self.said.items()}
        for name, header in said.items():
            if self.shared:
                continue
            role, _, column = name.rpartition(".")
            if column not in schema.names or (role and role not in roles):
                expected = f"columns of {schema.name} ({', '.join(schema.names)})"
                raise BadInput.at("columns", expected=expected, found=name)
            if header is None:
                expected = f"the column {self.said[name]}, for {name}"
                raise BadInput.at(source.name, expected=expected, found=", ".join(frame.columns) or "no columns")
        mine = dict[str, str]()
        for name in sorted(said, key=lambda name: "." in name):  # what is about this table counts before the rest
            role, _, column = name.rpartition(".")
            if (header := said[name]) is not None and column in schema.names and (not role or role in roles):
                mine[column] = header
        return frame, replace(source, columns={**source.columns, **mine})

    def _roles(self, name: str, schema: Schema) -> list[str]:
        """What a table of this name and kind is read for."""
        found = [role for role, schemas in ROLES.items() if schema.name in [one.name for one in schemas]]
        if self.shared and "gold" in found:
            return ["gold"] if name in self.gold_files else ["labels"]
        return found

    def shown_in(self, headers: Sequence[str]) -> list[str]:
        """The headers, with those that were named under the names of their columns."""
        renamed = {_found(header, headers): name.rpartition(".")[2] for name, header in self.said.items()}
        return [renamed.get(header, header) for header in headers]

    def may_be_in(self, file: File, schema: Schema | None = None) -> bool:
        """Whether a file that need not be a table is one with these headers, as far as its first bytes tell."""
        if not self.shared:
            return bool(self.said)
        headers = headers_of(file)
        roles = [*ROLES] if schema is None else self._roles(file.name, schema)
        return any(
            _found(header, headers)
            for name, header in self.said.items()
            if "." not in name or name.rpartition(".")[0] in roles
        )


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


def tables_in(folder: Path) -> dict[str, str]:
    """The files of a study's folder that may be tables, and what each is read for, as far as its name tells."""
    files = [path for path in sorted(folder.glob("*")) if path.is_file()]
    roles = {
        str(path): next((r for name, r in _IN_FOLDERS.items() if path.name.startswith(name)), "") for path in files
    }
    return roles | {str(path): "runs" for path in sorted(folder.glob("runs/*")) if path.is_file()}


def _refuse_unknown(name: str, role: str, column: str) -> None:
    """Refuse a name that is no column, or no column of what stands before the dot."""
    if role and role not in ROLES:
        raise BadInput.at(_option(), expected=f"before the dot one of {', '.join(ROLES)}", found=name)
    schemas = ROLES[role] if role else [schema for schemas in ROLES.values() for schema in schemas]
    known = list(dict.fromkeys(name for schema in schemas for name in schema.names))
    if column not in known:
        what = f"columns of {role}" if role else "columns that karat knows"
        raise BadInput.at(_option(), expected=f"{what} ({', '.join(known)})", found=name)


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
