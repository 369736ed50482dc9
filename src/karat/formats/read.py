"""Reading any file: the format is told from the name's ending and the first line, or named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import polars as pl

from karat.errors import BadInput, EmptyRun
from karat.formats.click_events import EVENTS, is_events, log_of_events
from karat.formats.column_mapping import Columns, ColumnsLike, said_of
from karat.formats.format_registry import FORMATS, Rows, format_named, format_of
from karat.formats.karat_tables import UserWeightsTable
from karat.formats.open_files import File
from karat.labels.selection import ITEM
from karat.records import (
    ClickLog,
    Clicks,
    Documents,
    Judgments,
    PathLike,
    Preferences,
    Queries,
    Ratings,
    Records,
    Runs,
    Scale,
    SessionLists,
    Source,
)
from karat.records.queries import SUBTOPICS
from karat.records.schema import Column, Schema
from karat.records.table import repeats

R = TypeVar("R", bound=Records)

USER_WEIGHTS = Schema(
    "user weights",
    (
        Column("at_least", pl.Int64, "M, of N users", True),
        Column("of", pl.Int64, "N users, the judge among them; 0: one who is not", True),
        Column("level", pl.Float64, "the grade seen", True),
        Column("weight", pl.Float64, "what it is worth", True, ("binomial",)),
        Column("low", pl.Float64, "the least that it may be worth"),
        Column("high", pl.Float64, "the most that it may be worth"),
    ),
)

COMMENTS = Schema(
    "comments",
    (
        Column("reason", pl.String, "why, in the judge's words", aliases=("comment",)),
        Column("codes", pl.String, "the classes of the reason, divided by ;", aliases=("classes", "code")),
        Column("coder", pl.String, "who coded it"),
    ),
)


def read_judgments(
    path: PathLike,
    *,
    scale: Scale | str | None = None,
    drop_bad_labels: bool = False,
    time_format: str | None = None,
    format: str | None = None,
    columns: ColumnsLike | None = None,
) -> Judgments:
    """Judgments from a file: TREC qrels, CSV, TSV, JSON lines, Parquet, or Quepid's; `-` is standard input.

    Labels outside the scale are an error that names the line; `drop_bad_labels` drops them with a note instead. Times
    are ISO 8601 or numbers that grow, unless `time_format` says how they are written (`%m/%d/%Y %H:%M`). `columns`
    says which header is which column where names do not tell, here and in the other readers of tables, as
    `{"query": "Input.qid", "label": "Answer.rel"}`.
    """
    scale = Scale.parse(scale) if isinstance(scale, str) else scale
    found = _read(path, Judgments, format, columns, scale, drop_bad_labels)
    if isinstance(found, Judgments):
        return found
    frame, source = found
    return Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, time_format=time_format)


def read_runs(
    path: PathLike, *, ranks: bool = True, format: str | None = None, columns: ColumnsLike | None = None
) -> Runs:
    """Runs from a file: TREC's six columns, CSV, TSV, JSON lines or Parquet; `-` is standard input."""
    found = _read(path, Runs, format, columns, ranks)
    runs = found if isinstance(found, Runs) else Runs.check(found[0], system=File(str(path)).stem, source=found[1])
    if not len(runs):
        raise empty_run(File(str(path)))
    return runs


def empty_run(file: File) -> EmptyRun:
    """The error for a file of runs without a row."""
    return EmptyRun.at(
        file.name,
        expected="ranked documents",
        found="none",
        remedy="the run is empty: check that the system wrote its results, or leave the file out",
    )


def read_preferences(
    path: PathLike,
    *,
    time_format: str | None = None,
    format: str | None = None,
    columns: ColumnsLike | None = None,
) -> Preferences:
    """Side-by-side preferences from CSV, TSV, JSON lines or Parquet; times as `read_judgments` takes them."""
    frame, source = _rows(path, Preferences.schema, format, columns)
    return Preferences.check(frame, source=source, time_format=time_format)


def read_clicks(
    path: PathLike, *more: PathLike, format: str | None = None, columns: ColumnsLike | None = None
) -> Clicks | ClickLog:
    """Click counts, or a log, from CSV, TSV, JSON lines or Parquet; several files of a log are taken together.

    A log has a row for each result shown and a column `clicked`, or a row for each event and a column `action`
    (impression, click). OpenSearch's User Behavior Insights, searches and events, are read as one log.
    """
    from karat.formats.opensearch import is_ubi_table, read_ubi

    files = [File(str(one)) for one in (path, *more)]
    found = [(format_of(file, Clicks.schema) if format is None else format_named(format)) for file in files]
    if all(one.name == "ubi" for one in found):
        return read_ubi(files)
    rows = [one.rows(file, Clicks.schema.name) for one, file in zip(found, files, strict=True)]
    if all(is_ubi_table(frame.columns) for frame, _ in rows):
        return read_ubi(files)
    parts = [_clicks(one, said_of(columns)) for one in rows]
    if len(parts) == 1:
        return parts[0]
    logs = [part for part in parts if isinstance(part, ClickLog)]
    if len(logs) < len(parts):
        raise BadInput.at(
            ", ".join(file.name for file in files), expected="several files of one log", found="counts among them"
        )
    frame = pl.concat([log.frame for log in logs], how="diagonal_relaxed")
    return ClickLog(frame, tuple(dict.fromkeys(note for log in logs for note in log.notes)))


def _clicks(rows: Rows, said: Columns) -> Clicks | ClickLog:
    headers = said.shown_in(rows[0].columns)
    if is_events(headers):
        return log_of_events(*said.named_in(rows, EVENTS))
    log = {"clicked", "click"} & {name.strip().lower() for name in headers}
    kind = ClickLog if log else Clicks
    frame, source = said.named_in(rows, kind.schema)
    return kind.check(frame, source=source)


