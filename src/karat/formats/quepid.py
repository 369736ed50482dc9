"""A Quepid book of judgments, as JSON.

Quepid knows queries by their text, so the text is the query's id here.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Narrow, add_format
from karat.formats.jsonl import is_json, read_jsonl
from karat.formats.open_files import File
from karat.records import Judgments, Scale, Source
from karat.records.base import count


def is_book(file: File) -> bool:
    """Whether a JSON file looks like a Quepid book."""
    return b'"query_doc_pairs"' in file.content


def read_book(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from a book; unrateable pairs are "can't tell", pairs put off or not yet judged are noted."""
    try:
        book = json.loads(file.content)
        pairs = book["query_doc_pairs"]
        rows, unjudged = [], 0
        for pair in pairs:
            given = [j for j in pair.get("judgements", ()) if not j.get("judge_later")]
            unjudged += not given
            rows += [_row(pair, judgment) for judgment in given]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput.at(file.name, expected="a Quepid book (query_doc_pairs)", found=repr(error)) from None
    frame = pl.DataFrame(
        rows,
        schema={
            "query": pl.String,
            "doc": pl.String,
            "label": pl.String,
            "judge": pl.String,
            "comment": pl.String,
        },
        orient="row",
        strict=False,
    )
    frame = frame.select(name for name in frame.columns if name == "judge" or frame[name].null_count() < frame.height)
    judgments = Judgments.check(frame, scale=scale, source=Source(file.name), drop_bad_labels=drop_bad_labels)
    if not unjudged:
        return judgments
    note = f"{file.name}: {count(unjudged, 'pair')} not judged yet"
    return Judgments(judgments.frame, (*judgments.notes, note), scale)


def write_book(judgments: Judgments, name: str) -> bytes:
    """Judgments as a Quepid book."""
    frame = judgments.frame
    for column in ("judge", "comment"):
        if column not in frame.columns:
            frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(column))
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for query, doc, label, judge, comment in frame.select("query", "doc", "label", "judge", "comment").iter_rows():
        answer: dict[str, Any] = {"rating": label, "unrateable": label is None, "judge_later": False}
        if judge is not None:
            answer["user_email"] = judge
        answer["explanation"] = comment
        pairs.setdefault((query, doc), []).append(answer)
    scale = sorted({label for label in frame["label"].to_list() if label is not None})
    if judgments.scale is not None:
        scale = list(judgments.scale.grades)
    book: dict[str, Any] = {
        "name": name,
        "show_rank": False,
        "support_implicit_judgements": True,
        "scale": scale,
    }
    if judgments.scale is not None:
        book["scale_with_labels"] = {f"{level.grade:g}": level.name for level in judgments.scale}
    book["query_doc_pairs"] = [
        {"query_text": query, "doc_id": doc, "position": None, "document_fields": "{}", "judgements": answers}
        for (query, doc), answers in pairs.items()
    ]
    return (json.dumps(book, indent=2, ensure_ascii=False) + "\n").encode()


def _row(pair: dict[str, Any], judgment: dict[str, Any]) -> tuple[str, str, str | None, str | None, str | None]:
    rating = None if judgment.get("unrateable") else judgment.get("rating")
    judge = judgment.get("user_email") or judgment.get("user")
    return (
        pair["query_text"],
        str(pair["doc_id"]),
        None if rating is None else str(rating),
        judge,
        judgment.get("explanation"),
    )


add_format(
    Format(
        "quepid",
        read_jsonl,
        endings=(".json",),
        sniff=lambda file, schema: (file.ending == ".json" or is_json(file)) and is_book(file),
        records={
            Judgments: Narrow(
                read_book, write_book, frozenset({"query", "doc", "label", "judge", "comment"}), several=True
            )
        },
        holds=lambda file: "judgments",
    ),
    __name__,
)
