"""News of a study for those outside: answers, judges to look at, and that all is there; read off the log.

What was told is in the log, too, so that after a restart, or in a copy, telling goes on where it ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from karat.study.event_log import log
from karat.study.people import all_judges
from karat.study.progress import iso, progress
from karat.study.store import Store, transaction
from karat.study.tables import events, judges, tasks

#: Kinds of news, and the events of the log that are one. `flagged` and `done` are noted for this purpose.
KINDS = {"answered": ("answer",), "flagged": ("flagged", "rejected", "excluded", "paused"), "done": ("done",)}
#: So many events are told at a time.
MOST = 100


def news(store: Store, kinds: Sequence[str]) -> list[dict[str, Any]]:
    """What is to be told next, in the order of the log: the kind of news, and what happened to whom."""
    wanted = [event for kind in kinds for event in KINDS[kind]]
    of = {event: kind for kind in kinds for event in KINDS[kind]}
    asked = ("kind", "query", "doc")
    found = (
        select(
            *(events.c[name] for name in ("id", "kind", "at", "more")),
            judges.c.name.label("judge"),
            judges.c.grp.label("group"),
            *(tasks.c[name].label(f"task_{name}") for name in asked),
        )
        .outerjoin(judges, judges.c.id == events.c.judge_id)
        .outerjoin(tasks, tasks.c.id == events.c.task_id)
        .where(events.c.study_id == store.study_id, events.c.kind.in_(wanted), events.c.id > last_told(store))
        .order_by(events.c.id)
        .limit(MOST)
    )
    told = []
    for row in store.rows(found):
        more = json.loads(row["more"] or "{}")
        said = {"kind": of[row["kind"]], "event": row["id"], "time": iso(row["at"])}
        said |= {name: row[name] for name in ("judge", "group") if row[name] is not None}
        if row["kind"] == "answer":
            said |= {"task": row["task_kind"], "query": row["task_query"], "doc": row["task_doc"]}
        elif row["kind"] != "done":
            said |= {"why": more.get("why", ""), "by": more.get("by"), "state": row["kind"]}
        told.append(said)
    return told


def last_told(store: Store) -> int:
    """The number of the last event that was told; before the first, that of the last event when telling began."""
    newest = select(func.max(events.c.target_id)).where(events.c.study_id == store.study_id, events.c.kind == "told")
    return store.value(newest) or 0


@transaction
def keep_told(store: Store, event: int | None = None) -> None:
    """Keep in the log up to which event all was told; none: to the last one, where nothing was told before."""
    if event is None:
        event = store.value(select(func.max(events.c.id)).where(events.c.study_id == store.study_id))
        if event is None or last_told(store):
            return
    log(store, "told", target_id=event)


@transaction
def note_flags(store: Store, flags: Mapping[str, Sequence[str]]) -> None:
    """Note in the log what speaks against judges, by their names, each of it once."""
    known: dict[int, set[str]] = {}
    noted = (events.c.study_id == store.study_id, events.c.kind == "flagged")
    for row in store.rows(select(events.c.judge_id, events.c.more).where(*noted)):
        known.setdefault(row["judge_id"], set()).add(json.loads(row["more"])["why"])
    for judge in all_judges(store):
        for flag in flags.get(judge["name"], ()):
            if flag not in known.get(judge["id"], ()):
                log(store, "flagged", judge_id=judge["id"], more={"why": flag})


@transaction
def note_done(store: Store) -> None:
    """Note in the log that every task has its answers, once until something is said again."""
    rows = [row for row in progress(store) if row["group"] in store.groups]
    if not rows or any(row["finished"] < row["tasks"] for row in rows):
        return
    last = select(func.max(events.c.id)).where(events.c.study_id == store.study_id)
    said = store.value(last.where(events.c.kind == "answer")) or 0
    if said > (store.value(last.where(events.c.kind == "done")) or 0):
        log(store, "done")


def counted(store: Store) -> dict[str, int]:
    """How many answers there are, and how many are wanted as things stand."""
    rows = [row for row in progress(store) if row["group"] in store.groups]
    return {"answers": sum(row["filled"] for row in rows), "wanted": sum(row["wanted"] for row in rows)}
