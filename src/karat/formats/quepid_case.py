"""Quepid's cases: the case as JSON with its ratings, and snapshots and detailed exports as CSV.

Quepid knows queries by their text, so the text is the query's id here.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import names_of, read_csv, stands_beside
from karat.formats.format import Format, Narrow, add_format
from karat.formats.json_text import load_json, objects, shown
from karat.formats.jsonl import is_json, read_jsonl
from karat.formats.open_files import File
from karat.records import Judgments, Runs, Scale, Source
from karat.records.base import count

CASE = "a case (queries with query_text and ratings, by document or as a list)"
RATINGS = "ratings by document, or a list of doc_id, rating and user_email"
#: What a line of a snapshot or a detailed export has at least, as Quepid spells it, and what it means here.
LISTED = {"Query Text": "query", "Doc ID": "doc", "Doc Position": "rank"}
NAMES = {"Snapshot Name": "system", "Case Name": "system", "Rating": "label", **LISTED}


def read_case(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from a case; queries without a rating are counted in a note.

    Ratings stand in an object by document or, with who gave them, in a list.
    """
    found = load_json(file)
    rows, unrated, by_raters = list[tuple[str, str, str | None, str | None]](), 0, False
    rated: list[tuple[str, Any, str | None]]
    for query in objects(found.get("queries") if isinstance(found, dict) else found, file, CASE):
        text, ratings = query.get("query_text"), query.get("ratings") or {}
        if text in (None, "") or not isinstance(ratings, dict | list):
            raise BadInput.at(file.name, expected=CASE, found=shown(query))
        if isinstance(ratings, dict):
            rated = [(doc, label, None) for doc, label in ratings.items()]
        else:
            by_raters, rated = True, [_rating(one, file) for one in objects(ratings, file, CASE)]
            rated = [one for one in rated if one[1] is not None]  # taken back in Quepid
        unrated += not rated
        rows += [(str(text), doc, None if label is None else str(label), judge) for doc, label, judge in rated]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("query", "doc", "label", "judge"), pl.String), orient="row")
    if frame["judge"].null_count() == frame.height:
        frame = frame.drop("judge")
    source = Source(file.name)
    made = Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, one_each=not by_raters)
    note = f"{file.name}: {count(unrated, 'query', 'queries')} without a rating"
    return Judgments(made.frame, (*made.notes, *([note] if unrated else [])), scale)


def _rating(one: dict[str, Any], file: File) -> tuple[str, Any, str | None]:
    """Document, rating and rater of a rating."""
    if one.get("doc_id") is None or "rating" not in one:
        raise BadInput.at(file.name, expected=RATINGS, found=shown(one))
    judge = one.get("user_email")
    return str(one["doc_id"]), one["rating"], None if judge in (None, "") else str(judge)


def read_rated(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from a detailed export: the ratings of the documents that its lists show."""
    frame, source = read_csv(file)
    if "Rating" not in frame.columns:
        raise BadInput.at(
            file.name,
            expected="a column Rating",
            found=", ".join(frame.columns[:8]),
            remedy="a snapshot has no ratings: it is a run, and the labels are the case's ratings or a book",
        )
    rated = frame["Rating"].is_not_null() & (frame["Rating"] != "")
    named = frame.filter(rated).select(query="Query Text", doc="Doc ID", label="Rating")
    return Judgments.check(
        named, scale=scale, source=source.keep(rated), drop_bad_labels=drop_bad_labels, one_each=True
    )


def read_snapshot(file: File, ranks: bool = True) -> Runs:
    """A run of each snapshot, or of the case; queries without a document are lists without results."""
    frame, source = read_csv(file)
    frame = frame.select(
        pl.col(old).alias(new) for old, new in NAMES.items() if old in frame.columns and new != "label"
    )
    shown_docs = frame["doc"].is_not_null() & (frame["doc"] != "")
    runs = Runs.check(frame.filter(shown_docs), system=file.stem, source=source.keep(shown_docs))
    empty = int((~shown_docs).sum())
    note = f"{file.name}: {count(empty, 'query', 'queries')} without a document"
    return Runs(runs.frame, (*runs.notes, *([note] if empty else [])), runs.one_system)


def _holds(file: File) -> str | None:
    """What a file with Quepid's names holds: an export of ratings alone has no positions."""
    names = {*names_of(file)}
    if not {"query text", "doc id"} <= names:
        return None
    return "runs" if "doc position" in names else "judgments" if "rating" in names else None


add_format(
    Format(
        "quepid-case",
        read_jsonl,
        read_from=(".json",),
        sniff=lambda file, schema: is_json(file) and b'"query_text"' in file.head and b'"case_name"' in file.head,
        records={Judgments: Narrow(read_case)},
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)
add_format(
    Format(
        "quepid-snapshot",
        read_csv,
        read_from=(".csv",),
        sniff=lambda file, schema: (
            schema.name in (Judgments.schema.name, Runs.schema.name) and _holds(file) is not None
        ),
        records={Judgments: Narrow(read_rated), Runs: Narrow(read_snapshot)},
        holds=_holds,
        exact=True,
        beside=lambda file, schema: stands_beside(file, schema, {name.lower() for name in NAMES}.__contains__),
    ),
    __name__,
)
