"""What a judge does with a task: answer, undo, can't tell, later, open the page; each is one transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from karat.store.kinds import KINDS
from karat.store.log import Answer, lock_task, log, recount
from karat.store.progress import PRACTISED
from karat.store.queue import lock_judge, own_bundle
from karat.store.rejecting import reject
from karat.store.store import Conflict, NotYours, Store
from karat.store.tables import events, judges, reservations, tasks

#: How far back a judge may take an answer back.
UNDOABLE = 10

_MINE = select(reservations).where(
    reservations.c.judge_id == bindparam("judge"),
    reservations.c.task_id == bindparam("task"),
    reservations.c.study_id == bindparam("study"),
)
_CHANGE = update(reservations).where(reservations.c.id == bindparam("number"))
_KEYED = select(events).where(events.c.judge_id == bindparam("judge"), events.c.key == bindparam("sent"))


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: its number in the log, and for practice whether it was right."""

    event_id: int
    feedback: dict[str, Any] | None = None
    rejected: bool = False


@dataclass(frozen=True)
class _Refused:
    """An answer that was logged but not counted, and why: the log is kept, so this is no exception."""

    why: str


def answer(store: Store, judge_id: int, task_id: int, said: Answer) -> Outcome:
    """Take an answer to a task that the judge was given; it is stored when this returns.

    The same key again returns the same event. An answer that comes when others have filled the slot is logged as
    late and not counted (`Conflict`).
    """

    def work(connection: Connection) -> Outcome | _Refused:
        known = _by_key(connection, judge_id, said.key, task_id, ("answer", "practice", "late"))
        if known is not None:
            return _again(connection, store, known)
        judge = lock_judge(connection, store, judge_id)
        task = lock_task(connection, task_id)
        mine = _reservation(connection, store, judge_id, task_id)
        _refuse_done(mine)
        if task["context"] is not None and not mine["opened"]:
            raise Conflict("read the first document before you judge the second")
        left, right = (task["b"], task["a"]) if mine["turned"] else (task["a"], task["b"])
        if task["practice"]:
            number = log(connection, store, "practice", judge_id=judge_id, task_id=task_id, answer=said)
            _set(connection, store, mine["id"], "answered")
            recount(connection, task_id)
            feedback = _feedback(connection, store, judge_id, task, {"label": said.label, "choice": said.choice})
            if feedback["passed"] is False:
                why = "the practice round did not go well enough; the lead decides whether you go on"
                connection.execute(update(judges).where(judges.c.id == judge_id).values(state="paused", why=why))
                log(connection, store, "paused", judge_id=judge_id, more={"why": "practice"})
            return Outcome(number, feedback)
        free = task["wanted"] - task["filled"] - (0 if mine["state"] == "held" else task["held"])
        if free <= 0:
            log(connection, store, "late", judge_id=judge_id, task_id=task_id, answer=said, left=left, right=right)
            if mine["state"] == "held":
                _set(connection, store, mine["id"], "expired")
                recount(connection, task_id)
            return _Refused("others have finished this task meanwhile; your answer is kept but not counted")
        number = log(
            connection, store, "answer", judge_id=judge_id, task_id=task_id, answer=said, left=left, right=right
        )
        _set(connection, store, mine["id"], "answered")
        recount(connection, task_id)
        failed = task["trap"] and said.choice != _expected(task, mine["turned"])
        if failed:
            log(connection, store, "trap_failed", judge_id=judge_id, task_id=task_id, target_id=number)
        if failed and _traps_failed(connection, judge_id) > store.rules.traps_failed:
            reject(connection, store, judge, "a control question was answered wrongly", kind=task["kind"])
            return Outcome(number, None, True)
        if task["bundle_id"] is not None and mine["state"] == "held":
            own_bundle(connection, store, judge_id, task["bundle_id"])
        return Outcome(number)

    done = store.database.write(work)
    if isinstance(done, _Refused):
        raise Conflict(done.why)
    return done


