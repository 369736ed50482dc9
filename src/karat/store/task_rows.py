"""A row of a task file: known names, plain values, and what is wrong with it said with its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Scale, Source
from karat.records.schema import CHANCE, DRAWN_FOR, LEAST_CHANCE
from karat.store.kinds import KINDS

TEXTS: tuple[str, ...] = ("query", "doc", "context", "subtopic", "left", "right", "left_query", "right_query")
TEXTS += ("group", "judge", "block")
#: The columns of tasks in files, and those of the database in which they are as they are.
TASKS = {
    "task": "id",
    **{name: name for name in ("kind", "query", "doc", "context", "subtopic")},
    "description": None,
    **{"left": "a", "right": "b", "left_query": "a_query", "right_query": "b_query"},
    **{"left_docs": "a_docs", "right_docs": "b_docs", "reason": None, "sentence": None, "nugget": None, "group": "grp"},
    **dict.fromkeys(("judge", "block", "place", "order"), None),
    **{
        name: name
        for name in (
            "session",
            "trap",
            "expected",
            "practice",
            "gold",
            "note",
            "probability",
            "round",
            "drawn_for",
            "repeat",
        )
    },
    **{"labels": None, "closed": None, "wanted": "wanted", "filled": "filled"},
}
#: What a row may say beside them; but for the first, these stand in plans and are not read.
MORE = ("surface", "label", "setting", "text")
#: As large as a whole number may be, which a database is to hold, and as many labels as may be asked for.
MOST_WHOLE, MOST_LABELS = 2**31 - 1, 1000
#: Nobody draws gold labels more often.
MOST_ROUNDS = 1000


def unknown_columns(frame: pl.DataFrame) -> list[str]:
    """The columns of a table of tasks that nobody will look at again.

    >>> unknown_columns(pl.DataFrame({"query": ["q"], "doc": ["d"], "weather": ["rain"]}))
    ['weather']
    """
    return [name for name in frame.columns if name not in (*TASKS, *MORE)]


def task_rows(
    frame: pl.DataFrame,
    scale: Scale | None,
    groups: Sequence[str],
    *,
    practice: bool = False,
    source: Source | None = None,
) -> list[dict[str, Any]]:
    """The rows of a table of tasks, checked; `source` is where they come from, for errors."""
    source = source or Source("the tasks")
    needed = [dict.fromkeys((*kind.needs, kind.told_by or "query")) for kind in KINDS.values()]
    if not any(names.keys() <= {*frame.columns} for names in needed):
        expected = ", or ".join(" and ".join(names) for names in needed)
        raise BadInput.at(source.name, expected=f"tasks with {expected}", found=", ".join(frame.columns))
    at = source.at
    rows = []
    for number, raw in enumerate(frame.iter_rows(named=True)):
        row = task_row(raw, at(number), scale, practice=practice)
        if row["group"] and row["group"] not in groups:
            raise BadInput.at(at(number), expected=f"a group of {', '.join(groups)}", found=f'"{row["group"]}"')
        rows.append(row)
    return rows


def task_row(raw: dict[str, Any], at: str, scale: Scale | None, *, practice: bool = False) -> dict[str, Any]:
    """A row with known names and plain values; `at` is its place, for errors.

    >>> row = task_row({"query": "q", "doc": "d", "gold": "2"}, "tasks.csv line 2", None)
    >>> row["kind"], row["gold"]
    ('judge', 2.0)
    """
    if isinstance(raw.get("context"), list):  # several documents read before, in order
        raw = raw | {"context": json.dumps([str(doc) for doc in raw["context"]], ensure_ascii=False)}
    row = dict(_NOTHING)
    for name, value in raw.items():
        if value is not None and value != "" and (read := _READ.get(name)) is not None:
            row[name] = read(value, name, at)
    told = (kind.name for kind in KINDS.values() if kind.told_by and raw.get(kind.told_by) not in (None, ""))
    called = raw.get("kind") or next(told, next(iter(KINDS)))
    if called not in KINDS:
        raise BadInput.at(at, expected=f"a kind of task: {', '.join(KINDS)}", found=f'"{called}"')
    kind = KINDS[called]
    for name in kind.needs:
        if row[name] is None:
            raise BadInput.at(at, expected=f"{name} for a task of kind {called}", found="nothing")
    row["kind"], row["text"], row["practice"] = called, raw.get(kind.text), practice or row["practice"]
    # People are asked about documents; only labels collected elsewhere may be of something else, such as a snippet.
    row["surface"] = raw.get("surface") if row["closed"] else None
    if row["labels"] is not None and not 1 <= row["labels"] <= MOST_LABELS:
        raise BadInput.at(at, expected=f"1 label or more, at most {MOST_LABELS:,}", found=str(row["labels"]))
    if row["repeat"] is not None and (
        row["repeat"] < 1 or row["trap"] or row["practice"] or row["judge"] or row["block"]
    ):
        raise BadInput.at(
            at,
            expected="a repeat from 1, of a task in no plan of judges or blocks, no trap and no practice",
            found="another",
        )
    if row["trap"] and row["expected"] not in ("left", "right"):
        raise BadInput.at(at, expected="left or right as the expected answer of a trap", found=str(row["expected"]))
    kind.check(row, at)
    if row["practice"] and kind.right is None:
        raise BadInput.at(at, expected="a task with a right answer, to practise on", found=f"one of kind {called}")
    if row["expected"] not in kind.choices and (row["expected"] or (row["practice"] and kind.right == "expected")):
        raise BadInput.at(at, expected=f"{', '.join(kind.choices)} in the column expected", found=str(row["expected"]))
    if row["probability"] is not None and not LEAST_CHANCE <= row["probability"] <= 1:
        raise BadInput.at(at, expected=CHANCE, found=f"{row['probability']:g}")
    if scale is not None and row["gold"] is not None and row["gold"] not in scale.grades:
        raise BadInput.at(at, expected=f"a grade of the scale {scale} as gold", found=f"{row['gold']:g}")
    return row


def round_of(value: Any, at: str) -> int | None:
    """The number of a round of gold labels, none where nothing stands; `at` is its place, for errors."""
    number = whole(value, "round", at)
    if number is not None and not 1 <= number <= MOST_ROUNDS:
        raise BadInput.at(at, expected=f"a round from 1 to {MOST_ROUNDS}", found=f'"{value}"')
    return number


def drawn_for(value: Any, at: str) -> str | None:
    """What a draw of gold labels can speak for, none where nothing stands; `at` is its place, for errors."""
    if value not in (None, "", *DRAWN_FOR):
        raise BadInput.at(at, expected=" or ".join(DRAWN_FOR), found=f'"{value}"', remedy="see karat plan gold")
    return value or None


def whole(value: Any, name: str, at: str) -> int | None:
    """A whole number, none where nothing stands; `name` and `at` are for errors."""
    number = _number(value, name, at)
    if number is not None and abs(number) > MOST_WHOLE:
        raise BadInput.at(at, expected=f"a whole number up to {MOST_WHOLE:,} as {name}", found=f'"{value}"')
    if number is not None and number != int(number):
        raise BadInput.at(at, expected=f"a whole number as {name}", found=f'"{value}"')
    return None if number is None else int(number)


def _number(value: Any, name: str, at: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadInput.at(at, expected=f"a number as {name}", found=f'"{value}"') from None
    if not np.isfinite(number):
        raise BadInput.at(at, expected=f"a number as {name}", found=f'"{value}"')
    return number


def _truth(value: Any, name: str, at: str) -> bool:
    said = str(value).strip().lower().removesuffix(".0")
    if said not in ("true", "1", "yes", "false", "0", "no"):
        raise BadInput.at(at, expected=f"true or false as {name}", found=f'"{value}"')
    return said in ("true", "1", "yes")


def _docs(value: Any) -> str | None:
    """A planned list of documents: a list, JSON, or names with spaces between."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            found = value.split()
        value = found if isinstance(found, list) else [value]
    return json.dumps([str(doc) for doc in value])


#: How each column of a task file is read where something stands in it, and a row in which nothing stands.
_READ: dict[str, Callable[[Any, str, str], Any]] = {
    **dict.fromkeys(TEXTS, lambda value, name, at: str(value)),
    **dict.fromkeys(("session", "order", "place", "labels", "repeat"), whole),
    **dict.fromkeys(("closed", "trap", "practice"), _truth),
    **dict.fromkeys(("expected", "note"), lambda value, name, at: value or None),
    **dict.fromkeys(("gold", "probability"), _number),
    "round": lambda value, name, at: round_of(value, at),
    "drawn_for": lambda value, name, at: drawn_for(value, at),
    **dict.fromkeys(("left_docs", "right_docs"), lambda value, name, at: _docs(value)),
}
_NOTHING: dict[str, Any] = dict.fromkeys(_READ) | {"closed": False, "trap": False, "practice": False}
#: What goes from a row into the table of tasks as it is.
AS_THEY_ARE = [(name, column) for name, column in TASKS.items() if column and name in (*_NOTHING, "kind", "surface")]
