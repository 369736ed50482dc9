"""The queue: which task a judge gets next, kept for them for a while; never more labels than asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, insert, literal, or_, select, update
from sqlalchemy.sql import false

from karat.store.database import LostRace
from karat.store.log import settle
from karat.store.store import Closed, NotYours, Store
from karat.store.tables import answers, bundles, judges, reservations, tasks

#: A prime beside the lots: (task's lot x judge's lot) mod it orders a query's tasks differently for each judge.
PRIME = 30_011
#: The task in work, one taken back, and the one fetched ahead.
MOST_HELD = 3
#: States in which a judge may be given the same question again.
AGAIN = ("expired", "released")


@dataclass(frozen=True)
class Turn:
    """What a judge gets: a task that is kept for them, or none and why (done, wait with the time, limit)."""

    state: str
    task: dict[str, Any] | None = None
    wait_until: float | None = None


def next_task(store: Store, judge_id: int, *, besides: Sequence[int] = ()) -> Turn:
    """The judge's next task: the one held already (so a reload loses nothing), or a new one.

    `besides` are the tasks in work, when the one after them is to be fetched ahead.
    """
    with store.database.read() as connection:
        judge = _judge(connection, store, judge_id)
        held = _held(connection, store, judge_id, besides)
        if held is not None and judge["state"] == "active":
            return Turn("task", held)

    def work(connection: Connection) -> Turn:
        judge = lock_judge(connection, store, judge_id)
        expire(connection, store)
        held = _held(connection, store, judge_id, besides)
        if held is not None:
            return Turn("task", held)
        many = select(func.count()).where(reservations.c.judge_id == judge_id, reservations.c.state == "held")
        if connection.execute(many).scalar_one() >= MOST_HELD:
            return Turn("wait")
        return _draw(connection, store, judge)

    return store.database.write(work)


def held_task(store: Store, judge_id: int, task_id: int) -> dict[str, Any]:
    """A task that this judge was given, in whatever state it is; others' tasks are not found."""
    with store.database.read() as connection:
        found = (
            connection.execute(_given().where(reservations.c.judge_id == judge_id, tasks.c.id == task_id))
            .mappings()
            .first()
        )
    if found is None or found["study_id"] != store.study_id:
        raise NotYours("there is no such task for you")
    return dict(found)


def lock_judge(connection: Connection, store: Store, judge_id: int) -> dict[str, Any]:
    """The judge's row, held until the transaction ends: one judge does one thing at a time, in two windows too."""
    judge = _judge(connection, store, judge_id, lock=True)
    if judge["state"] != "active":
        raise Closed(judge["why"] or f"this judge is {judge['state']}")
    return judge


def expire(connection: Connection, store: Store) -> None:
    """Free what was kept too long, a few at a time."""
    now = store.clock()
    due = (
        select(reservations.c.id, reservations.c.task_id)
        .where(reservations.c.study_id == store.study_id, reservations.c.state == "held", reservations.c.until < now)
        .order_by(reservations.c.task_id)
        .limit(50)
    )
    for row in connection.execute(due).all():
        free = select(tasks.c.id).where(tasks.c.id == row.task_id).with_for_update(skip_locked=True)
        if connection.execute(free).first() is None:
            continue  # somebody is answering it this moment
        change = update(reservations).where(
            reservations.c.id == row.id, reservations.c.state == "held", reservations.c.until < now
        )
        if connection.execute(change.values(state="expired", changed=now)).rowcount:
            settle(connection, row.task_id)


def keep(connection: Connection, store: Store, judge: dict[str, Any], task: dict[str, Any]) -> None:
    """Keep a task for a judge; the caller holds the task's row."""
    now = store.clock()
    until = now + 60 * store.rules.reserve_minutes
    mine = (reservations.c.judge_id == judge["id"], reservations.c.item == task["item"])
    values = {"task_id": task["id"], "state": "held", "until": until, "changed": now, "made": now}
    found = connection.execute(select(reservations.c.id).where(*mine)).scalar()
    if found is None:
        turned = hashlib.sha256(f"{judge['lot']} {task['item']}".encode()).digest()[0] % 2 == 1
        new = {"study_id": store.study_id, "judge_id": judge["id"], "item": task["item"]}
        new |= {"turned": task["kind"] == "pair" and turned, "opened": False}
        connection.execute(insert(reservations).values(values | new))
    else:
        connection.execute(update(reservations).where(reservations.c.id == found).values(values))
    settle(connection, task["id"])


