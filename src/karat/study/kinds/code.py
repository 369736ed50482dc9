"""A reason that somebody gave for a preference, to be put into classes."""

from __future__ import annotations

from typing import Any

from karat.study.kinds.kind import IDENTITY, AnswerTable, Row, TaskKind, typed


def _rows(row: Row) -> list[dict[str, Any]]:
    """The classes into which a reason was put, one row for each."""
    return [{"reason": row["text"], "class": name} for name in row["more"].get("classes", [])]


CODE = TaskKind(
    "code",
    "Reasons",
    ("query",),
    AnswerTable("codes", "Coded reasons", typed("query", "reason", "class", "judge", "group", "time", "task"), _rows),
    told_by="reason",
    text="reason",
    identity=(*IDENTITY, "text"),
)
