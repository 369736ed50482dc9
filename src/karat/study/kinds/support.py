"""A sentence of an answer beside the passage that it cites: does the passage bear it out?"""

from __future__ import annotations

from typing import Any

from karat.records import study_design
from karat.study.kinds.kind import IDENTITY, AnswerTable, Row, TaskKind, typed


def _rows(row: Row) -> list[dict[str, Any]]:
    return [{"sentence": row["text"]}]


SUPPORT = TaskKind(
    "support",
    "Cited passages",
    ("query", "doc"),
    AnswerTable(
        "support",
        "Support by cited passages",
        typed("query", "doc", "sentence", "choice", "judge", "group", "time", "seconds", "away", "comment", "task"),
        _rows,
    ),
    told_by="sentence",
    text="sentence",
    identity=(*IDENTITY, "text"),
    right="expected",
    choices=study_design.SUPPORT,
)