def _draw(connection: Connection, store: Store, judge: dict[str, Any]) -> Turn:
    """A new task for a judge."""
    practice = _first(connection, _open(store, judge, practice=True).order_by(tasks.c.place))
    if practice is not None:
        return _take(connection, store, judge, practice)
    done = connection.execute(
        select(func.count()).where(answers.c.judge_id == judge["id"], answers.c.study_id == store.study_id)
    ).scalar_one()
    if store.rules.most_per_judge and done >= store.rules.most_per_judge:
        return Turn("limit")
    apart = _apart(connection, store, judge)
    shuffled = (tasks.c.lot * judge["lot"]) % PRIME
    for steps in (False, True):  # what was put off comes last
        choice = _open(store, judge, later=steps).where(apart, ~tasks.c.trap | tasks.c.bundle_id.is_not(None))
        own = choice.where(
            tasks.c.bundle_id.in_(select(bundles.c.id).where(bundles.c.owner_id == judge["id"]))
        ).order_by(tasks.c.session, tasks.c.place, shuffled)
        last = (
            select(tasks.c.query)
            .join(reservations, reservations.c.task_id == tasks.c.id)
            .where(reservations.c.judge_id == judge["id"])
            .order_by(reservations.c.changed.desc())
            .limit(1)
        )
        query = connection.execute(last).scalar()
        for candidates in (
            own,
            choice.where(tasks.c.query == query).order_by(shuffled, tasks.c.id) if query is not None else None,
            choice.order_by(tasks.c.place),
        ):
            if candidates is None:
                continue
            found = _first(connection, candidates)
            if found is not None:
                if found["bundle_id"] is None and found["kind"] == "judge":
                    found = (
                        _first(connection, choice.where(tasks.c.query == found["query"]).order_by(shuffled)) or found
                    )
                return _take(connection, store, judge, _trap_due(connection, store, judge, found) or found)
    if store.rules.hours_apart:
        waiting = _open(store, judge).where(~apart)
        if _first(connection, waiting) is not None:
            return Turn("wait", None, _free_at(connection, store, judge))
    return Turn("done")


def _open(store: Store, judge: dict[str, Any], *, practice: bool = False, later: bool = False) -> Select[Any]:
    """The tasks with a free slot that this judge may do."""
    now = store.clock()
    again = (*AGAIN, "later") if later else AGAIN
    met = exists().where(
        reservations.c.judge_id == judge["id"],
        reservations.c.item == tasks.c.item,
        reservations.c.state.not_in(again),
    )
    # A plan's "judge 1" is the judge of that name; where there is none, whoever comes first.
    other = judges.alias("other")
    named = exists().where(
        other.c.study_id == store.study_id,
        other.c.id != judge["id"],
        bundles.c.name == literal("judge:").concat(other.c.grp).concat(":").concat(other.c.name),
    )
    owned = and_(
        bundles.c.owner_id.is_not(None),
        bundles.c.owner_id != judge["id"],
        or_(bundles.c.until.is_(None), bundles.c.until >= now),
    )
    taken = exists().where(bundles.c.id == tasks.c.bundle_id, or_(owned, and_(bundles.c.owner_id.is_(None), named)))
    before = tasks.alias("before")
    early = exists().where(
        before.c.bundle_id == tasks.c.bundle_id, before.c.session < tasks.c.session, before.c.filled < before.c.wanted
    )
    return select(tasks).where(
        tasks.c.study_id == store.study_id,
        tasks.c.grp == judge["grp"],
        tasks.c.practice == practice,
        tasks.c.open,
        ~met,
        or_(tasks.c.bundle_id.is_(None), and_(~taken, or_(tasks.c.session.is_(None), ~early))),
    )


def _first(connection: Connection, candidates: Select[Any]) -> dict[str, Any] | None:
    """The first candidate that nobody else is at, its row held until the transaction ends."""
    found = connection.execute(candidates.limit(1).with_for_update(of=tasks, skip_locked=True)).mappings().first()
    return None if found is None else dict(found)


def _take(connection: Connection, store: Store, judge: dict[str, Any], task: dict[str, Any]) -> Turn:
    if task["bundle_id"] is not None:
        own_bundle(connection, store, judge["id"], task["bundle_id"])
    keep(connection, store, judge, task)
    return Turn("task", _held(connection, store, judge["id"], (), task["id"]))


def own_bundle(connection: Connection, store: Store, judge_id: int, bundle_id: int) -> None:
    """Give a bundle to a judge; blocks come free when their owner is gone too long, queries when the lead says so."""
    now = store.clock()
    until = now + 60 * store.rules.reserve_minutes
    mine = or_(bundles.c.owner_id.is_(None), bundles.c.owner_id == judge_id, bundles.c.until < now)
    name = connection.execute(select(bundles.c.name).where(bundles.c.id == bundle_id)).scalar_one()
    change = update(bundles).where(bundles.c.id == bundle_id, mine)
    limit = until if name.startswith("block:") else None
    if not connection.execute(change.values(owner_id=judge_id, until=limit)).rowcount:
        raise LostRace


