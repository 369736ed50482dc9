"""What a judge does with a task: answer, undo, can't tell, later, open the page; each is one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, select, update

from karat.study.database import Prepared
from karat.study.event_log import Answer, lock_task, log, recount
from karat.study.kinds import KINDS
from karat.study.people import free_bundles, free_held, lock_any
from karat.study.progress import FAILED_TRAPS, PRACTISED
from karat.study.queue import lock_judge, own_bundle, refuse_closed
from karat.study.queue_queries import ANSWERED
from karat.study.store import PLATFORMS, Closed, Conflict, NotYours, Store, transaction
from karat.study.tables import answers, events, exclusions, judges, reservations, tasks

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


#: How far back a judge may take an answer back.
UNDOABLE = 10
#: Why answers are taken back when a trap was failed.
TRAP_FAILED = "a control question was answered wrongly"

_MINE = Prepared(
    select(reservations).where(
        reservations.c.judge_id == bindparam("judge"),
        reservations.c.task_id == bindparam("task"),
        reservations.c.study_id == bindparam("study"),
    )
)
_CHANGE = update(reservations).where(reservations.c.id == bindparam("number"))
_SET = Prepared(_CHANGE.values(state=None, changed=None))
_SET_UNTIL = Prepared(_CHANGE.values(state=None, changed=None, until=None))
_OPENED = Prepared(_CHANGE.values(opened=True))
_LATE = "others have finished this task meanwhile; your answer is kept but not counted"
#: The last answers of a judge that stand, newest first, with their tasks.
_GONE = select(events.c.target_id).where(
    events.c.judge_id == bindparam("judge"),
    events.c.kind.in_(("undo", "reject")),
    events.c.target_id.is_not(None),
)
_RECENT = Prepared(
    select(
        events,
        *(tasks.c[name].label(f"task_{name}") for name in ("kind", "query", "doc", "context", "subtopic")),
        reservations.c.id.label("given"),
    )
    .join(tasks, tasks.c.id == events.c.task_id)
    .join(reservations, (reservations.c.judge_id == events.c.judge_id) & (reservations.c.item == tasks.c.item))
    .where(
        events.c.study_id == bindparam("study"),
        events.c.judge_id == bindparam("judge"),
        events.c.kind.in_(("answer", "cant_tell")),
        events.c.id.not_in(_GONE),
    )
    .order_by(events.c.id.desc())
    .limit(UNDOABLE)
)
_LAST = Prepared(
    select(func.max(events.c.id)).where(
        events.c.judge_id == bindparam("judge"),
        events.c.task_id == bindparam("task"),
        events.c.kind == bindparam("which"),
    )
)
_FAILED = Prepared(
    select(func.count()).select_from(FAILED_TRAPS.where(events.c.judge_id == bindparam("judge")).subquery())
)
_PRACTISED = Prepared(PRACTISED.where(events.c.judge_id == bindparam("judge")))
_TO_PRACTISE = Prepared(
    select(func.count()).where(
        tasks.c.study_id == bindparam("study"),
        tasks.c.practice,
        tasks.c.grp == select(judges.c.grp).where(judges.c.id == bindparam("judge")).scalar_subquery(),
    )
)
_KEYED = Prepared(select(events).where(events.c.judge_id == bindparam("judge"), events.c.key == bindparam("sent")))


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: its number in the log, and for practice whether it was right."""

    event_id: int
    feedback: dict[str, Any] | None = None
    rejected: bool = False


def answer(store: Store, judge_id: int, task_id: int, said: Answer) -> Outcome:
    """Take an answer to a task that the judge was given; it is stored when this returns.

    The same key again returns the same event. An answer that comes when others have filled the slot is logged as
    late and not counted (`Conflict`).
    """
    done = _answer(store, judge_id, task_id, said)
    if done is None:  # no exception before: the log is kept
        raise Conflict(_LATE)
    return done


