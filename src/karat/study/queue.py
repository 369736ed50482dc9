"""The queue: which task a judge gets next, kept for them for a while; never more labels than asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, or_, select, update

from karat.study import queue_queries
from karat.study.database import LostRace, Prepared
from karat.study.event_log import recount
from karat.study.kinds import KINDS
from karat.study.people import free_bundles, lock_any
from karat.study.store import PLATFORMS, Closed, NotYours, Store, transaction
from karat.study.tables import bundles, reservations, tasks
from karat.study.task_candidates import Order, candidates, loose_pairs, traps_left


def trap_due(store: Store, names: dict[str, Any], *, last: bool = False) -> dict[str, Any] | None:
    """A trap, when one is due. With `last`, there are no pairs left, and the block that ends here must not go without.

    What was put off comes back at the end.
    """
    met, traps = store.rows(queue_queries.PAIRS_MET, **names)[0].values()
    due = _due(store, names, met, traps or 0, last=last)
    found = store.first(candidates("trap", hold=due), **names)  # also when none is due: the time it takes tells nothing
    trap = found if due else None
    return trap or (store.first(candidates("put off"), **names) if last else None)


def traps_to_come(store: Store, names: dict[str, Any]) -> int:
    """How many traps a judge will meet, if all pairs that may come to them do."""
    free, put_off = (int(store.value(traps_left(put_off), **names)) for put_off in (False, True))
    if not free + put_off:
        return 0
    pairs = int(store.value(loose_pairs(), **names))
    met, traps = (int(number or 0) for number in store.rows(queue_queries.PAIRS_MET, **names)[0].values())
    come = 0
    while pairs:
        due = free > 0 and _due(store, names, met, traps)
        free, traps, come, pairs, met = free - due, traps + due, come + due, pairs - (not due), met + 1
    return come + (free > 0 and _due(store, names, met, traps, last=True)) + put_off


def _due(store: Store, names: dict[str, Any], met: int, traps: int, *, last: bool = False) -> bool:
    """Whether a trap comes next after so many pairs, so many of them traps."""
    number, within = divmod(met, store.rules.block)
    drawn = hashlib.sha256(f"{names['lot']} {names['judge']} {number}".encode()).digest()
    place = int.from_bytes(drawn[:4]) % store.rules.block
    return traps <= number and (0 < within <= place if last else within == place)


#: The task in work, one taken back, and the one fetched ahead.
MOST_HELD = 3
#: People of platforms who said nothing yet keep at most half of what is left to say, and so many in any case.
NEWCOMERS = 10

_EXPIRE = Prepared(
    update(reservations)
    .where(
        reservations.c.id == bindparam("number"),
        reservations.c.state == "held",
        or_(reservations.c.until < bindparam("now"), reservations.c.until > bindparam("latest")),
    )
    .values(state="expired", changed=bindparam("now"))
)
_KEEP = Prepared.new_row(reservations)
_KEPT = dict.fromkeys(("state", "made", "until", "task_id", "changed"))
_KEEP_AGAIN = Prepared(update(reservations).where(reservations.c.id == bindparam("number")).values(_KEPT))
_HOLD = Prepared(update(tasks).where(tasks.c.id == bindparam("task")).values(held=None, open=None))
_BUNDLE = Prepared(select(bundles.c.name).where(bundles.c.id == bindparam("bundle")))
_OWN = Prepared(
    update(bundles)
    .where(
        bundles.c.id == bindparam("bundle"),
        or_(
            bundles.c.owner_id.is_(None),
            bundles.c.owner_id == bindparam("judge"),
            bundles.c.until < bindparam("now"),
            bundles.c.until > bindparam("latest"),
        ),
    )
    .values(owner_id=None, until=None)
)


@dataclass(frozen=True)
class Turn:
    """What a judge gets: a task that is kept for them, or none and why (done, wait with the time, limit)."""

    state: str
    task: dict[str, Any] | None = None
    wait_until: float | None = None


def next_task(store: Store, judge_id: int, *, besides: Sequence[int] = ()) -> Turn:
    """The judge's next task: the one held already (so a reload loses nothing), or a new one.

    `besides` are the numbers (`given`) of tasks in work, when the one after them is to be fetched ahead.
    """
    return _next(store, judge_id, list(besides))


@transaction
def _next(store: Store, judge_id: int, besides: list[int]) -> Turn:
    judge = lock_judge(store, judge_id)
    names: dict[str, Any] = {"study": store.study_id, "judge": judge_id, "besides": besides} | store.times()
    held = store.first(queue_queries.HELD, **names)
    if held is not None:
        return Turn("task", held)
    names |= {"grp": judge["grp"], "lot": judge["lot"], "again": names["now"] - 3600 * store.rules.repeat_hours}
    situation = store.rows(queue_queries.SITUATION, **names)[0]
    more = bool(situation["due"]) and expire(store)
    new = judge["source"] in PLATFORMS and store.first(queue_queries.IS_NEW, **names) is not None
    if besides and (new or store.value(queue_queries.HOW_MANY_HELD, **names) >= MOST_HELD):
        return Turn("wait")
    turn = _draw(store, judge, names, situation, new)
    while turn.task is None and more:
        more = expire(store)
        turn = _draw(store, judge, names, situation, new)
    return turn


def held_task(store: Store, judge_id: int, given: int) -> dict[str, Any]:
    """A task that this judge was given, by the number under which it was; others' tasks are not found.

    The number is the reservation's: it grows as tasks are given, and says nothing of what stands beside what in a plan.
    """
    found = store.first(queue_queries.GIVEN, study=store.study_id, judge=judge_id, number=given)
    if found is None:
        raise NotYours("there is no such task for you")
    return found


def lock_judge(store: Store, judge_id: int) -> dict[str, Any]:
    """The judge's row, held until the transaction ends: one judge does one thing at a time, in two windows too."""
    judge = lock_any(store, judge_id)
    refuse_closed(judge)
    return judge


