"""Two result lists side by side: which is better, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from karat.errors import BadInput
from karat.records import Preferences
from karat.study.kinds.kind import AnswerTable, Elsewhere, Row, TaskKind, typed

COLUMNS = typed(
    *("query", "subtopic", "left", "right", "choice", "strength", "judge", "group", "reason", "trap", "expected"),
    *("time", "seconds", "away", "comment", "probability", "order", "model", "task"),
)


#: A side by its name once the sides are exchanged.
TURNED = {"left": "right", "right": "left"}


def _check(row: Row, at: str) -> None:
    if row["left"] == row["right"]:
        raise BadInput.at(at, expected="two systems", found=f"{row['left']} on both sides")


def _rows(row: Row) -> list[dict[str, Any]]:
    """A choice, with the systems on the sides on which they were shown.

    A language model is shown both orders: a row each, with what it chose then.
    """
    turned = row["shown_left"] != row["a"]
    reasons = [*row["more"].get("chips", []), *([row["reason"]] if row["reason"] else [])]
    expected = TURNED.get(row["expected"]) if turned else row["expected"]
    sides = {"left": row["shown_left"], "right": row["shown_right"]}
    said = sides | {"reason": "; ".join(reasons) or None, "expected": expected, "order": None}
    said["model"] = row["more"].get("model")
    orders = row["more"].get("orders")
    if not orders:
        return [said]
    exchanged = {"left": sides["right"], "right": sides["left"], "choice": TURNED.get(orders[1], orders[1]), "order": 1}
    return [said | {"choice": orders[0], "order": 0}, said | exchanged]


def _gather(rows: Sequence[Row]) -> tuple[Row, dict[str, Any], int]:
    """The last row of a judge and pair; both rows where the pair was shown in both orders (column order).

    Whoever changes his mind with the order prefers neither.
    """
    last, again = rows[-1], len(rows) - 1
    said = {name: last.get(name) for name in ("choice", "strength", "reason")}
    other = next((row for row in rows if row["left"] == last["right"]), None)
    if last.get("order") is not None and other is not None and other.get("order") is not None:
        orders = [last["choice"], TURNED.get(other["choice"], other["choice"])]
        said |= {"choice": orders[0] if orders[0] == orders[1] else "equal", "more": json.dumps({"orders": orders})}
        again -= 1
    return last, said | {"kind": "answer", "a": last["left"], "b": last["right"]}, again


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
        kept=("comment", "opened", "order"),
    ),
)
