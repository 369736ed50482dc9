"""What a file holds: judgments, runs, preferences, clicks, queries or documents."""

from __future__ import annotations

from collections.abc import Callable

from karat.advice import advise
from karat.errors import AmbiguousFile
from karat.formats import read
from karat.formats.column_mapping import said_of
from karat.formats.format_registry import format_named, format_of
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

#: What a file's name says of rows that could be queries or documents.
_NAMED = {"queries": ("quer", "topic"), "documents": ("corpus", "doc", "passage", "collection")}


def kind_of(path: str, format: str | None = None) -> str:
    """What a file holds, told from its columns.

    A table is of the kind whose required columns it has, the most demanding kinds first; a TREC file with four
    columns holds judgments, with six a run. What could be two things is refused with the names of both.
    """
    file, said = File(path), said_of(None)
    for schema in (Judgments.schema, Runs.schema, Queries.schema):  # some formats are for one kind of records only
        found_format = format_named(format) if format else format_of(file, schema)
        holds = None if said.may_be_in(file) else found_format.holds(file)
        if holds is not None:
            return holds
        if found_format.name != "trec":
            break
    frame, source = found_format.rows(file, "records")
    headers = frame.columns
    kinds = _kinds([*said.shown_in(headers), *source.columns], file.stem.lower())
    if len(kinds) == 1:
        return kinds[0]
    raise AmbiguousFile.at(
        file.name,
        expected="columns that tell what it holds",
        found=", ".join(headers) + (f", which could be {' or '.join(kinds)}" if kinds else ""),
        remedy=f"{advise('say it with --kind', 'read it with the function for its kind')} "
        f"({', '.join(kinds or READERS)}), or which column is which with {advise('--columns', 'columns=')}",
    )


def _kinds(headers: list[str], stem: str) -> list[str]:
    """The kinds of records that a table with these headers could hold."""

    def fits(schema: Schema) -> dict[str, str]:
        chosen = schema.chosen(headers)
        return chosen if {*schema.required} <= {*chosen} else {}

    labels, runs = fits(Judgments.schema), fits(Runs.schema)
    # BEIR calls a label score; everybody else means a system's.
    by_score = labels.get("label", "").strip().lower() == "score"
    beir = by_score and labels["doc"].strip().lower() in ("corpus-id", "corpus_id")
    if labels and (beir or not by_score):
        return ["judgments", "runs"] if "score" in runs and not beir else ["judgments"]
    if fits(Preferences.schema):
        return ["preferences"]
    if fits(ClickLog.schema) or fits(Clicks.schema):
        return ["clicks"]
    if {"score", "rank"} & {*runs}:
        return ["runs"]
    queries, documents = fits(Queries.schema), fits(Documents.schema)
    if queries and documents and queries["query"] == documents["doc"]:
        if queries.get("text", "").strip().lower() in ("query", "query_text"):
            return ["queries"]
        if {"title", "text"} <= {*documents} or {"url", "snippet"} & {*documents}:
            return ["documents"]
        named = [kind for kind, parts in _NAMED.items() if any(part in stem for part in parts)]
        return named if len(named) == 1 else ["queries", "documents"]
    return [kind for kind, found in (("queries", queries), ("documents", documents)) if found]