def undo(store: Store, judge_id: int, task_id: int, *, key: str | None = None) -> Outcome:
    """Take back the judge's answer (or can't tell) to a task, one of the last ten; the task is theirs again."""

    def work(connection: Connection) -> Outcome:
        known = _by_key(connection, judge_id, key, task_id, ("undo",))
        if known is not None:
            return Outcome(known["id"])
        lock_judge(connection, store, judge_id)
        task = lock_task(connection, task_id)
        mine = _reservation(connection, store, judge_id, task_id)
        if task["practice"]:
            raise Conflict("practice answers cannot be taken back")
        last = [row.id for row in connection.execute(_recent(store, judge_id, UNDOABLE))]
        kind = "answer" if mine["state"] == "answered" else "cant_tell"
        target = connection.execute(
            select(func.max(events.c.id)).where(
                events.c.judge_id == judge_id, events.c.task_id == task_id, events.c.kind == kind
            )
        ).scalar()
        if mine["state"] not in ("answered", "cant_tell") or target is None:
            raise Conflict("there is no answer of yours to take back")
        if target not in last:
            raise Conflict(f"only the last {UNDOABLE} answers can be taken back")
        if kind == "cant_tell" and task["filled"] + task["held"] >= task["wanted"]:
            raise Conflict("others have finished this task meanwhile")
        number = log(connection, store, "undo", judge_id=judge_id, task_id=task_id, target_id=target, key=key)
        _set(connection, store, mine["id"], "held", until=store.clock() + 60 * store.rules.reserve_minutes)
        recount(connection, task_id)
        return Outcome(number)

    return store.database.write(work)


def cant_tell(store: Store, judge_id: int, task_id: int, said: Answer) -> Outcome:
    """The judge cannot tell, with the reason; the slot stays for somebody else."""
    return _give_back(store, judge_id, task_id, "cant_tell", said)


def later(store: Store, judge_id: int, task_id: int, said: Answer | None = None) -> Outcome:
    """The judge puts the task off: it comes back when there is nothing else, unless others do it first."""
    return _give_back(store, judge_id, task_id, "later", said or Answer())


def opened(store: Store, judge_id: int, task_id: int, what: str) -> Outcome:
    """The judge opened the full page, the context, or the look-up panel."""

    def work(connection: Connection) -> Outcome:
        lock_judge(connection, store, judge_id)
        mine = _reservation(connection, store, judge_id, task_id)
        if what == "context":
            connection.execute(update(reservations).where(reservations.c.id == mine["id"]).values(opened=True))
        return Outcome(log(connection, store, "opened", judge_id=judge_id, task_id=task_id, more={"what": what}))

    return store.database.write(work)


def recent(store: Store, judge_id: int, many: int = UNDOABLE) -> list[dict[str, Any]]:
    """The judge's last answers that stand, newest first, with their tasks."""
    with store.database.read() as connection:
        rows = connection.execute(_recent(store, judge_id, many)).mappings().all()
        return [dict(row) | {"more": json.loads(row["more"] or "{}")} for row in rows]


def _give_back(store: Store, judge_id: int, task_id: int, kind: str, said: Answer) -> Outcome:
    def work(connection: Connection) -> Outcome:
        known = _by_key(connection, judge_id, said.key, task_id, (kind,))
        if known is not None:
            return Outcome(known["id"])
        lock_judge(connection, store, judge_id)
        task = lock_task(connection, task_id)
        mine = _reservation(connection, store, judge_id, task_id)
        _refuse_done(mine)
        if task["practice"]:
            raise Conflict("practice tasks are answered, right or wrong")
        if task["trap"] and kind == "cant_tell":
            raise Conflict("choose one of the answers, none relevant among them")
        number = log(connection, store, kind, judge_id=judge_id, task_id=task_id, answer=said)
        _set(connection, store, mine["id"], kind)
        recount(connection, task_id)
        return Outcome(number)

    return store.database.write(work)


