"""What a format is, and which there are: each is registered in the file that reads and writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, TypeVar

import polars as pl

from karat.advice import advise
from karat.errors import AmbiguousFile, BadInput
from karat.formats.blank_lines import refuse_blank_lines
from karat.formats.open_files import File
from karat.formats.read_errors import unbroken
from karat.records import Records, Source
from karat.records.schema import Schema
from karat.records.table import frame_of
from karat.registry import Registry

#: The rows of a file with the columns that it names, and where they stand.
Rows = tuple[pl.DataFrame, Source]
T = TypeVar("T")


@dataclass(frozen=True)
class Narrow:
    """How a format that has no names of columns, or few columns, reads and writes one kind of records."""

    #: None where it is read as a table.
    read: Callable[..., Any] | None = None
    #: The bytes of a file; the second argument is its name without folder and endings.
    write: Callable[[Any, str], bytes] | None = None
    columns: frozenset[str] = frozenset()
    #: Whether it has a place for the answers of several judges, and for answers without a label.
    several: bool = False
    #: Whether reading takes no time for blank lines, however many there are.
    skips_blank_lines: bool = False


@dataclass(frozen=True)
class Format:
    """A way to write records in a file.

    `read` gives the rows of a table, `write` the bytes of one; `records` says what is done otherwise, by kind of
    records. A format without `read` holds `only` what it says.
    """

    name: str
    read: Callable[[File], Rows] | None = None
    write: Callable[[pl.DataFrame], bytes] | None = None
    #: A file with such a name is written in this format.
    endings: tuple[str, ...] = ()
    #: A file with such a name is in this format, or in another one that takes it; by default those of `endings`.
    read_from: tuple[str, ...] | None = None
    #: Whether a file that should hold such records looks as if it was in this format.
    sniff: Callable[[File, Schema], bool] = lambda file, schema: False
    records: Mapping[type[Records], Narrow] = field(default_factory=dict)
    #: Whether `sniff` goes by names that are this format's alone: a file that two such formats know is refused.
    exact: bool = False
    #: Whether such records stand in a file as in any table, too, beside the names that are this format's.
    beside: Callable[[File, Schema], bool] = lambda file, schema: False
    #: The kind of records that a file holds, where its columns do not say.
    holds: Callable[[File], str | None] = lambda file: None
    only: str = ""
    #: Whether a file is text; a table of bytes has no lines.
    has_lines: bool = True
    #: What begins so is no file, but what the format finds by this name.
    prefix: str = ""

    @property
    def promised_by(self) -> tuple[str, ...]:
        """The endings of files to read that may be in this format."""
        return self.endings if self.read_from is None else self.read_from

    @property
    def writes(self) -> bool:
        """Whether anything can be written in it."""
        return self.write is not None or any(narrow.write for narrow in self.records.values())

    def rows(self, file: File, what: str) -> Rows:
        """The rows of a table; an error where the format has none."""
        if self.read is None:
            name = self.name.upper()
            raise BadInput.at(file.name, expected=what, found=name, remedy=f"only {self.only} are read from {name}")
        frame, source = self.read(file)
        # A column without a name is what a spreadsheet leaves at the side; no command can ask for it.
        return (frame.rename({"": "unnamed"}) if "" in frame.columns else frame), source


#: The formats by the names that `--from` and `--to` take.
FORMATS: Registry[Format] = Registry("format", "karat.formats", home="karat.formats")


def add_format(format: Format, owner: str) -> None:
    """Register a format; `owner` is the module that defines it. Whatever its readers stumble over is bad input."""
    safe = {
        kind: replace(n, read=n.read and _safe(n.read, format.has_lines and not n.skips_blank_lines))
        for kind, n in format.records.items()
    }
    read = None if format.read is None else _safe(format.read, format.has_lines)
    FORMATS.register(format.name, replace(format, read=read, records=safe), owner)


def _safe(read: Callable[..., T], takes_blank_lines: bool) -> Callable[..., T]:
    """A reader that refuses what it cannot read, and too many blank lines where it takes up every one."""

    @wraps(read)
    def checked(file: File, *given: object, **named: object) -> T:
        if takes_blank_lines:
            refuse_blank_lines(file)
        return read(file, *given, **named)

    return unbroken(checked)


def format_of(file: File, schema: Schema) -> Format:
    """The format of a file that should hold these records: by its ending and first bytes, the newest format first."""
    known = list(FORMATS.own.values())
    for one in known:
        if one.prefix and file.path.startswith(one.prefix):
            return one
    promised = [one for one in known if file.ending in one.promised_by]
    fitting = [one for one in reversed(promised or known) if one.sniff(file, schema)]
    exact = [one for one in fitting if one.exact]
    table = "jsonl" if file.head.lstrip().startswith((b"{", b"[")) else "csv"
    names = [one.name for one in exact] + [table] * any(one.beside(file, schema) for one in exact)
    if len(names) > 1:
        *others, last = sorted(names)
        raise AmbiguousFile.at(
            file.name,
            expected="a file in one format",
            found=f"names that {', '.join(others)} and {last} use",
            remedy=advise("say which it is with --from", "say which it is with format="),
        )
    if fitting:
        return (exact or fitting)[0]
    tables = [one for one in promised if one.write is not None]
    return next(iter(tables or promised), FORMATS["trec"])


def one_kind(file: File, kinds: Sequence[str]) -> str | None:
    """The kind of records by whose names a file is known; what could be two is refused with the names of both."""
    if len(kinds) > 1:
        raise AmbiguousFile.at(
            file.name,
            expected="records of one kind",
            found=f"what could be {' or '.join(kinds)}",
            remedy=f"{advise('say it with --kind', 'read it with the function for its kind')} ({', '.join(kinds)})",
        )
    return kinds[0] if kinds else None


def format_ending(ending: str) -> Format | None:
    """The format that files with such a name are written in."""
    return next((one for one in FORMATS.own.values() if ending in one.endings), None)


def format_named(name: str, place: str = "the format", *, written: bool = False) -> Format:
    """The format of a name."""
    if name in FORMATS and (FORMATS[name].writes or not written):
        return FORMATS[name]
    names = [other for other in FORMATS if not written or FORMATS[other].writes]
    raise BadInput.at(place, expected=" or ".join(names), found=f'"{name}"')


def register_format(
    name: str,
    *,
    endings: tuple[str, ...] = (),
    sniff: Callable[[bytes], bool] | None = None,
    write: Callable[[pl.DataFrame], str | bytes] | None = None,
) -> Callable[[Callable[[str], Any]], Callable[[str], Any]]:
    """Make a function from a file's text to rows a format that karat reads, by its endings or by name.

    >>> @register_format("pipes", endings=(".pipes",))
    ... def read_pipes(text):
    ...     return [dict(zip(("query", "doc", "label"), line.split("|"))) for line in text.splitlines()]
    >>> "pipes" in FORMATS
    True
    >>> FORMATS.forget("pipes")

    The rows are a frame of Polars or pandas, or a list of dicts, with the columns that a CSV file would have; they are
    checked likewise. `sniff` says from the first bytes whether a file without such an ending is in the format, and
    `write` makes a text of a Polars frame: without it, karat only reads the format.
    """

    def registered(function: Callable[[str], Any]) -> Callable[[str], Any]:
        def read(file: File) -> Rows:
            return frame_of(function(file.text), file.name), Source(file.name)

        def written(frame: pl.DataFrame) -> bytes:
            made = write(frame) if write is not None else ""
            return made.encode() if isinstance(made, str) else made

        made = Format(
            name,
            read,
            written if write is not None else None,
            endings,
            sniff=lambda file, schema: file.ending in endings or (sniff is not None and sniff(file.head)),
        )
        add_format(made, function.__module__)
        return function

    return registered
