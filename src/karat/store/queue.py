"""The queue: which task a judge gets next, kept for them for a while; never more labels than asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from karat.store import candidates as ask
from karat.store.candidates import candidates
from karat.store.database import LostRace
from karat.store.kinds import KINDS
from karat.store.log import recount
from karat.store.store import Closed, NotYours, Store
from karat.store.tables import bundles, reservations, tasks

#: The task in work, one taken back, and the one fetched ahead.
MOST_HELD = 3

_EXPIRE = (
    update(reservations)
    .where(
        reservations.c.id == bindparam("number"),
        reservations.c.state == "held",
        reservations.c.until < bindparam("now"),
    )
    .values(state="expired", changed=bindparam("now"))
)
_KEEP = insert(reservations)
_KEEP_AGAIN = update(reservations).where(reservations.c.id == bindparam("number"))
_HOLD = update(tasks).where(tasks.c.id == bindparam("task"))
_BUNDLE = select(bundles.c.name).where(bundles.c.id == bindparam("bundle"))
_OWN = update(bundles).where(
    bundles.c.id == bindparam("bundle"),
    or_(
        bundles.c.owner_id.is_(None),
        bundles.c.owner_id == bindparam("judge"),
        bundles.c.until < bindparam("now"),
    ),
)


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
    names = {"study": store.study_id, "judge": judge_id, "now": store.clock()}
    with store.database.read() as connection:
        judge = _judge(connection, names)
        held = connection.execute(ask.HELD, names | {"besides": list(besides)}).mappings().first()
        if held is not None and judge["state"] == "active":
            return Turn("task", dict(held))

    def work(connection: Connection) -> Turn:
        judge = lock_judge(connection, store, judge_id)
        expire(connection, store)
        held = connection.execute(ask.HELD, names | {"besides": list(besides)}).mappings().first()
        if held is not None:
            return Turn("task", dict(held))
        if besides and connection.execute(ask.HOW_MANY_HELD, names).scalar_one() >= MOST_HELD:
            return Turn("wait")
        return _draw(connection, store, judge)

    return store.database.write(work)


def held_task(store: Store, judge_id: int, task_id: int) -> dict[str, Any]:
    """A task that this judge was given, in whatever state it is; others' tasks are not found."""
    names = {"study": store.study_id, "judge": judge_id, "task": task_id}
    with store.database.read() as connection:
        found = connection.execute(ask.GIVEN, names).mappings().first()
    if found is None:
        raise NotYours("there is no such task for you")
    return dict(found)


def lock_judge(connection: Connection, store: Store, judge_id: int) -> dict[str, Any]:
    """The judge's row, held until the transaction ends: one judge does one thing at a time, in two windows too."""
    judge = _judge(connection, {"study": store.study_id, "judge": judge_id}, lock=True)
    if judge["state"] != "active":
        raise Closed(judge["why"] or f"this judge is {judge['state']}")
    return judge


def expire(connection: Connection, store: Store) -> None:
    """Free what was kept too long, a few at a time."""
    now = store.clock()
    for row in connection.execute(ask.DUE, {"study": store.study_id, "now": now}).all():
        if connection.execute(ask.TASK_IF_FREE, {"task": row.task_id}).first() is None:
            continue  # somebody is answering it this moment
        if connection.execute(_EXPIRE, {"number": row.id, "now": now}).rowcount:
            recount(connection, row.task_id)


def own_bundle(connection: Connection, store: Store, judge_id: int, bundle_id: int) -> None:
    """Give a bundle to a judge; blocks come free when their owner is gone too long, queries when the lead says so."""
    now = store.clock()
    name = connection.execute(_BUNDLE, {"bundle": bundle_id}).scalar_one()
    until = now + 60 * store.rules.reserve_minutes if name.startswith("block:") else None
    names = {"bundle": bundle_id, "judge": judge_id, "now": now, "owner_id": judge_id, "until": until}
    if not connection.execute(_OWN, names).rowcount:
        raise LostRace