def refuse_closed(judge: dict[str, Any]) -> None:
    """Refuse a judge who is given no tasks now."""
    if judge["state"] != "active":
        why = judge["why"] or f"this judge is {judge['state']}"
        raise Closed(f"answers of yours were not accepted: {why}" if judge["state"] == "rejected" else why)


def expire(store: Store) -> bool:
    """Free what was kept too long, a few at a time; returns whether there is more."""
    times = store.times()
    freed = 0
    for row in store.rows(queue_queries.DUE, study=store.study_id, **times):
        if store.first(queue_queries.TASK_IF_FREE, task=row["task_id"]) is None:
            continue  # somebody is answering it this moment
        if store.change(_EXPIRE, {"number": row["id"]} | times):
            recount(store, row["task_id"])
            freed += 1
    return freed == queue_queries.AT_ONCE


def own_bundle(store: Store, judge_id: int, bundle_id: int) -> bool:
    """Give a bundle to a judge, unless it is another's; returns whether it is theirs now.

    Blocks come free when their owner is gone too long, queries when the lead says so.
    """
    until = store.kept_until() if store.value(_BUNDLE, bundle=bundle_id).startswith("block:") else None
    names = {"bundle": bundle_id, "judge": judge_id, "owner_id": judge_id, "until": until}
    return bool(store.change(_OWN, names | store.times()))


