"""Rejection: what a judge said is taken back, row by row in the log, and the slots are open again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from karat.store.log import lock_task, log, recount
from karat.store.people import free_held
from karat.store.store import NotYours, Store
from karat.store.tables import answers, judges, reservations, tasks


def reject_judge(store: Store, judge_id: int, why: str) -> None:
    """Reject all that a judge said; the slots are open again."""

    def work(connection: Connection) -> None:
        found = select(judges).where(judges.c.id == judge_id, judges.c.study_id == store.study_id).with_for_update()
        judge = connection.execute(found).mappings().first()
        if judge is None:
            raise NotYours("there is no such judge")
        reject(connection, store, dict(judge), why)

    store.database.write(work)


def reject(connection: Connection, store: Store, judge: dict[str, Any], why: str, *, kind: str | None = None) -> None:
    """Take back a judge's answers (to one kind of task) one by one in the log, and open their slots."""
    stand = (
        select(answers.c.id, answers.c.task_id)
        .join(tasks, tasks.c.id == answers.c.task_id)
        .where(answers.c.judge_id == judge["id"], answers.c.study_id == store.study_id)
    )
    if kind is not None:
        stand = stand.where(tasks.c.kind == kind)
    for row in connection.execute(stand.order_by(answers.c.task_id)).all():
        lock_task(connection, row.task_id)
        log(connection, store, "reject", judge_id=judge["id"], task_id=row.task_id, target_id=row.id, more={"why": why})
        change = update(reservations).where(
            reservations.c.judge_id == judge["id"], reservations.c.task_id == row.task_id
        )
        connection.execute(change.values(state="rejected", changed=store.clock()))
        recount(connection, row.task_id)
    connection.execute(update(judges).where(judges.c.id == judge["id"]).values(state="rejected", why=why))
    log(connection, store, "rejected", judge_id=judge["id"], more={"why": why})
    free_held(connection, store, judge["id"])
