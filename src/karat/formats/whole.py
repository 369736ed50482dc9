"""Judgments for formats with one kind of label: documents as a whole, read alone, by their pages."""

from __future__ import annotations

import polars as pl

from karat.errors import BadInput
from karat.records import Judgments
from karat.records.base import count

#: What may tell labels of a document apart: the value that stands for the usual, what others are called, and the usual.
APART = {
    "context": ("", "contexts", "given after another document", "documents that were judged alone"),
    "aspect": ("overall", "aspects", "of single aspects", "overall labels"),
    "surface": ("page", "surfaces", "of snippets and the like", "labels of pages"),
}


def whole_only(judgments: Judgments, kind: str) -> tuple[Judgments, list[str]]:
    """The overall labels of documents read alone, and what was left out in words.

    >>> rows = [{"query": "q", "doc": "d", "label": 2, "aspect": "overall"},
    ...         {"query": "q", "doc": "d", "label": 0, "aspect": "novelty"}]
    >>> found, notes = whole_only(Judgments.of(rows), "trec")
    >>> len(found), notes
    (1, ['trec has no place for aspects: 1 label of single aspects left out'])
    """
    frame, notes = judgments.frame, []
    for column, (usual, places, others, wanted) in APART.items():
        if column not in frame.columns:
            continue
        kept = frame.filter(pl.col(column).fill_null(usual).is_in([usual, ""]))
        if frame.height and not kept.height:
            raise BadInput.at(
                f"writing {kind}",
                expected=f"some {wanted}",
                found=f"only labels {others}, for which it has no place",
                remedy="write .csv, .jsonl or .parquet",
            )
        if kept.height < frame.height:
            left = count(frame.height - kept.height, "label")
            notes.append(f"{kind} has no place for {places}: {left} {others} left out")
        frame = kept.drop(column)
    return Judgments(frame, judgments.notes, judgments.scale), notes
