"""Rejection: what a judge said is taken back, row by row in the log, and the slots are open again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, update

from karat.store.log import lock_task, log, recount
from karat.store.people import free_held, lock_any
from karat.store.store import Store, transaction
from karat.store.tables import answers, judges, reservations, tasks


@transaction
def reject_judge(store: Store, judge_id: int, why: str) -> None:
    """Reject all that a judge said; the slots are open again."""
    reject(store, lock_any(store, judge_id), why)


def reject(store: Store, judge: dict[str, Any], why: str, *, kind: str | None = None) -> None:
    """Take back a judge's answers (to one kind of task) one by one in the log, and open their slots."""
    stand = (
        select(answers.c.id, answers.c.task_id)
        .join(tasks, tasks.c.id == answers.c.task_id)
        .where(answers.c.judge_id == judge["id"], answers.c.study_id == store.study_id)
    )
    if kind is not None:
        stand = stand.where(tasks.c.kind == kind)
    more = {"why": why}
    for row in store.rows(stand.order_by(answers.c.task_id)):
        lock_task(store, row["task_id"])
        log(store, "reject", judge_id=judge["id"], task_id=row["task_id"], target_id=row["id"], more=more)
        mine = (reservations.c.judge_id == judge["id"], reservations.c.task_id == row["task_id"])
        store.change(update(reservations).where(*mine).values(state="rejected", changed=store.clock()))
        recount(store, row["task_id"])
    store.change(update(judges).where(judges.c.id == judge["id"]).values(state="rejected", why=why))
    log(store, "rejected", judge_id=judge["id"], more=more)
    free_held(store, judge["id"])