def _recent(store: Store, judge_id: int, many: int) -> Any:
    gone = select(events.c.target_id).where(
        events.c.judge_id == judge_id, events.c.kind.in_(("undo", "reject")), events.c.target_id.is_not(None)
    )
    names = ("kind", "query", "doc", "context", "subtopic")
    return (
        select(events, *(tasks.c[name].label(f"task_{name}") for name in names))
        .join(tasks, tasks.c.id == events.c.task_id)
        .where(
            events.c.study_id == store.study_id,
            events.c.judge_id == judge_id,
            events.c.kind.in_(("answer", "cant_tell")),
            events.c.id.not_in(gone),
        )
        .order_by(events.c.id.desc())
        .limit(many)
    )


def _reservation(connection: Connection, store: Store, judge_id: int, task_id: int) -> dict[str, Any]:
    names = {"judge": judge_id, "task": task_id, "study": store.study_id}
    found = connection.execute(_MINE, names).mappings().first()
    if found is None:
        raise NotYours("there is no such task for you")
    return dict(found)


def _refuse_done(mine: dict[str, Any]) -> None:
    if mine["state"] == "answered":
        raise Conflict("you have answered this task; take the answer back first to change it")
    if mine["state"] in ("cant_tell", "rejected"):
        raise Conflict("this task is closed for you")


def _set(connection: Connection, store: Store, number: int, state: str, *, until: float | None = None) -> None:
    values: dict[str, Any] = {"state": state, "changed": store.clock()}
    if until is not None:
        values["until"] = until
    connection.execute(_CHANGE, values | {"number": number})


def _by_key(
    connection: Connection, judge_id: int, key: str | None, task_id: int, kinds: tuple[str, ...]
) -> dict[str, Any] | None:
    """The event that was stored under this key before."""
    if key is None:
        return None
    found = connection.execute(_KEYED, {"judge": judge_id, "sent": key}).mappings().first()
    if found is None:
        return None
    if found["task_id"] != task_id or found["kind"] not in kinds:
        raise Conflict("this key was used for something else")
    return dict(found)


def _again(connection: Connection, store: Store, known: dict[str, Any]) -> Outcome | _Refused:
    """What was said the first time, to somebody whose connection was lost before they heard it."""
    if known["kind"] == "late":
        return _Refused("others have finished this task meanwhile; your answer is kept but not counted")
    if known["kind"] == "practice":
        task = lock_task(connection, known["task_id"])
        said = _feedback(connection, store, known["judge_id"], task, known)
        return Outcome(known["id"], said)
    taken_back = select(events.c.id).where(events.c.target_id == known["id"], events.c.kind == "reject")
    return Outcome(known["id"], None, connection.execute(taken_back).first() is not None)


def _expected(task: dict[str, Any], turned: bool) -> str:
    return {"left": "right", "right": "left"}[task["expected"]] if turned else str(task["expected"])


def _traps_failed(connection: Connection, judge_id: int) -> int:
    many = select(func.count()).where(events.c.judge_id == judge_id, events.c.kind == "trap_failed")
    return int(connection.execute(many).scalar_one())


def _feedback(
    connection: Connection, store: Store, judge_id: int, task: dict[str, Any], said: dict[str, Any]
) -> dict[str, Any]:
    """Whether a practice answer was right, and after all of them whether the share of right ones is enough."""
    rows = connection.execute(PRACTISED.where(events.c.judge_id == judge_id)).mappings().all()
    correct = sum(KINDS[row["kind"]].is_right(row, row) for row in rows)
    group = select(judges.c.grp).where(judges.c.id == judge_id).scalar_subquery()
    every = connection.execute(
        select(func.count()).where(tasks.c.study_id == store.study_id, tasks.c.practice, tasks.c.grp == group)
    ).scalar_one()
    return {
        "right": KINDS[task["kind"]].is_right(said, task),
        "gold": task["gold"],
        "expected": task["expected"],
        "note": task["note"],
        "done": len(rows),
        "of": every,
        "correct": correct,
        "passed": correct / len(rows) >= store.rules.practice_pass if len(rows) >= every else None,
    }