def _draw(store: Store, judge: dict[str, Any], names: dict[str, Any], situation: dict[str, Any], new: bool) -> Turn:
    """A new task for a judge, whose situation it is."""
    task = store.first(candidates("practice"), **names) if situation["practice"] else None
    if task is not None and store.value(queue_queries.LEFT_TO_SAY, **names):  # nobody practises for nothing
        return _take(store, judge, task)
    most = store.rules.most_per_judge
    if most and store.value(queue_queries.ANSWERED, **names) >= most:
        free_bundles(store, judge["id"])  # others go on with what this judge began, or was to do
        return Turn("limit")
    if new:
        kept = store.rows(queue_queries.NEWCOMERS_KEEP, **names)[0]
        if kept["many"] >= max(NEWCOMERS, (store.value(queue_queries.LEFT_TO_SAY, **names) or 0) // 2):
            return Turn("wait", None, kept["until"])
    lately = _lately(store, names) if store.rules.hours_apart and situation["context"] else {}
    apart = bool(lately)
    alone = {way: [query for query, by_itself in lately if by_itself == way] for way in (True, False)}
    names = names | {"query": situation["query"]} | ({"alone": alone[True], "given": alone[False]} if apart else {})
    orders: list[Order] = ["own"] if situation["own"] else []
    orders += ["query", "place"] if situation["query"] is not None else ["place"]
    later = (False, True) if situation["put_off"] else (False,)  # what was put off comes last
    rest: Order = "rest"
    after = [(rest, again) for again in later] if situation["bundled"] else []
    for order, again in (*((order, again) for again in later for order in orders), *after):
        task = store.first(candidates(order, again, apart), **names)
        if task is None:
            continue
        kind, loose = KINDS[task["kind"]], task["bundle_id"] is None
        if order == "place" and loose and kind.grades:
            task = store.first(candidates("query", again, apart), **names | {"query": task["query"]}) or task
        trap = None
        if loose and kind.sides and situation["traps"]:
            # Were pairs given query by query, a trap would stand out: its query is seldom that of its neighbours.
            task = store.first(candidates("pairs", again, apart), **names) or task
            trap = trap_due(store, names)
        return _take(store, judge, trap or task, rest=order == "rest")
    trap = trap_due(store, names, last=True) if situation["traps"] else None
    if trap is not None:
        return _take(store, judge, trap)
    due = (
        [lately[row["query"], not row["alone"]] for row in store.rows(queue_queries.WAITING, **names)] if lately else []
    )
    first = store.value(queue_queries.ASKED_AGAIN, **names)
    due += [] if first is None else [first + 3600 * store.rules.repeat_hours]
    if due:
        return Turn("wait", None, min(due))
    # Slots that others merely keep may come free: who said nothing waits for them, who said something has done enough.
    said = store.value(queue_queries.ANSWERED, **names)
    ends = (
        [] if said else [store.value(until, **names) for until in (queue_queries.SINGLE_KEPT, queue_queries.BLOCK_KEPT)]
    )
    free_at = min((end for end in ends if end is not None), default=None)
    return Turn("done") if free_at is None else Turn("wait", None, free_at)


def _take(store: Store, judge: dict[str, Any], task: dict[str, Any], *, rest: bool = False) -> Turn:
    """Keep a task for a judge; its row is held. With `rest`, the bundle may stay another's."""
    if task["bundle_id"] is not None and not own_bundle(store, judge["id"], task["bundle_id"]) and not rest:
        raise LostRace
    now = store.clock()
    kept = {"state": "held", "made": now, "until": store.kept_until()}
    values = kept | {"task_id": task["id"], "changed": now}
    found = store.first(queue_queries.MINE, judge=judge["id"], asked=task["item"])
    if found is None:
        lot = hashlib.sha256(f"{judge['lot']} {task['item']}".encode()).digest()[0]
        # Practice is shown as it was written, because its explanation says left and right.
        turned = KINDS[task["kind"]].sides and not task["practice"] and lot % 2 == 1
        shown: dict[str, Any] = {"turned": turned, "opened": False}
        mine = {"study_id": store.study_id, "judge_id": judge["id"], "item": task["item"]}
        shown["given"] = store.add(_KEEP, values | shown | mine)
    else:
        shown = {name: found[name] for name in ("turned", "opened")} | {"given": found["id"]}
        store.change(_KEEP_AGAIN, values | {"number": found["id"]})
    held = task["held"] + 1
    changed = {"held": held, "open": task["wanted"] > task["filled"] + held}
    store.change(_HOLD, changed | {"task": task["id"]})
    return Turn("task", task | changed | kept | shown)


def _lately(store: Store, names: dict[str, Any]) -> dict[tuple[str, bool], float]:
    """The queries lately judged alone (True) or in context, and when each of them is free the other way."""
    span = 3600 * store.rules.hours_apart
    rows = store.rows(queue_queries.LATELY, since=names["now"] - span, **names)
    return {(row["query"], bool(row["alone"])): float(row["at"]) + span for row in rows}
