"""A nugget, a fact that a good answer has, beside an answer: is it in there?"""

from __future__ import annotations

from typing import Any

from karat.records import study_design
from karat.study.kinds.kind import IDENTITY, AnswerTable, Row, TaskKind, typed


def _rows(row: Row) -> list[dict[str, Any]]:
    return [{"nugget": row["text"]}]


NUGGET = TaskKind(
    "nugget",
    "Nuggets",
    ("query", "doc"),
    AnswerTable(
        "nuggets",
        "Nuggets in answers",
        typed("query", "doc", "nugget", "choice", "judge", "group", "time", "seconds", "away", "comment", "task"),
        _rows,
    ),
    told_by="nugget",
    text="nugget",
    identity=(*IDENTITY, "text"),
    right="expected",
    choices=study_design.NUGGET,
)