@transaction
def _answer(store: Store, judge_id: int, task_id: int, said: Answer) -> Outcome | None:
    """What became of an answer; None if it was logged but not counted."""
    judge = lock_any(store, judge_id)  # first: the same answer may be on its way twice
    known = _by_key(store, judge_id, said.key, task_id, ("answer", "practice", "late"))
    if known is not None:
        return _again(store, known)
    refuse_closed(judge)
    task = lock_task(store, task_id)
    if KINDS[task["kind"]].sides and is_excluded(store, judge_id, task["kind"]):
        raise Closed(f"you are given no more tasks of this kind: {TRAP_FAILED}")
    mine = _reservation(store, judge_id, task_id)
    _refuse_done(mine)
    if task["context"] is not None and not mine["opened"]:
        raise Conflict("read the first document before you judge the second")
    left, right = (task["b"], task["a"]) if mine["turned"] else (task["a"], task["b"])
    if task["practice"]:
        number = log(store, "practice", judge_id=judge_id, task_id=task_id, answer=said)
        _set(store, mine, "answered")
        feedback = _feedback(store, judge_id, task, {"label": said.label, "choice": said.choice})
        if feedback["passed"] is False:
            why = "the practice round did not go well enough; the lead decides whether you go on"
            store.change(update(judges).where(judges.c.id == judge_id).values(state="paused", why=why))
            log(store, "paused", judge_id=judge_id, more={"why": "practice"})
            free_held(store, judge_id)
        return Outcome(number, feedback)
    late = task["wanted"] - task["filled"] - (0 if mine["state"] == "held" else task["held"]) <= 0
    kind = "late" if late else "answer"
    number = log(store, kind, judge_id=judge_id, task_id=task_id, answer=said, left=left, right=right)
    if late:
        if mine["state"] == "held":
            _set(store, mine, "expired")
        return None
    _set(store, mine, "answered")
    # Failed traps are counted after every choice, and no event is added: neither time nor numbers tell a trap.
    failed = store.value(_FAILED, judge=judge_id) if KINDS[task["kind"]].sides else 0
    if task["trap"] and said.choice != _expected(task, mine["turned"]) and failed > store.rules.traps_failed:
        invited = store.rules.invited_failing if judge["source"] not in PLATFORMS else "reject"
        if invited == "exclude":
            exclude(store, judge, TRAP_FAILED, task["kind"])
        elif invited == "reject":
            reject(store, judge, TRAP_FAILED, kind=task["kind"])
        if invited != "flag":
            return Outcome(number, None, True)
    if task["bundle_id"] is not None and mine["state"] == "held":
        own_bundle(store, judge_id, task["bundle_id"])
    most = store.rules.most_per_judge
    if most and store.value(ANSWERED, judge=judge_id, study=store.study_id) >= most:
        free_bundles(store, judge_id)  # others go on with what this judge began
    return Outcome(number)


@transaction
def undo(store: Store, judge_id: int, task_id: int, *, key: str | None = None) -> Outcome:
    """Take back the judge's answer (or can't tell) to a task, one of the last ten; the task is theirs again."""
    judge = lock_any(store, judge_id)
    known = _by_key(store, judge_id, key, task_id, ("undo",))
    if known is not None:
        return Outcome(known["id"])
    refuse_closed(judge)
    task = lock_task(store, task_id)
    mine = _reservation(store, judge_id, task_id)
    if task["practice"]:
        raise Conflict("practice answers cannot be taken back")
    kind = "answer" if mine["state"] == "answered" else "cant_tell"
    target = store.value(_LAST, judge=judge_id, task=task_id, which=kind)
    if mine["state"] not in ("answered", "cant_tell") or target is None:
        raise Conflict("there is no answer of yours to take back")
    if target not in [row["id"] for row in _recent(store, judge_id)]:
        raise Conflict(f"only the last {UNDOABLE} answers can be taken back")
    if kind == "cant_tell" and task["filled"] + task["held"] >= task["wanted"]:
        raise Conflict("others have finished this task meanwhile")
    number = log(store, "undo", judge_id=judge_id, task_id=task_id, target_id=target, key=key)
    _set(store, mine, "held", until=store.kept_until())
    return Outcome(number)


def cant_tell(store: Store, judge_id: int, task_id: int, said: Answer) -> Outcome:
    """The judge cannot tell, with the reason; the slot stays for somebody else."""
    return _give_back(store, judge_id, task_id, "cant_tell", said)


def later(store: Store, judge_id: int, task_id: int, said: Answer | None = None) -> Outcome:
    """The judge puts the task off: it comes back when there is nothing else, unless others do it first."""
    return _give_back(store, judge_id, task_id, "later", said or Answer())


