"""What was collected, as tables: judgments, preferences, codes of reasons, and the whole log."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, func, select

from karat.labels.selection import OVERALL, PAGE
from karat.store.store import Store
from karat.store.tables import ENDLESS, answers, bundles, events, judges, tasks
from karat.store.tasks import ELSEWHERE, STRIDE

#: What the app notes of a judge who opened the page, or judged by what is shown of it.
SEEN = {True: PAGE, False: "snippet"}
OPENED = {seen: opened for opened, seen in SEEN.items()}

JUDGMENTS = {
    "query": pl.String,
    "doc": pl.String,
    "label": pl.Float64,
    "judge": pl.String,
    "group": pl.String,
    "aspect": pl.String,
    "context": pl.String,
    "subtopic": pl.String,
    "surface": pl.String,
    "opened": pl.Boolean,
    "time": pl.String,
    "seconds": pl.Float64,
    "comment": pl.String,
    "probability": pl.Float64,
    "round": pl.Int64,
    "away": pl.Float64,
    "gold": pl.Float64,
    "task": pl.Int64,
}
PREFERENCES = {
    "query": pl.String,
    "subtopic": pl.String,
    "left": pl.String,
    "right": pl.String,
    "choice": pl.String,
    "strength": pl.Float64,
    "judge": pl.String,
    "group": pl.String,
    "reason": pl.String,
    "trap": pl.Boolean,
    "expected": pl.String,
    "time": pl.String,
    "seconds": pl.Float64,
    "away": pl.Float64,
    "comment": pl.String,
    "probability": pl.Float64,
    "task": pl.Int64,
}
#: The columns of tasks, and those of the database in which they are as they are.
TASKS = {
    "task": "id",
    **{name: name for name in ("kind", "query", "doc", "context", "subtopic")},
    "description": None,
    "left": "a",
    "right": "b",
    "left_query": "a_query",
    "right_query": "b_query",
    "left_docs": "a_docs",
    "right_docs": "b_docs",
    "reason": None,
    "group": "grp",
    **dict.fromkeys(("judge", "block", "place", "order"), None),
    **{name: name for name in ("session", "trap", "expected", "practice", "gold", "note", "probability", "round")},
    **dict.fromkeys(("labels", "closed"), None),
    "wanted": "wanted",
    "filled": "filled",
}
CODES = {
    "query": pl.String,
    "reason": pl.String,
    "class": pl.String,
    "judge": pl.String,
    "group": pl.String,
    "time": pl.String,
    "task": pl.Int64,
}


def judgments(store: Store, *, aspects: bool = True, cant_tell: bool = True) -> pl.DataFrame:
    """The labels that stand, in the order in which they were said; `aspects` adds a row for each graded aspect.

    A label is about the document; whether the judge opened the page stands beside it. Only labels collected elsewhere
    have a surface, where they came with one.
    Somebody who could not tell has a row without label (their reason is the comment) unless `cant_tell` is False.
    """
    rows = []
    for row in _said(store, "judge", cant_tell=cant_tell):
        more = json.loads(row["more"] or "{}")
        said = _base(row) | {
            "doc": row["doc"],
            "label": row["label"],
            "context": row["context"],
            "surface": more.get("surface"),
            "opened": OPENED.get(row["surface"]),
            "comment": row["comment"] or (row["reason"] if row["kind"] == "cant_tell" else None),
            "gold": row["gold"],
            "round": row["round"],
            "aspect": OVERALL,
        }
        rows.append(said)
        if aspects:
            graded = more.get("aspects", {}).items()
            rows += [said | {"aspect": name, "label": grade, "gold": None} for name, grade in graded]
    return pl.DataFrame(rows, schema=JUDGMENTS)


def waiting(store: Store) -> pl.DataFrame:
    """The documents by themselves that a plan drew and nobody has labelled yet, as judgments without label."""
    names = ("query", "doc", "context", "subtopic", "probability", "round")
    found = select(*(tasks.c[name] for name in names), tasks.c.grp.label("group")).where(*_drawn(store))
    found = found.group_by(*(tasks.c[name] for name in (*names, "grp"))).having(func.max(tasks.c.filled) == 0)
    with store.database.read() as connection:
        rows = [dict(row) for row in connection.execute(found.order_by(func.min(tasks.c.id))).mappings()]
    return pl.DataFrame(rows, schema={name: JUDGMENTS[name] for name in (*names, "group")})


def drawn_any(store: Store) -> bool:
    """Whether a plan drew documents of the study."""
    with store.database.read() as connection:
        return connection.execute(select(tasks.c.id).where(*_drawn(store)).limit(1)).first() is not None


def _drawn(store: Store) -> tuple[ColumnElement[bool], ...]:
    alone = (tasks.c.context.is_(None), tasks.c.subtopic.is_(None), ~tasks.c.practice)
    return (tasks.c.study_id == store.study_id, tasks.c.kind == "judge", *alone, tasks.c.probability.is_not(None))


def preferences(store: Store, *, traps: bool = True) -> pl.DataFrame:
    """The choices that stand, with the systems on the sides on which they were shown."""
    rows = []
    for row in _said(store, "pair"):
        if row["trap"] and not traps:
            continue
        chips = json.loads(row["more"] or "{}").get("chips", [])
        turned = row["shown_left"] != row["a"]
        expected = {"left": "right", "right": "left"}.get(row["expected"]) if turned else row["expected"]
        rows.append(
            _base(row)
            | {
                "left": row["shown_left"],
                "right": row["shown_right"],
                "choice": row["choice"],
                "strength": row["strength"],
                "reason": "; ".join([*chips, *([row["reason"]] if row["reason"] else [])]) or None,
                "trap": row["trap"],
                "expected": expected,
                "comment": row["comment"],
            }
        )
    return pl.DataFrame(rows, schema=PREFERENCES)


def rejected(store: Store, kind: str) -> int:
    """How many judges had answers to tasks of a kind taken back because they were rejected."""
    taken = (
        select(func.count(events.c.judge_id.distinct()))
        .join(tasks, tasks.c.id == events.c.task_id)
        .where(events.c.study_id == store.study_id, events.c.kind == "reject", tasks.c.kind == kind)
    )
    with store.database.read() as connection:
        return int(connection.execute(taken).scalar_one())


def codes(store: Store) -> pl.DataFrame:
    """The classes into which reasons were put, one row for each class."""
    rows = []
    for row in _said(store, "code"):
        said = {name: value for name, value in _base(row).items() if name in CODES}
        classes = json.loads(row["more"] or "{}").get("classes", [])
        rows += [said | {"reason": row["text"], "class": name} for name in classes]
    return pl.DataFrame(rows, schema=CODES)


def events_frame(store: Store) -> pl.DataFrame:
    """The whole log, one row for each event, nothing left out."""
    with store.database.read() as connection:
        found = connection.execute(
            select(events, judges.c.name.label("judge"))
            .outerjoin(judges, judges.c.id == events.c.judge_id)
            .where(events.c.study_id == store.study_id)
            .order_by(events.c.id)
        )
        rows = [dict(row) for row in found.mappings()]
    texts = ("kind", "judge", "choice", "left", "right", "reason", "comment", "more", "key", "time")
    schema: dict[str, Any] = {"event": pl.Int64, "task": pl.Int64, "takes_back": pl.Int64, "opened": pl.Boolean}
    schema |= dict.fromkeys(texts, pl.String) | dict.fromkeys(("label", "strength", "seconds", "away"), pl.Float64)
    named = {"id": "event", "task_id": "task", "target_id": "takes_back", "a": "left", "b": "right"}
    ready = [
        {named.get(name, name): value for name, value in row.items()}
        | {"time": iso(row["at"]), "opened": OPENED.get(row["surface"])}
        for row in rows
    ]
    return pl.DataFrame([{name: row[name] for name in schema} for row in ready], schema=schema)


def tasks_frame(store: Store) -> pl.DataFrame:
    """The tasks as they stand, in the columns that task files have, with labels wanted and there."""
    kept = [name for name in TASKS.values() if name is not None]
    more = [tasks.c[name] for name in ("text", "base", "place", "lot")]
    with store.database.read() as connection:
        mine = select(*(tasks.c[name] for name in kept), *more, bundles.c.name.label("bundle"))
        mine = mine.outerjoin(bundles, bundles.c.id == tasks.c.bundle_id).where(tasks.c.study_id == store.study_id)
        rows = [_planned(dict(row)) for row in connection.execute(mine.order_by(tasks.c.id)).mappings()]
    whole = ("task", "session", "order", "place", "round", "labels", "wanted", "filled")
    types: dict[str, Any] = dict.fromkeys(whole, pl.Int64) | {"gold": pl.Float64, "probability": pl.Float64}
    types |= dict.fromkeys(("trap", "practice", "closed"), pl.Boolean)
    return pl.DataFrame(rows, schema={name: types.get(name, pl.String) for name in TASKS})


def _planned(row: dict[str, Any]) -> dict[str, Any]:
    """A task in the words of a plan, so that the same comes of it when it is loaded again."""
    plan: dict[str, Any] = {name: None if column is None else row[column] for name, column in TASKS.items()}
    plan["reason" if row["kind"] == "code" else "description"] = row["text"]
    for what in ("judge", "block"):
        start = f"{what}:{row['grp']}:"
        if (row["bundle"] or "").startswith(start):
            plan[what] = row["bundle"].removeprefix(start)
    plan["closed"] = row["place"] == ELSEWHERE
    plan["labels"] = None if row["base"] == ENDLESS else row["base"]
    if row["lot"] == 0 and not plan["closed"]:  # the order was planned
        block = plan["block"] or ""
        within = row["place"] - (int(block) * STRIDE if block.isdigit() else 0)
        plan["place" if block else "order"] = within
    return plan


def iso(at: float) -> str:
    """A time as text.

    >>> iso(0.0)
    '1970-01-01T00:00:00.000+00:00'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _said(store: Store, kind: str, *, cant_tell: bool = False) -> list[dict[str, Any]]:
    """The answers that stand to one kind of task, beside their tasks and judges."""
    source = answers
    names = ("id", "kind", "at", "label", "choice", "strength", "reason", "comment", "surface", "seconds", "away")
    with store.database.read() as connection:
        rows = _rows(connection, source, names, store, kind)
        if cant_tell:
            gone = select(events.c.target_id).where(events.c.kind == "undo", events.c.target_id.is_not(None))
            rows += _rows(
                connection, events, names, store, kind, events.c.kind == "cant_tell", events.c.id.not_in(gone)
            )
            rows.sort(key=lambda row: int(row["id"]))
    return rows


def _rows(connection: Any, source: Any, names: tuple[str, ...], store: Store, kind: str, *more: Any) -> list[Any]:
    asked = ("query", "doc", "context", "subtopic", "a", "b", "trap", "expected", "gold", "text")
    drawn = ("probability", "round")
    found = connection.execute(
        select(
            *(source.c[name] for name in (*names, "more", "task_id")),
            source.c.a.label("shown_left"),
            source.c.b.label("shown_right"),
            *(tasks.c[name] for name in (*asked, *drawn)),
            judges.c.name.label("judge"),
            judges.c.grp.label("group"),
        )
        .join(tasks, tasks.c.id == source.c.task_id)
        .join(judges, judges.c.id == source.c.judge_id)
        .where(source.c.study_id == store.study_id, tasks.c.kind == kind, *more)
        .order_by(source.c.id)
    )
    return [dict(row) for row in found.mappings()]


def _base(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "query": row["query"],
        "subtopic": row["subtopic"],
        "judge": row["judge"],
        "group": row["group"],
        "time": iso(row["at"]),
        "seconds": row["seconds"],
        "away": row["away"],
        "probability": row["probability"],
        "task": row["task_id"],
    }
