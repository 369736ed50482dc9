"""Reading any file: the format is told from the name's ending and the first line, or named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from karat.errors import BadInput
from karat.formats import quepid, tables, trec
from karat.formats.files import File
from karat.records import (
    ClickLog,
    Clicks,
    Documents,
    Judgments,
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

AnyPath = str | Path
#: The formats by the names that `--from` and `--to` take.
FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet", "quepid", "quepid-csv", "xml")

ENDINGS = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "quepid",
    ".xml": "xml",
}


def format_of(file: File, schema: Schema) -> str:
    """The format of a file that should hold these records."""
    if file.ending == ".csv" and _names(file) == quepid.BASIC:
        return "quepid-csv"
    if file.ending in ENDINGS:
        known = ENDINGS[file.ending]
        return "jsonl" if known == "quepid" and not quepid.is_book(file) else known
    head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"{"):
        return "quepid" if quepid.is_book(file) else "jsonl"
    if head.startswith(b"<"):
        return "xml"
    names = _names(file)
    header = {*names, *schema.rename(names).values()}
    return "csv" if sum(name in header for name in schema.required) > len(schema.required) / 2 else "trec"


def read_judgments(
    path: AnyPath,
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
    kind = _known(format) or format_of(file, Judgments.schema)
    if kind == "trec":
        return trec.read_qrels(file, scale, drop_bad_labels)
    if kind == "quepid":
        return quepid.read_book(file, scale, drop_bad_labels)
    if kind == "quepid-csv":
        return quepid.read_basic(file, scale, drop_bad_labels)
    _refuse_xml(kind, file, "judgments")
    frame, source = tables.read_table(file, kind)
    return Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, time_format=time_format)


def read_runs(path: AnyPath, *, ranks: bool = True, format: str | None = None) -> Runs:  # noqa: A002
    """Runs from a file: TREC's six columns, CSV, TSV, JSON lines or Parquet; `-` is standard input."""
    file = File(str(path))
    kind = _known(format) or format_of(file, Runs.schema)
    if kind == "trec":
        return trec.read_run(file, ranks)
    _refuse_xml(kind, file, "runs")
    frame, source = tables.read_table(file, kind)
    return Runs.check(frame, system=file.stem, source=source)


def read_preferences(
    path: AnyPath,
    *,
    time_format: str | None = None,
    format: str | None = None,  # noqa: A002
) -> Preferences:
    """Side-by-side preferences from CSV, TSV, JSON lines or Parquet; times as `read_judgments` takes them."""
    file = File(str(path))
    frame, source = tables.read_table(file, _table(format, file, Preferences.schema))
    return Preferences.check(frame, source=source, time_format=time_format)


def read_clicks(path: AnyPath, *, format: str | None = None) -> Clicks | ClickLog:  # noqa: A002
    """Click counts, or a log with a column `clicked`, from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = tables.read_table(file, _table(format, file, Clicks.schema))
    if {"clicked", "click"} & {name.strip().lower() for name in frame.columns}:
        return ClickLog.check(frame, source=source)
    return Clicks.check(frame, source=source)


def read_queries(path: AnyPath, *, format: str | None = None) -> Queries:  # noqa: A002
    """Queries from the Web Track's XML (with subtopics), CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    kind = _known(format) or format_of(file, Queries.schema)
    if kind == "xml":
        return trec.read_topics(file)
    frame, source = tables.read_table(file, _table(format, file, Queries.schema))
    return Queries.check(frame, source=source)


def read_subtopics(path: AnyPath, *, format: str | None = None) -> Queries:  # noqa: A002
    """Subtopics with weights: the Web Track's XML, or a table of query, subtopic, weight."""
    file = File(str(path))
    kind = _known(format) or format_of(file, SUBTOPICS)
    if kind == "xml":
        return trec.read_topics(file)
    frame, _ = tables.read_table(file, _table(format, file, SUBTOPICS))
    renamed = SUBTOPICS.conform(frame, Source(file.name))
    return Queries.check(renamed.select("query").unique(maintain_order=True), renamed, source=Source(file.name))


def read_user_weights(path: AnyPath) -> Callable[[int, int], dict[float, float]]:
    """The worth of each level for M of N users, from a table of at_least, of, level, weight."""
    file = File(str(path))
    frame, source = tables.read_table(file, "csv")
    frame = USER_WEIGHTS.conform(frame, source)

    def worth(at_least: int, of: int) -> dict[float, float]:
        mine = frame.filter((frame["at_least"] == at_least) & (frame["of"] == of)).sort("level")
        if not mine.height:
            known = sorted({f"{m}/{n}" for m, n in frame.select("at_least", "of").iter_rows()})
            raise BadInput.at(file.name, expected=f"weights for {at_least} of {of} users", found=", ".join(known))
        return dict(zip(mine["level"].to_list(), mine["weight"].to_list(), strict=True))

    return worth


def read_documents(path: AnyPath, *, format: str | None = None) -> Documents:  # noqa: A002
    """Documents from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = tables.read_table(file, _table(format, file, Documents.schema))
    return Documents.check(frame, source=source)


def read_session_lists(path: AnyPath, *, format: str | None = None) -> SessionLists:  # noqa: A002
    """The lists that users saw in a session, one row per result, from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = tables.read_table(file, _table(format, file, SessionLists.schema))
    return SessionLists.check(frame, source=source)


def read_ratings(path: AnyPath, *, format: str | None = None) -> Ratings:  # noqa: A002
    """Users' ratings of whole sessions, one row each, from CSV, TSV, JSON lines or Parquet."""
    file = File(str(path))
    frame, source = tables.read_table(file, _table(format, file, Ratings.schema))
    return Ratings.check(frame, source=source)


def read_comments(path: AnyPath, *, format: str | None = None) -> pl.DataFrame:  # noqa: A002
    """Comments with `reason` (or `comment`) and whatever else is known of them, as a table."""
    file = File(str(path))
    frame, _ = tables.read_table(file, _table(format, file, COMMENTS))
    return frame.rename(COMMENTS.rename(frame.columns))


def _table(format: str | None, file: File, schema: Schema) -> str:  # noqa: A002
    kind = _known(format) or format_of(file, schema)
    _refuse_xml(kind, file, schema.name)
    # These records have no TREC format: what is not recognised is taken for a table and says what it lacks.
    return {"trec": "csv", "quepid": "jsonl", "quepid-csv": "csv"}.get(kind, kind)


def _known(format: str | None) -> str | None:  # noqa: A002
    if format is None or format in FORMATS:
        return "csv" if format == "tsv" else format
    raise BadInput.at("the format", expected=" or ".join(FORMATS), found=f'"{format}"')


def _refuse_xml(kind: str, file: File, what: str) -> None:
    if kind == "xml":
        raise BadInput.at(file.name, expected=f"{what}", found="XML", remedy="only topics are read from XML")


def _names(file: File) -> list[str]:
    first = file.head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode(errors="replace")
    return [part.strip().strip('"').lower() for part in first.split(tables.separator_of(first.encode()))]
