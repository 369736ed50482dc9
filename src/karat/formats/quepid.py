"""A Quepid book of judgments, as JSON.

Quepid knows queries by their text, so the text is the query's id here.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import names_of, read_csv, stands_beside, write_csv
from karat.formats.format_registry import Format, Narrow, add_format
from karat.formats.json_files import is_json, load_json, objects, read_jsonl, shown
from karat.formats.open_files import File
from karat.records import Judgments, Runs, Scale, Source
from karat.records.table import count

COLUMNS = ("query", "doc", "label", "judge", "comment")


def read_book(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from a book; unrateable pairs are "can't tell", pairs put off or not yet judged are noted."""
    try:
        rows, unjudged = [], 0
        for pair in load_json(file)["query_doc_pairs"]:
            given = [j for j in pair.get("judgements", ()) if not j.get("judge_later")]
            unjudged += not given
            rows += [_row(pair, judgment) for judgment in given]
    except (TypeError, KeyError, AttributeError) as error:
        raise BadInput.at(file.name, expected="a Quepid book (query_doc_pairs)", found=repr(error)) from None
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row", strict=False)
    frame = frame.select(name for name in frame.columns if name == "judge" or frame[name].null_count() < frame.height)
    judgments = Judgments.check(frame, scale=scale, source=Source(file.name), drop_bad_labels=drop_bad_labels)
    if not unjudged:
        return judgments
    note = f"{file.name}: {count(unjudged, 'pair')} not judged yet"
    return Judgments(judgments.frame, (*judgments.notes, note), scale)


def write_book(judgments: Judgments, name: str) -> bytes:
    """Judgments as a Quepid book."""
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in judgments.frame.iter_rows(named=True):
        label, judge = row["label"], row.get("judge")
        answer = {"rating": label, "unrateable": label is None, "judge_later": False}
        answer |= {} if judge is None else {"user_email": judge}
        pairs.setdefault((row["query"], row["doc"]), []).append(answer | {"explanation": row.get("comment")})
    book: dict[str, Any] = {"name": name, "show_rank": False, "support_implicit_judgements": True}
    if judgments.scale is None:
        book["scale"] = judgments.frame["label"].drop_nulls().unique().sort().to_list()
    else:
        book["scale"] = list(judgments.scale.grades)
        book["scale_with_labels"] = {f"{level.grade:g}": level.name for level in judgments.scale}
    book["query_doc_pairs"] = [
        {"query_text": query, "doc_id": doc, "position": None, "document_fields": "{}", "judgements": answers}
        for (query, doc), answers in pairs.items()
    ]
    return (json.dumps(book, indent=2, ensure_ascii=False) + "\n").encode()


def _row(pair: dict[str, Any], judgment: dict[str, Any]) -> tuple[str | None, ...]:
    rating = None if judgment.get("unrateable") else judgment.get("rating")
    judge = judgment.get("user_email") or judgment.get("user")
    label = None if rating is None else str(rating)
    return pair["query_text"], str(pair["doc_id"]), label, judge, judgment.get("explanation")


add_format(
    Format(
        "quepid",
        read_jsonl,
        endings=(".json",),
        sniff=lambda file, schema: (file.ending == ".json" or is_json(file)) and b'"query_doc_pairs"' in file.content,
        records={Judgments: Narrow(read_book, write_book, frozenset(COLUMNS), several=True)},
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)


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


BASIC = ["query", "docid", "rating"]


def read_basic(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from `query,docid,rating`; queries without any rating, which Quepid lists too, are noted."""
    frame, source = read_csv(file)
    frame = frame.rename({name: name.lower() for name in frame.columns})
    alone = frame["docid"].is_null() & frame["rating"].is_null()
    judgments = Judgments.check(
        frame.filter(~alone), scale=scale, source=source.keep(~alone), drop_bad_labels=drop_bad_labels, one_each=True
    )
    if not alone.any():
        return judgments
    note = f"{file.name}: {count(int(alone.sum()), 'query', 'queries')} without a rating"
    return Judgments(judgments.frame, (*judgments.notes, note), scale)


def write_basic(judgments: Judgments, name: str) -> bytes:
    """Judgments as `query,docid,rating`."""
    frame = judgments.frame.drop_nulls("label")
    return write_csv(frame.select("query", pl.col("doc").alias("docid"), pl.col("label").alias("rating")))


add_format(
    Format(
        "quepid-csv",
        read_csv,
        read_from=(".csv",),
        sniff=lambda file, schema: file.ending == ".csv" and names_of(file) == BASIC,
        records={Judgments: Narrow(read_basic, write_basic, frozenset({"query", "doc", "label"}))},
        holds=lambda file: "judgments",
    ),
    __name__,
)
