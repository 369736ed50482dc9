"""What a file holds: judgments, runs, preferences, clicks, queries or documents."""

from __future__ import annotations

from collections.abc import Callable

from karat.errors import BadInput
from karat.formats import read
from karat.formats.format import format_named, format_of
from karat.formats.open_files import File
from karat.records import ClickLog, Clicks, Documents, Judgments, Preferences, Queries, Records, Runs
from karat.records.schema import Schema

#: The reader of each kind of records, by the name that `--kind` takes.
READERS: dict[str, Callable[..., Records]] = {
    "judgments": read.read_judgments,
    "runs": read.read_runs,
    "preferences": read.read_preferences,
    "clicks": read.read_clicks,
    "queries": read.read_queries,
    "documents": read.read_documents,
}

_SCHEMAS: list[tuple[str, Schema]] = [
    ("judgments", Judgments.schema),
    ("preferences", Preferences.schema),
    ("clicks", ClickLog.schema),
    ("clicks", Clicks.schema),
    ("runs", Runs.schema),
    ("queries", Queries.schema),
    ("documents", Documents.schema),
]


def kind_of(path: str, format: str | None = None) -> str:
    """What a file holds, told from its columns.

    A table is of the first kind whose required columns it has, the most demanding kinds first; a TREC file with
    four columns holds judgments, with six a run.
    """
    file = File(path)
    found_format = format_named(format) if format else format_of(file, Judgments.schema)
    holds = found_format.holds(file)
    if holds is not None:
        return holds
    headers = found_format.rows(file, "records")[0].columns
    if "score" in headers and not {"corpus-id", "corpus_id"} & {*headers}:
        # BEIR calls a label score; everybody else means a system's.
        headers = [name for name in headers if name != "score"]
        if set(Runs.schema.required) <= {*headers, *Runs.schema.rename(headers).values()}:
            return "runs"
    for name, schema in _SCHEMAS:
        found = {*headers, *schema.rename(headers).values()}
        if set(schema.required) <= found and (name != "runs" or {"score", "rank"} & found):
            return name
    raise BadInput.at(
        file.name,
        expected="columns that tell what it holds",
        found=", ".join(headers),
        remedy=f"say it with --kind ({', '.join(READERS)})",
    )
