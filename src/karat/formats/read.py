"""Reading any file: the format is told from the name's ending and the first line, or named."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import read_csv
from karat.formats.format import Format, Rows, format_named, format_of
from karat.formats.open_files import File
from karat.records import (
    ClickLog,
    Clicks,
    Documents,
    Judgments,
    PathLike,
    Preferences,
    Queries,
    Ratings,
    Runs,
    Scale,
    SessionLists,
    Source,
)
from karat.records.queries import SUBTOPICS
from karat.records.schema import Column, Schema

USER_WEIGHTS = Schema(
    "user weights",
    (
        Column("at_least", pl.Int64, "M, of N users", True),
        Column("of", pl.Int64, "N users", True),
        Column("level", pl.Float64, "the grade seen", True),
        Column("weight", pl.Float64, "what it is worth", True, ("binomial",)),
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
    format: str | None = None,  # noqa: A002
) -> Judgments:
    """Judgments from a file: TREC qrels, CSV, TSV, JSON lines, Parquet, or Quepid's; `-` is standard input.

    Labels outside the scale are an error that names the line; `drop_bad_labels` drops them with a note instead. Times
    are ISO 8601 or numbers that grow, unless `time_format` says how they are written (`%m/%d/%Y %H:%M`).
    """
    file = File(str(path))
    scale = Scale.parse(scale) if isinstance(scale, str) else scale
    found = _format(format, file, Judgments.schema)
    if Judgments in found.records:
        judgments: Judgments = found.records[Judgments].read(file, scale, drop_bad_labels)
        return judgments
    frame, source = found.rows(file, Judgments.schema.name)
    return Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, time_format=time_format)


def read_runs(path: PathLike, *, ranks: bool = True, format: str | None = None) -> Runs:  # noqa: A002
    """Runs from a file: TREC's six columns, CSV, TSV, JSON lines or Parquet; `-` is standard input."""
    file = File(str(path))
    found = _format(format, file, Runs.schema)
    if Runs in found.records:
        runs: Runs = found.records[Runs].read(file, ranks)
        return runs
    frame, source = found.rows(file, Runs.schema.name)
    return Runs.check(frame, system=file.stem, source=source)


def read_preferences(
    path: PathLike,
    *,
    time_format: str | None = None,
    format: str | None = None,  # noqa: A002
) -> Preferences:
    """Side-by-side preferences from CSV, TSV, JSON lines or Parquet; times as `read_judgments` takes them."""
    file = File(str(path))
    frame, source = _rows(format, file, Preferences.schema)
    return Preferences.check(frame, source=source, time_format=time_format)


def read_clicks(path: PathLike, *, format: str | None = None) -> Clicks | ClickLog:  # noqa: A002
    """Click counts, or a log with a column `clicked`, from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = _rows(format, file, Clicks.schema)
    if {"clicked", "click"} & {name.strip().lower() for name in frame.columns}:
        return ClickLog.check(frame, source=source)
    return Clicks.check(frame, source=source)


def read_queries(path: PathLike, *, format: str | None = None) -> Queries:  # noqa: A002
    """Queries from the Web Track's XML (with subtopics), CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    found = _format(format, file, Queries.schema)
    if Queries in found.records:
        queries: Queries = found.records[Queries].read(file)
        return queries
    frame, source = found.rows(file, Queries.schema.name)
    return Queries.check(frame, source=source)


def read_subtopics(path: PathLike, *, format: str | None = None) -> Queries:  # noqa: A002
    """Subtopics with weights: the Web Track's XML, or a table of query, subtopic, weight."""
    file = File(str(path))
    found = _format(format, file, SUBTOPICS)
    if Queries in found.records:
        queries: Queries = found.records[Queries].read(file)
        return queries
    frame, _ = found.rows(file, SUBTOPICS.name)
    renamed = SUBTOPICS.conform(frame, Source(file.name))
    return Queries.check(renamed.select("query").unique(maintain_order=True), renamed, source=Source(file.name))


def read_user_weights(path: PathLike) -> Callable[[int, int], dict[float, float]]:
    """The worth of each level for M of N users, from a table of at_least, of, level, weight."""
    file = File(str(path))
    frame, source = read_csv(file)
    frame = USER_WEIGHTS.conform(frame, source)

    def worth(at_least: int, of: int) -> dict[float, float]:
        mine = frame.filter((frame["at_least"] == at_least) & (frame["of"] == of)).sort("level")
        if not mine.height:
            known = sorted({f"{m}/{n}" for m, n in frame.select("at_least", "of").iter_rows()})
            raise BadInput.at(file.name, expected=f"weights for {at_least} of {of} users", found=", ".join(known))
        return dict(zip(mine["level"].to_list(), mine["weight"].to_list(), strict=True))

    return worth


def read_documents(path: PathLike, *, format: str | None = None) -> Documents:  # noqa: A002
    """Documents from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = _rows(format, file, Documents.schema)
    return Documents.check(frame, source=source)


def read_session_lists(path: PathLike, *, format: str | None = None) -> SessionLists:  # noqa: A002
    """The lists that users saw in a session, one row per result, from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = _rows(format, file, SessionLists.schema)
    return SessionLists.check(frame, source=source)


def read_ratings(path: PathLike, *, format: str | None = None) -> Ratings:  # noqa: A002
    """Users' ratings of whole sessions, one row each, from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = _rows(format, file, Ratings.schema)
    return Ratings.check(frame, source=source)


def read_comments(path: PathLike, *, format: str | None = None) -> pl.DataFrame:  # noqa: A002
    """Comments with `reason` (or `comment`) and whatever else is known of them, as a table."""
    file = File(str(path))
    frame, _ = _rows(format, file, COMMENTS)
    return frame.rename(COMMENTS.rename(frame.columns))


def _format(name: str | None, file: File, schema: Schema) -> Format:
    return format_of(file, schema) if name is None else format_named(name)


def _rows(name: str | None, file: File, schema: Schema) -> Rows:
    return _format(name, file, schema).rows(file, schema.name)
