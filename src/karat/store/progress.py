"""How far: counts of tasks and labels, for a judge and for the study."""

from __future__ import annotations

from typing import Any

from sqlalchemy import case, func, select

from karat.store.candidates import open_for
from karat.store.store import Store
from karat.store.tables import answers, events, tasks


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
