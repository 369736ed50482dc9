"""Withdrawal: the lead asks for nothing more of some tasks; what was said to them stays."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select, update

from karat.store.log import lock_task, log, recount
from karat.store.store import Store, transaction
from karat.store.tables import tasks


@transaction
def withdraw(store: Store, task_ids: Sequence[int], why: str) -> int:
    """Ask for no more answers to these tasks than there are, and than are in work; returns how many were changed."""
    mine = select(tasks.c.id).where(tasks.c.study_id == store.study_id, tasks.c.id.in_(task_ids))
    changed = 0
    for row in store.rows(mine.where(tasks.c.wanted > tasks.c.filled).order_by(tasks.c.id)):
        task = lock_task(store, row["id"])
        kept = {"base": task["filled"] + task["held"], "apart": None}
        store.change(update(tasks).where(tasks.c.id == row["id"]).values(**kept))
        recount(store, row["id"])
        log(store, "withdrawn", task_id=row["id"], more={"why": why, "wanted": task["wanted"]})
        changed += 1
    return changed
