"""What was collected, as tables: the answers to each kind of task, the tasks, and the whole log."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, func, select

from karat.study.database import Prepared
from karat.study.kinds import JUDGE, KINDS, TaskKind
from karat.study.kinds.kind import OPENED, typed
from karat.study.progress import iso
from karat.study.sampling_probabilities import Draw
from karat.study.store import Store
from karat.study.tables import ENDLESS, answers, bundles, events, judges, tasks
from karat.study.task_candidates import GRADING
from karat.study.tasks import ELSEWHERE, TASKS, place_of_block


def answers_frame(store: Store, kind: TaskKind, *, before: int | None = None) -> pl.DataFrame:
    """What was said to one kind of task and stands, as its table, in the order in which it was said.

    With `before`, the number of an event, what stood just before it.
    """
    rows = [(row, part) for row in _said(store, kind, before) for part in kind.table.rows(row)]
    said: dict[str, Any] = {}
    said |= {name: [part[name] if name in part else row.get(name) for row, part in rows] for name in kind.table.columns}
    said |= {"time": _times([row["at"] for row, _ in rows])} if "time" in said else {}
    return pl.DataFrame(said, schema=dict(kind.table.columns))


def _times(moments: list[float]) -> pl.Series:
    """Times as text, as `iso` writes them, all at once.

    >>> _times([0.0, 1.0015]).to_list() == [iso(0.0), iso(1.0015)]
    True
    """
    exact = (pl.Series(moments, dtype=pl.Float64) * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    return exact.dt.strftime("%Y-%m-%dT%H:%M:%S%.3f+00:00")


def judgments(store: Store, *, before: int | None = None) -> pl.DataFrame:
    """The labels that stand, with a row for each graded aspect; somebody who could not tell has a row without label.

    With `before`, the number of an event, those that stood just before it.
    """
    return answers_frame(store, JUDGE, before=before)


def document_seconds(store: Store, *, before: int | None = None) -> pl.DataFrame:
    """Judge, group and time at work of each answer about a single document that stands, or stood before an event."""
    names = ("judge", "group", "seconds")
    with store.database.read() as connection:
        rows = [
            {name: row[name] for name in names}
            for kind in KINDS.values()
            if "doc" in kind.needs
            for row in _standing(connection, store, kind, before)
            if row["seconds"] is not None
        ]
    return pl.DataFrame(rows, schema=typed(*names))


def last_rejections(store: Store) -> dict[tuple[int, str], tuple[int, float]]:
    """For each judge and kind of task the event with which answers were last taken back by rejection, and its time."""
    kinds = ("reject", "rejected", "excluded")
    found = (
        select(events.c.id, events.c.at, events.c.kind, events.c.judge_id, tasks.c.kind.label("task_kind"))
        .outerjoin(tasks, tasks.c.id == events.c.task_id)
        .where(events.c.study_id == store.study_id, events.c.kind.in_(kinds))
        .order_by(events.c.id)
    )
    last: dict[tuple[int, str], tuple[int, float]] = {}
    begun: dict[int, dict[str, tuple[int, float]]] = {}
    for row in store.rows(found):
        mine = begun.setdefault(row["judge_id"], {})
        if row["kind"] == "reject":  # one for each answer, and after all of them one for the judge
            mine.setdefault(row["task_kind"], (row["id"], row["at"]))
        else:
            last |= {(row["judge_id"], kind): first for kind, first in begun.pop(row["judge_id"]).items()}
    return last


def waiting(store: Store) -> pl.DataFrame:
    """The documents by themselves that a plan drew and nobody has labelled yet, as judgments without label."""
    names = ("query", "doc", "context", "subtopic", *Draw._fields)
    found = select(*(tasks.c[name] for name in names), tasks.c.grp.label("group")).where(*_drawn(store))
    found = found.group_by(*(tasks.c[name] for name in (*names, "grp"))).having(func.max(tasks.c.filled) == 0)
    return pl.DataFrame(store.rows(found.order_by(func.min(tasks.c.id))), schema=typed(*names, "group"))


def drawn_any(store: Store) -> bool:
    """Whether a plan drew documents of the study."""
    return store.first(select(tasks.c.id).where(*_drawn(store)).limit(1)) is not None


def _drawn(store: Store) -> tuple[ColumnElement[bool], ...]:
    alone = (tasks.c.context.is_(None), tasks.c.subtopic.is_(None), ~tasks.c.practice)
    return (tasks.c.study_id == store.study_id, GRADING, *alone, tasks.c.probability.is_not(None))


def known_grades(store: Store) -> pl.DataFrame:
    """The documents whose grade is known."""
    names = ("query", "doc", "context", "subtopic")
    mine = (tasks.c.study_id == store.study_id, tasks.c.gold.is_not(None), GRADING, ~tasks.c.practice)
    found = select(*(tasks.c[name] for name in names), tasks.c.gold.label("label")).where(*mine).distinct()
    return pl.DataFrame(store.rows(found), schema=typed(*names, "label")).unique(names, maintain_order=True)


def rejected(store: Store, kind: TaskKind) -> int:
    """How many judges had answers to tasks of a kind taken back because they were rejected."""
    taken = (
        select(func.count(events.c.judge_id.distinct()))
        .join(tasks, tasks.c.id == events.c.task_id)
        .where(events.c.study_id == store.study_id, events.c.kind == "reject", tasks.c.kind == kind.name)
    )
    return int(store.value(taken))


def events_frame(store: Store) -> pl.DataFrame:
    """The whole log, one row for each event, nothing left out."""
    found = (
        select(events, judges.c.name.label("judge"))
        .outerjoin(judges, judges.c.id == events.c.judge_id)
        .where(events.c.study_id == store.study_id)
        .order_by(events.c.id)
    )
    texts = ("kind", "judge", "choice", "left", "right", "reason", "comment", "more", "key", "time")
    schema = typed("event", "task", "takes_back", "opened", *texts, "label", "strength", "seconds", "away")
    named = {"id": "event", "task_id": "task", "target_id": "takes_back", "a": "left", "b": "right"}
    ready = [
        {named.get(name, name): value for name, value in row.items()}
        | {"time": iso(row["at"]), "opened": OPENED.get(row["surface"])}
        for row in store.rows(found)
    ]
    return pl.DataFrame([{name: row[name] for name in schema} for row in ready], schema=schema)


def tasks_frame(store: Store) -> pl.DataFrame:
    """The tasks as they stand, in the columns that task files have, with labels wanted and there."""
    kept = [name for name in TASKS.values() if name is not None]
    more = [tasks.c[name] for name in ("text", "base", "place", "lot")]
    mine = select(*(tasks.c[name] for name in kept), *more, bundles.c.name.label("bundle"))
    mine = mine.outerjoin(bundles, bundles.c.id == tasks.c.bundle_id).where(tasks.c.study_id == store.study_id)
    return pl.DataFrame([_planned(row) for row in store.rows(mine.order_by(tasks.c.id))], schema=typed(*TASKS))


def _planned(row: dict[str, Any]) -> dict[str, Any]:
    """A task in the words of a plan, so that the same comes of it when it is loaded again."""
    plan: dict[str, Any] = {name: None if column is None else row[column] for name, column in TASKS.items()}
    plan[KINDS[row["kind"]].text] = row["text"]
    for what in ("judge", "block"):
        start = f"{what}:{row['grp']}:"
        if (row["bundle"] or "").startswith(start):
            plan[what] = row["bundle"].removeprefix(start)
    plan["closed"] = row["place"] == ELSEWHERE
    plan["labels"] = None if row["base"] == ENDLESS else row["base"]
    if row["lot"] == 0 and not plan["closed"]:  # the order was planned
        plan["place" if plan["block"] else "order"] = row["place"] - place_of_block(plan["block"])
    return plan


def _said(store: Store, kind: TaskKind, before: int | None = None) -> list[dict[str, Any]]:
    """The answers that stand, or stood before an event, to one kind of task, beside their tasks and judges."""
    until = () if before is None else (events.c.id < before,)
    with store.database.read() as connection:
        rows = _standing(connection, store, kind, before)
        if kind.table.cant_tell:
            gone = select(events.c.target_id).where(events.c.kind == "undo", *until, events.c.target_id.is_not(None))
            silent = (events.c.kind == "cant_tell", *until, events.c.id.not_in(gone))
            rows += _rows(connection, events, store, kind, *silent)
            rows.sort(key=lambda row: int(row["id"]))
    return rows


def _standing(connection: Any, store: Store, kind: TaskKind, before: int | None) -> list[dict[str, Any]]:
    """The answers that stand, or stood before an event."""
    if before is None:
        return _rows(connection, answers, store, kind)
    until = events.c.id < before
    back = select(events.c.target_id).where(events.c.kind.in_(("undo", "reject")), until)
    back = back.where(events.c.study_id == store.study_id, events.c.target_id.is_not(None))
    return _rows(connection, events, store, kind, events.c.kind == "answer", until, events.c.id.not_in(back))


def _rows(connection: Any, source: Any, store: Store, kind: TaskKind, *more: Any) -> list[dict[str, Any]]:
    said = ("id", "kind", "at", "label", "choice", "strength", "reason", "comment", "surface", "seconds", "away")
    asked = ("query", "doc", "context", "subtopic", "a", "b", "trap", "expected", "gold", "text")
    drawn = (*Draw._fields, "repeat")
    found = Prepared(
        select(
            *(source.c[name] for name in (*said, "more")),
            source.c.task_id.label("task"),
            source.c.a.label("shown_left"),
            source.c.b.label("shown_right"),
            *(tasks.c[name] for name in (*asked, *drawn)),
            judges.c.name.label("judge"),
            judges.c.grp.label("group"),
        )
        .join(tasks, tasks.c.id == source.c.task_id)
        .join(judges, judges.c.id == source.c.judge_id)
        .where(source.c.study_id == store.study_id, tasks.c.kind == kind.name, *more)
        .order_by(source.c.id)
    )
    rows = found.rows(connection, {})
    for row in rows:
        row["more"] = json.loads(row["more"]) if row["more"] else {}
    return rows
