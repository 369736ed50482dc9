"""Two result lists side by side: which is better, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.errors import BadInput
from karat.records import Preferences
from karat.store.kinds.kind import AnswerTable, Elsewhere, Row, TaskKind, typed

COLUMNS = typed(
    *("query", "subtopic", "left", "right", "choice", "strength", "judge", "group", "reason", "trap", "expected"),
    *("time", "seconds", "away", "comment", "probability", "task"),
)


def _check(row: Row, at: str) -> None:
    if row["left"] == row["right"]:
        raise BadInput.at(at, expected="two systems", found=f"{row['left']} on both sides")


def _rows(row: Row) -> list[dict[str, Any]]:
    """A choice, with the systems on the sides on which they were shown."""
    turned = row["shown_left"] != row["a"]
    reasons = [*row["more"].get("chips", []), *([row["reason"]] if row["reason"] else [])]
    expected = {"left": "right", "right": "left"}.get(row["expected"]) if turned else row["expected"]
    sides = {"left": row["shown_left"], "right": row["shown_right"]}
    return [sides | {"reason": "; ".join(reasons) or None, "expected": expected}]


def _gather(rows: Sequence[Row]) -> tuple[Row, dict[str, Any], int]:
    """The last row of a judge and pair."""
    last = rows[-1]
    said = {name: last.get(name) for name in ("choice", "strength", "reason")}
    return last, said | {"kind": "answer", "a": last["left"], "b": last["right"]}, len(rows) - 1


PAIR = TaskKind(
    "pair",
    "Pairs of lists",
    ("query", "left", "right"),
    AnswerTable("preferences", "Preferences", COLUMNS, _rows, Preferences),
    told_by="left",
    wanted=lambda rules: rules.judges_per_pair,
    check=_check,
    right="expected",
    sides=True,
    elsewhere=Elsewhere(
        Preferences,
        "the preference of query {query}",
        ("query", "subtopic", "left", "right"),
        _gather,
        kept=("comment", "opened"),
    ),
)
