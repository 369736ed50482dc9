"""A Quepid book of judgments, as JSON.

Quepid knows queries by their text, so the text is the query's id here.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Narrow, add_format
from karat.formats.json_text import load_json
from karat.formats.jsonl import is_json, read_jsonl
from karat.formats.open_files import File
from karat.records import Judgments, Scale, Source
from karat.records.base import count

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
