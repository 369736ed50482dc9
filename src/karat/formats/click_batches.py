"""Click logs in batches: what is larger than memory is read some hundred thousand rows at a time.

A log with a row for each result shown comes so from CSV, TSV and JSON lines, packed or not, and from Parquet. Events
have to be brought together by search first: from Parquet they come some sessions at a time, where every event names its
session. Other events are read at once, as are counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from karat.errors import BadInput
from karat.formats.click_events import EVENTS, Told, is_events, log_of_part
from karat.formats.column_mapping import headers_of, said_of
from karat.formats.decompression import PACKED
from karat.formats.format_registry import Format, Rows, format_of
from karat.formats.open_files import File
from karat.formats.parquet import collect_rows, count_rows, read_names, read_slice
from karat.formats.partitions import LINES, UNPACKED, counted_from, whole_lines
from karat.formats.read import read_clicks
from karat.formats.run_batches import ROWS, one_ahead
from karat.records import ClickLog, Clicks, PathLike, Source

#: Logs of so many rows are read at once.
FEW = 1 << 19
#: How many bytes of text a row takes, about.
A_ROW = 40


@dataclass(frozen=True)
class LogParts:
    """A click log that is read in parts, and about how many rows it has."""

    files: Sequence[tuple[File, Format]]
    rows: int
    #: The column by which a file of events is dealt into parts.
    by: str | None = None

    def __iter__(self) -> Iterator[ClickLog]:
        if self.by is not None:
            return one_ahead(_parts_of_events(self.files[0][0], self.rows, self.by))
        return one_ahead(part for file, format in self.files for part in _parts(file, format))


def click_batches(path: PathLike, *more: PathLike) -> LogParts | ClickLog | Clicks:
    """The log in these files, to be read in batches where it is one that can; otherwise all of it at once."""
    files = [File(str(one)) for one in (path, *more)]
    formats = [format_of(file, Clicks.schema) for file in files]
    if not all(map(_is_log, files, formats)):
        try:
            by = None if more else _dealt_by(files[0], formats[0])
        except pl.exceptions.PolarsError:  # a file that is broken: the reader says how
            by = None
        if by is None:
            return read_clicks(path, *more)
        return LogParts([(files[0], formats[0])], _about(files[0], formats[0]), by)
    rows = sum(map(_about, files, formats))
    return LogParts([*zip(files, formats, strict=True)], rows) if rows > FEW else read_clicks(path, *more)


def _is_log(file: File, format: Format) -> bool:
    """Whether a file has a row for each result shown, as far as its first bytes tell, and can be cut."""
    if not (format.name in LINES or (format.name == "parquet" and file.on_disk)) or not Path(file.path).is_file():
        return False
    # What Excel writes above a table, or blank lines; a list is one text.
    if file.above or file.blank or file.head.lstrip().startswith(b"["):
        return False
    headers = said_of(None).shown_in(headers_of(file))
    names = {name.strip().lower() for name in headers}
    return bool({"clicked", "click"} & names) and not is_events(headers)


def _dealt_by(file: File, format: Format) -> str | None:
    """The column that has a session for each event of a large file, if its sessions can be looked at one by one."""
    from karat.formats.opensearch import is_ubi_table

    if format.name != "parquet" or not file.on_disk or _about(file, format) <= FEW:
        return None
    table, said = pl.scan_parquet(file.path), said_of(None)
    names = read_names(file)
    if is_ubi_table(names) or not is_events(said.shown_in(names)):
        return None
    _, source = said.named_in((pl.DataFrame(schema=dict.fromkeys(names, pl.String)), Source(file.name)), EVENTS)
    chosen = EVENTS.chosen(names, source.columns)
    session, whole = chosen.get("session"), [chosen[n] for n in ("session", "rank", "impression") if n in chosen]
    # A stay is as logged where some event has one: that is for all events to say.
    if session is None or {"dwell", "time"} <= {*chosen}:
        return None
    if any(collect_rows(file, table.select(pl.col(whole).null_count())).row(0)):
        return None
    if "impression" in chosen:  # that of two sessions is in no one part
        keys = table.select(
            one=pl.col(chosen["impression"]).hash(), both=pl.struct(chosen["impression"], session).hash()
        )
        one, both = collect_rows(file, keys.select(pl.col("one", "both").n_unique())).row(0)
        return session if one == both else None
    return session


def _parts_of_events(file: File, rows: int, by: str) -> Iterator[ClickLog]:
    """All events of some sessions at a time, and at the end what is to be said of all."""
    # The file is gone through once for each part, so that parts are few and larger than others.
    parts, told, log = rows // (4 * ROWS) + 1, Told(), None
    for part in range(parts):
        try:
            some = pl.scan_parquet(file.path).filter(pl.col(by).hash() % parts == part)
            frame = collect_rows(file, some)
            log, more = log_of_part(*said_of(None).named_in((frame, Source(file.name)), EVENTS))
        except BadInput:
            read_clicks(file.path)  # which names the row of the file, or says what is broken
            raise
        told += more
        yield log
    told.check(Source(file.name))
    if log is not None:
        yield ClickLog(log.frame.clear(), told.notes)


def _about(file: File, format: Format) -> int:
    if format.name == "parquet":
        return count_rows(file)
    return Path(file.path).stat().st_size * (UNPACKED if _is_packed(file) else 1) // A_ROW


def _is_packed(file: File) -> bool:
    with Path(file.path).open("rb") as stream:
        return stream.read(8).startswith(PACKED)


def _parts(file: File, format: Format) -> Iterator[ClickLog]:
    if format.name == "parquet":
        for start in range(0, max(count_rows(file), 1), ROWS):
            with counted_from(file.name, start):
                yield _checked((read_slice(file, start, ROWS), Source(file.name)))
        return
    for part in whole_lines(file, table=format.name != "jsonl"):
        with counted_from(file.name, part.lines_above):
            yield _checked(format.rows(part, Clicks.schema.name))


def _checked(rows: Rows) -> ClickLog:
    frame, source = said_of(None).named_in(rows, ClickLog.schema)
    return ClickLog.check(frame, source=source)