def _draw(connection: Connection, store: Store, judge: dict[str, Any]) -> Turn:
    """A new task for a judge."""
    names = {"study": store.study_id, "judge": judge["id"], "now": store.clock()}
    names |= {"grp": judge["grp"], "lot": judge["lot"], "alone": [], "given": []}
    task = _first(connection, "practice", names)
    if task is not None:
        return _take(connection, store, judge, task)
    most = store.rules.most_per_judge
    if most and connection.execute(ask.ANSWERED, names).scalar_one() >= most:
        return Turn("limit")
    free_at = _apart(connection, store, names)
    names["query"] = connection.execute(ask.LAST_QUERY, names).scalar()
    names["own"] = [row.id for row in connection.execute(ask.OWN, names)]
    for later in (False, True):  # what was put off comes last
        for order in ("own", "query", "place") if names["own"] else ("query", "place"):
            task = _first(connection, order, names, later)
            if task is None:
                continue
            kind, loose = KINDS[task["kind"]], task["bundle_id"] is None
            if order == "place" and loose and kind.grades:
                task = _first(connection, "query", names | {"query": task["query"]}, later) or task
            trap = _trap_due(connection, store, names) if loose and kind.sides else None
            return _take(connection, store, judge, trap or task)
    trap = _trap_due(connection, store, names, last=True)
    if trap is not None:
        return _take(connection, store, judge, trap)
    if free_at is not None and _first(connection, "waiting", names) is not None:
        return Turn("wait", None, free_at)
    return Turn("done")


def _first(connection: Connection, order: Any, names: dict[str, Any], later: bool = False) -> dict[str, Any] | None:
    found = connection.execute(candidates(order, later), names).mappings().first()
    return None if found is None else dict(found)


def _take(connection: Connection, store: Store, judge: dict[str, Any], task: dict[str, Any]) -> Turn:
    """Keep a task for a judge; its row is held."""
    if task["bundle_id"] is not None:
        own_bundle(connection, store, judge["id"], task["bundle_id"])
    now = store.clock()
    values = {"task_id": task["id"], "state": "held", "changed": now, "made": now}
    values["until"] = now + 60 * store.rules.reserve_minutes
    found = connection.execute(ask.MINE, {"judge": judge["id"], "asked": task["item"]}).first()
    if found is None:
        lot = hashlib.sha256(f"{judge['lot']} {task['item']}".encode()).digest()[0]
        # Practice is shown as it was written, because its explanation says left and right.
        turned, opened = KINDS[task["kind"]].sides and not task["practice"] and lot % 2 == 1, False
        new = {"study_id": store.study_id, "judge_id": judge["id"], "item": task["item"]}
        connection.execute(_KEEP, values | new | {"turned": turned, "opened": opened})
    else:
        turned, opened = found.turned, found.opened
        connection.execute(_KEEP_AGAIN, values | {"number": found.id})
    held = task["held"] + 1
    changed = {"held": held, "open": task["wanted"] > task["filled"] + held}
    connection.execute(_HOLD, changed | {"task": task["id"]})
    kept = {name: values[name] for name in ("state", "until", "made")}
    return Turn("task", task | changed | kept | {"turned": turned, "opened": opened})


def _trap_due(
    connection: Connection, store: Store, names: dict[str, Any], *, last: bool = False
) -> dict[str, Any] | None:
    """A trap, when one is due: one of every block of pairs, at a place drawn for the judge.

    With `last`, there are no pairs left, and the block that ends here must not go without.
    """
    met = connection.execute(ask.PAIRS_MET, names).scalar_one()
    number, within = divmod(met, store.rules.block)
    drawn = hashlib.sha256(f"{names['lot']} {names['judge']} {number}".encode()).digest()
    place = int.from_bytes(drawn[:4]) % store.rules.block
    due = 0 < within <= place if last else within == place
    return _first(connection, "trap", names) if due else None


def _apart(connection: Connection, store: Store, names: dict[str, Any]) -> float | None:
    """Note the queries lately judged alone or in context; returns when the first of them is free the other way."""
    hours = store.rules.hours_apart
    if not hours or connection.execute(ask.ANY_CONTEXT, names).first() is None:
        return None
    since = store.clock() - 3600 * hours
    rows = connection.execute(ask.LATELY, names | {"since": since}).all()
    names["alone"] = [row.query for row in rows if row.alone]
    names["given"] = [row.query for row in rows if not row.alone]
    return min((float(row.at) + 3600 * hours for row in rows), default=None)


def _judge(connection: Connection, names: dict[str, Any], *, lock: bool = False) -> dict[str, Any]:
    row = connection.execute(ask.JUDGE_LOCKED if lock else ask.JUDGE_ROW, names).mappings().first()
    if row is None:
        raise NotYours("there is no such judge")
    return dict(row)
