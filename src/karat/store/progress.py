"""How far: counts of tasks and answers, for a judge and for the study, and when the answers came."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import case, func, select

from karat.store.candidates import open_for
from karat.store.kinds import KINDS
from karat.store.store import Store
from karat.store.tables import answers, events, tasks

#: What was said to practice tasks, beside the right answers.
PRACTISED = (
    select(events.c.judge_id, events.c.label, events.c.choice, tasks.c.gold, tasks.c.expected, tasks.c.kind)
    .join(tasks, tasks.c.id == events.c.task_id)
    .where(events.c.kind == "practice")
)


def judge_progress(store: Store, judge: dict[str, Any]) -> dict[str, Any]:
    """How many tasks a judge has answered, how many may still come to them, and how practice stands."""
    with store.database.read() as connection:
        answered = connection.execute(select(func.count()).where(answers.c.judge_id == judge["id"])).scalar_one()
        mine = (tasks.c.study_id == store.study_id, tasks.c.grp == judge["grp"])
        names = {"study": store.study_id, "judge": judge["id"], "grp": judge["grp"], "now": store.clock()}
        left = connection.execute(open_for(), names)
        practised = connection.execute(
            select(func.count()).where(events.c.judge_id == judge["id"], events.c.kind == "practice")
        ).scalar_one()
        practice = connection.execute(select(func.count()).where(*mine, tasks.c.practice)).scalar_one()
        return {
            "answered": answered,
            "open": left.scalar_one(),
            "practised": practised,
            "practice": practice,
            "limit": store.rules.most_per_judge or None,
        }


def progress(store: Store) -> list[dict[str, Any]]:
    """For each group and kind of task: tasks, labels wanted now, labels there, tasks that have all of theirs."""
    full = func.sum(case((tasks.c.filled >= tasks.c.wanted, 1), else_=0))
    with store.database.read() as connection:
        rows = connection.execute(
            select(
                tasks.c.grp.label("group"),
                tasks.c.kind,
                func.count().label("tasks"),
                func.sum(tasks.c.wanted).label("wanted"),
                func.sum(tasks.c.filled).label("filled"),
                func.sum(tasks.c.held).label("held"),
                full.label("finished"),
            )
            .where(tasks.c.study_id == store.study_id, ~tasks.c.practice, ~tasks.c.trap)
            .group_by(tasks.c.grp, tasks.c.kind)
            .order_by(tasks.c.grp, tasks.c.kind)
        )
        return [{name: int(v) if isinstance(v, int) else v for name, v in row.items()} for row in rows.mappings()]


def judge_counts(store: Store) -> dict[str, Counter[int]]:
    """For each judge, by number: answers that stand, practice and right practice, traps met and failed."""
    mine = events.c.study_id == store.study_id
    # Traps count also where the answers were rejected since.
    traps = select(events.c.judge_id, func.count(events.c.task_id.distinct()))
    traps = traps.join(tasks, tasks.c.id == events.c.task_id).where(mine, events.c.kind == "answer", tasks.c.trap)
    failed = select(events.c.judge_id, func.count()).where(mine, events.c.kind == "trap_failed")
    said = select(answers.c.judge_id, func.count()).where(answers.c.study_id == store.study_id)
    with store.database.read() as connection:
        practised = connection.execute(PRACTISED.where(mine)).mappings().all()
        counts = {
            name: Counter({row[0]: int(row[1]) for row in connection.execute(many.group_by(many.selected_columns[0]))})
            for name, many in (("answers", said), ("traps", traps), ("traps_failed", failed))
        }
    right = [row["judge_id"] for row in practised if KINDS[row["kind"]].is_right(row, row)]
    return counts | {"practice": Counter(row["judge_id"] for row in practised), "practice_right": Counter(right)}


def answer_times(store: Store) -> list[float]:
    """When the answers that count came in; traps are not among those wanted, so their answers are left out."""
    mine = (
        select(answers.c.at)
        .join(tasks, tasks.c.id == answers.c.task_id)
        .where(answers.c.study_id == store.study_id, ~tasks.c.trap, ~tasks.c.practice)
        .order_by(answers.c.at)
    )
    with store.database.read() as connection:
        return [row.at for row in connection.execute(mine)]


def further_labels(store: Store) -> float:
    """How many third labels are still to be expected: tasks not yet labelled twice, by the share that differed."""
    adaptive = (tasks.c.study_id == store.study_id, tasks.c.apart.is_not(None), ~tasks.c.practice, ~tasks.c.trap)
    judged = case((tasks.c.filled >= tasks.c.base, 1), else_=0)
    more = case((tasks.c.wanted > tasks.c.base, 1), else_=0)
    counts = select(func.count(), func.sum(judged), func.sum(more)).where(*adaptive)
    with store.database.read() as connection:
        number, full, split = (int(n or 0) for n in connection.execute(counts).one())
    return (number - full) * split / full if full else 0.0


def open_tasks(store: Store) -> list[dict[str, Any]] | None:
    """The tasks with a free slot; None where the study has no tasks at all."""
    mine = tasks.c.study_id == store.study_id
    with store.database.read() as connection:
        if connection.execute(select(tasks.c.id).where(mine).limit(1)).first() is None:
            return None
        return [dict(row) for row in connection.execute(select(tasks).where(mine, tasks.c.open)).mappings()]


def last_event(store: Store) -> int:
    """The number of the last event in the log; 0 before the first."""
    with store.database.read() as connection:
        last = select(func.max(events.c.id)).where(events.c.study_id == store.study_id)
        return int(connection.execute(last).scalar() or 0)