def _trap_due(
    connection: Connection, store: Store, judge: dict[str, Any], task: dict[str, Any]
) -> dict[str, Any] | None:
    """A trap, when one is due: one of every block of pairs, at a place drawn for the judge."""
    if task["kind"] != "pair" or task["bundle_id"] is not None:
        return None
    met = (
        select(func.count())
        .select_from(reservations.join(tasks, tasks.c.id == reservations.c.task_id))
        .where(
            reservations.c.judge_id == judge["id"],
            reservations.c.state.in_(("held", "answered")),
            tasks.c.kind == "pair",
            ~tasks.c.practice,
        )
    )
    number, within = divmod(connection.execute(met).scalar_one(), store.rules.block)
    place = ((judge["lot"] + number) * 48271 % 2147483647) % store.rules.block
    if within != place:
        return None
    shuffled = (tasks.c.lot * judge["lot"]) % PRIME
    return _first(connection, _open(store, judge).where(tasks.c.trap, tasks.c.kind == "pair").order_by(shuffled))


def _apart(connection: Connection, store: Store, judge: dict[str, Any]) -> ColumnElement[bool]:
    """Not a document alone soon after one of its query in context, nor the other way round."""
    alone, given = _recent(connection, store, judge)
    wrong: ColumnElement[bool] = false()
    if alone:
        wrong = or_(wrong, and_(tasks.c.context.is_not(None), tasks.c.query.in_(alone)))
    if given:
        wrong = or_(wrong, and_(tasks.c.kind == "judge", tasks.c.context.is_(None), tasks.c.query.in_(given)))
    return ~wrong


def _recent(connection: Connection, store: Store, judge: dict[str, Any]) -> tuple[list[str], list[str]]:
    contexts = select(tasks.c.id).where(tasks.c.study_id == store.study_id, tasks.c.context.is_not(None)).limit(1)
    if not store.rules.hours_apart or connection.execute(contexts).first() is None:
        return [], []
    since = store.clock() - 3600 * store.rules.hours_apart
    recent = (
        select(tasks.c.query, tasks.c.context.is_(None).label("alone"))
        .join(reservations, reservations.c.task_id == tasks.c.id)
        .where(
            reservations.c.judge_id == judge["id"],
            reservations.c.state.in_(("held", "answered")),
            reservations.c.changed > since,
            tasks.c.kind == "judge",
            ~tasks.c.practice,
        )
        .distinct()
    )
    rows = connection.execute(recent).all()
    return [row.query for row in rows if row.alone], [row.query for row in rows if not row.alone]


def _free_at(connection: Connection, store: Store, judge: dict[str, Any]) -> float:
    """When the first of the judge's recent queries may be asked the other way."""
    last = (
        select(func.max(reservations.c.changed).label("at"))
        .join(tasks, tasks.c.id == reservations.c.task_id)
        .where(reservations.c.judge_id == judge["id"], reservations.c.state == "answered")
        .group_by(tasks.c.query)
    )
    times = [float(row.at) for row in connection.execute(last)]
    now = store.clock()
    waits = [at + 3600 * store.rules.hours_apart for at in times]
    return min((at for at in waits if at > now), default=now)


def _judge(connection: Connection, store: Store, judge_id: int, *, lock: bool = False) -> dict[str, Any]:
    found = select(judges).where(judges.c.id == judge_id, judges.c.study_id == store.study_id)
    row = connection.execute(found.with_for_update() if lock else found).mappings().first()
    if row is None:
        raise NotYours("there is no such judge")
    return dict(row)


def _given() -> Select[Any]:
    names = (reservations.c.state, reservations.c.until, reservations.c.turned, reservations.c.opened)
    return select(tasks, *names).join(reservations, reservations.c.task_id == tasks.c.id)


def _held(
    connection: Connection, store: Store, judge_id: int, besides: Sequence[int], task_id: int | None = None
) -> dict[str, Any] | None:
    """The judge's oldest task in work (other than `besides`); one taken back comes before what was fetched after it."""
    mine = _given().where(
        reservations.c.judge_id == judge_id, reservations.c.state == "held", reservations.c.until >= store.clock()
    )
    if besides:
        mine = mine.where(tasks.c.id.not_in(besides))
    if task_id is not None:
        mine = mine.where(tasks.c.id == task_id)
    found = connection.execute(mine.order_by(reservations.c.made, reservations.c.id).limit(1)).mappings().first()
    return None if found is None else dict(found)
