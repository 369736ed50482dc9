"""Rejection: what a judge said is taken back, row by row in the log, and the slots are open again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select, update

from karat.store.log import lock_task, log, recount
from karat.store.people import free_held, lock_any
from karat.store.prepared import Prepared
from karat.store.store import Store, transaction
from karat.store.tables import answers, exclusions, judges, reservations, tasks

_STAND = (
    select(answers.c.id, answers.c.task_id)
    .join(tasks, tasks.c.id == answers.c.task_id)
    .where(answers.c.judge_id == bindparam("judge"), answers.c.study_id == bindparam("study"))
    .order_by(answers.c.task_id)
)
_ALL, _OF_KIND = Prepared(_STAND), Prepared(_STAND.where(tasks.c.kind == bindparam("which")))
_REJECT = Prepared(
    update(reservations)
    .where(reservations.c.judge_id == bindparam("judge"), reservations.c.task_id == bindparam("task"))
    .values(state=None, changed=None)
)
_EXCLUDE = Prepared.new_row(exclusions)
_OUT = Prepared(
    select(exclusions.c.id).where(exclusions.c.judge_id == bindparam("judge"), exclusions.c.kind == bindparam("which"))
)


@transaction
def reject_judge(store: Store, judge_id: int, why: str) -> None:
    """Reject all that a judge said; the slots are open again.

    Of two leads who do it at once, the first one's reason stands.
    """
    judge = lock_any(store, judge_id)
    if judge["state"] != "rejected" or store.rows(_ALL, judge=judge_id, study=store.study_id):
        reject(store, judge, why)


def reject(store: Store, judge: dict[str, Any], why: str, *, kind: str | None = None) -> None:
    """Take back a judge's answers (to one kind of task), and give them no more tasks of any kind."""
    _take_back(store, judge, why, kind)
    store.change(update(judges).where(judges.c.id == judge["id"]).values(state="rejected", why=why))
    log(store, "rejected", judge_id=judge["id"], more={"why": why})
    free_held(store, judge["id"])


def exclude(store: Store, judge: dict[str, Any], why: str, kind: str) -> None:
    """Take back a judge's answers to one kind of task, and give them no more of these; they go on with the others."""
    _take_back(store, judge, why, kind)
    mine = {"study_id": store.study_id, "judge_id": judge["id"], "kind": kind}
    if not store.rows(_OUT, judge=judge["id"], which=kind):
        store.add(_EXCLUDE, mine | {"made": store.clock()})
    log(store, "excluded", judge_id=judge["id"], more={"why": why, "kind": kind})
    free_held(store, judge["id"], kind=kind)


def is_excluded(store: Store, judge_id: int, kind: str) -> bool:
    """Whether a judge is given no more tasks of a kind."""
    return bool(store.rows(_OUT, judge=judge_id, which=kind))


def _take_back(store: Store, judge: dict[str, Any], why: str, kind: str | None) -> None:
    """Take back a judge's answers (to one kind of task) one by one in the log, and open their slots."""
    stand = _ALL if kind is None else _OF_KIND
    for row in store.rows(stand, judge=judge["id"], study=store.study_id, which=kind):
        lock_task(store, row["task_id"])
        log(store, "reject", judge_id=judge["id"], task_id=row["task_id"], target_id=row["id"], more={"why": why})
        mine = {"judge": judge["id"], "task": row["task_id"]}
        store.change(_REJECT, mine | {"state": "rejected", "changed": store.clock()})
        recount(store, row["task_id"])