@transaction
def opened(store: Store, judge_id: int, task_id: int, what: str) -> Outcome:
    """The judge opened the full page, the context, or the look-up panel."""
    lock_judge(store, judge_id)
    mine = _reservation(store, judge_id, task_id)
    if what == "context":
        store.change(_OPENED, {"number": mine["id"]})
    return Outcome(log(store, "opened", judge_id=judge_id, task_id=task_id, more={"what": what}))


def recent(store: Store, judge_id: int) -> list[dict[str, Any]]:
    """The judge's last answers that stand, newest first, with their tasks."""
    return [row | {"more": json.loads(row["more"] or "{}")} for row in _recent(store, judge_id)]


def _recent(store: Store, judge_id: int) -> list[dict[str, Any]]:
    return store.rows(_RECENT, judge=judge_id, study=store.study_id)


@transaction
def _give_back(store: Store, judge_id: int, task_id: int, kind: str, said: Answer) -> Outcome:
    judge = lock_any(store, judge_id)
    known = _by_key(store, judge_id, said.key, task_id, (kind,))
    if known is not None:
        return Outcome(known["id"])
    refuse_closed(judge)
    task = lock_task(store, task_id)
    mine = _reservation(store, judge_id, task_id)
    _refuse_done(mine)
    if task["practice"]:
        raise Conflict("practice tasks are answered, right or wrong")
    number = log(store, kind, judge_id=judge_id, task_id=task_id, answer=said)
    _set(store, mine, kind)
    return Outcome(number)


def _reservation(store: Store, judge_id: int, task_id: int) -> dict[str, Any]:
    found = store.first(_MINE, judge=judge_id, task=task_id, study=store.study_id)
    if found is None:
        raise NotYours("there is no such task for you")
    return found


def _refuse_done(mine: dict[str, Any]) -> None:
    if mine["state"] == "answered":
        raise Conflict("you have answered this task; take the answer back first to change it")
    if mine["state"] in ("cant_tell", "rejected"):
        raise Conflict("this task is closed for you")


def _set(store: Store, mine: dict[str, Any], state: str, *, until: float | None = None) -> None:
    """Put a reservation into a state, and count its task anew."""
    values = {"number": mine["id"], "state": state, "changed": store.clock(), "until": until}
    store.change(_SET if until is None else _SET_UNTIL, values)
    recount(store, mine["task_id"])


def _by_key(
    store: Store, judge_id: int, key: str | None, task_id: int, kinds: tuple[str, ...]
) -> dict[str, Any] | None:
    """The event that was stored under this key before."""
    found = None if key is None else store.first(_KEYED, judge=judge_id, sent=key)
    if found is not None and (found["task_id"] != task_id or found["kind"] not in kinds):
        raise Conflict("this key was used for something else")
    return found


def _again(store: Store, known: dict[str, Any]) -> Outcome | None:
    """What was said the first time, to somebody whose connection was lost before they heard it."""
    if known["kind"] == "late":
        return None
    if known["kind"] == "practice":
        task = lock_task(store, known["task_id"])
        return Outcome(known["id"], _feedback(store, known["judge_id"], task, known))
    taken_back = select(events.c.id).where(events.c.target_id == known["id"], events.c.kind == "reject")
    return Outcome(known["id"], None, store.first(taken_back) is not None)


def _expected(task: dict[str, Any], turned: bool) -> str:
    return {"left": "right", "right": "left"}[task["expected"]] if turned else str(task["expected"])


def _feedback(store: Store, judge_id: int, task: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Whether a practice answer was right, and after all of them whether the share of right ones is enough."""
    rows = store.rows(_PRACTISED, judge=judge_id)
    correct = sum(KINDS[row["kind"]].is_right(row, row) for row in rows)
    every = store.value(_TO_PRACTISE, judge=judge_id, study=store.study_id)
    return {
        "right": KINDS[task["kind"]].is_right(said, task),
        **{name: task[name] for name in ("gold", "expected", "note")},
        "done": len(rows),
        "of": every,
        "correct": correct,
        "passed": correct / len(rows) >= store.rules.practice_pass if len(rows) >= every else None,
    }


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