def read_queries(path: PathLike, *, format: str | None = None, columns: ColumnsLike | None = None) -> Queries:
    """Queries from CSV, TSV, JSON lines or Parquet, TREC's topics (also XML with subtopics), lines of id and text."""
    found = _read(path, Queries, format, columns)
    return found if isinstance(found, Queries) else Queries.check(found[0], source=found[1])


def read_subtopics(path: PathLike, *, format: str | None = None, columns: ColumnsLike | None = None) -> Queries:
    """Subtopics with weights: the Web Track's XML, or a table of query, subtopic, weight."""
    found = _read(path, Queries, format, columns, schema=SUBTOPICS)
    if isinstance(found, Queries):
        return found
    source = Source(found[1].name)
    renamed = SUBTOPICS.conform(found[0], replace(source, columns=found[1].columns))
    return Queries.check(renamed.select("query").unique(maintain_order=True), renamed, source=source)


def read_user_weights(path: PathLike) -> UserWeightsTable:
    """The worth of each level for M of N users, from a table of at_least, of, level, weight, and low and high."""
    file = File(str(path))
    frame, source = FORMATS["csv"].rows(file, USER_WEIGHTS.name)
    return UserWeightsTable(file.name, USER_WEIGHTS.conform(frame, source))


def read_documents(path: PathLike, *, format: str | None = None, columns: ColumnsLike | None = None) -> Documents:
    """Documents from CSV, TSV, JSON lines or Parquet, or lines of id and text."""
    found = _read(path, Documents, format, columns)
    return found if isinstance(found, Documents) else Documents.check(found[0], source=found[1])


def read_session_lists(
    path: PathLike, *, format: str | None = None, columns: ColumnsLike | None = None
) -> SessionLists:
    """The lists that users saw in a session, one row per result, from CSV, TSV, JSON lines or Parquet."""
    frame, source = _rows(path, SessionLists.schema, format, columns)
    return SessionLists.check(frame, source=source)


def read_ratings(path: PathLike, *, format: str | None = None, columns: ColumnsLike | None = None) -> Ratings:
    """Users' ratings of whole sessions, one row each, from CSV, TSV, JSON lines or Parquet."""
    frame, source = _rows(path, Ratings.schema, format, columns)
    return Ratings.check(frame, source=source)


def read_comments(path: PathLike, *, format: str | None = None, columns: ColumnsLike | None = None) -> pl.DataFrame:
    """Comments with `reason` (or `comment`) and whatever else is known of them, as a table."""
    frame, source = _rows(path, COMMENTS, format, columns)
    return frame.rename(COMMENTS.rename(frame.columns, source.columns))


def _read(
    path: PathLike,
    kind: type[R],
    name: str | None,
    columns: ColumnsLike | None,
    *given: object,
    schema: Schema | None = None,
) -> R | Rows:
    """The records, where the format has a way of its own to read them, or the rows of a table."""
    file, schema, said = File(str(path)), schema or kind.schema, said_of(columns)
    found = format_of(file, schema) if name is None else format_named(name)
    read = found.records[kind].read if kind in found.records else None
    if read is None or said.may_be_in(file, schema):
        return said.named_in(found.rows(file, schema.name), schema)
    records: R = read(file, *given)
    return records


def _rows(path: PathLike, schema: Schema, name: str | None, columns: ColumnsLike | None) -> Rows:
    file = File(str(path))
    found = format_of(file, schema) if name is None else format_named(name)
    return said_of(columns).named_in(found.rows(file, schema.name), schema)


def groups_together(read: Sequence[Judgments], files: Sequence[str]) -> Judgments:
    """The judgments of these files as one: a group for each file that has none; gold and others keep their names.

    A file with one label for each document, and no judge's name, is the work of one judge, named by the file.
    """
    if len(read) == 1:
        return read[0]
    frames = []
    stems = [File(path).stem for path in files]
    for path, judgments in zip(files, read, strict=True):
        stem = File(path).stem
        frame, stem = judgments.frame, stem if stems.count(stem) == 1 else path
        if not judgments.has("group"):
            frame = frame.with_columns(group=pl.lit(stem))
        if not judgments.has("judge") and not repeats(frame, [name for name in ITEM if name in frame.columns]).any():
            frame = frame.with_columns(judge=pl.lit(stem))
        frames.append(frame)
    notes = tuple(note for judgments in read for note in judgments.notes)
    return replace(read[0], frame=pl.concat(frames, how="diagonal_relaxed"), notes=notes)


def unique_system_names(read: Sequence[Runs], paths: Sequence[str]) -> list[Runs]:
    """The runs of these files; a system's name that several files use is replaced by the file's name."""
    found = []
    for runs, clash in zip(read, new_names([runs.systems for runs in read], paths), strict=True):
        frame = runs.frame.with_columns(pl.col("system").replace(clash)) if clash else runs.frame
        found.append(Runs(frame, runs.notes, runs.one_system))
    return found


def new_names(systems: Sequence[Sequence[str]], paths: Sequence[str]) -> list[dict[str, str]]:
    """For each file, the systems whose name another file uses as well, with a name after their own file.

    >>> new_names([["bm25"], ["bm25", "dense"]], ["a.run", "b.run"])
    [{'bm25': 'a'}, {'bm25': 'b:bm25'}]
    """
    used = Counter(name for names in systems for name in names)
    stems = Counter(File(path).stem for path in paths)
    found = []
    for names, path in zip(systems, paths, strict=True):
        stem = File(path).stem if stems[File(path).stem] == 1 else path
        found.append({name: stem if len(names) == 1 else f"{stem}:{name}" for name in names if used[name] > 1})
    return found
