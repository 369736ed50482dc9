"""Who judges, and how well: everybody with pace, agreement, gold, traps, leniency and drift."""

from __future__ import annotations

from typing import Any

from sqlalchemy import case, func, select

from karat.collect.quality import judges_now, panel_now
from karat.store import Store
from karat.store.people import all_judges
from karat.store.tables import answers, events, tasks

#: What is not known of a judge without labels.
UNKNOWN: tuple[str, ...] = (
    "seconds",
    "agreement",
    "accuracy",
    "accuracy_high",
    "leniency",
    "leniency_low",
    "leniency_high",
    "drift",
)
UNKNOWN += ("drift_p", "cant_tell", "likely_spammer", "one_grade")


def roster(store: Store) -> dict[str, Any]:
    """Everybody who was invited or came, with what is known of them, and the finding in a sentence."""
    finding, known = judges_now(panel_now(store, known=True))
    said, taken = _counts(store, "answer"), _counts(store, "practice")
    traps, failed, right = _traps(store), _counts(store, "trap_failed"), _practice(store)
    rows = []
    for judge in all_judges(store):
        number = judge["id"]
        row: dict[str, Any] = dict.fromkeys(UNKNOWN)
        row |= {"n_compared": 0, "n_gold": 0} | known.get(judge["name"], {})
        row |= {name: judge[name] for name in ("id", "name", "state", "why", "source")}
        row |= {"group": judge["grp"], "answers": said.get(number, 0)}
        row |= {"traps": traps.get(number, 0), "traps_failed": failed.get(number, 0)}
        row |= {"practice": taken.get(number, 0), "practice_right": right.get(number, 0)}
        rows.append(row)
    return {"finding": finding if rows else "Nobody has been invited yet.", "rows": rows}


def _counts(store: Store, kind: str) -> dict[int, int]:
    """How many events of a kind each judge has; of answers those that stand."""
    table = answers if kind == "answer" else events
    many = select(table.c.judge_id, func.count()).where(table.c.study_id == store.study_id, table.c.kind == kind)
    with store.database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(many.group_by(table.c.judge_id))}


def _traps(store: Store) -> dict[int, int]:
    """How many traps each judge answered, also those whose answers were rejected since."""
    many = (
        select(events.c.judge_id, func.count(events.c.task_id.distinct()))
        .join(tasks, tasks.c.id == events.c.task_id)
        .where(events.c.study_id == store.study_id, events.c.kind == "answer", tasks.c.trap)
        .group_by(events.c.judge_id)
    )
    with store.database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(many)}


def _practice(store: Store) -> dict[int, int]:
    """How many practice items each judge had right."""
    hit = (events.c.label == tasks.c.gold) | (events.c.choice == tasks.c.expected)
    many = (
        select(events.c.judge_id, func.sum(case((hit, 1), else_=0)))
        .join(tasks, tasks.c.id == events.c.task_id)
        .where(events.c.study_id == store.study_id, events.c.kind == "practice")
        .group_by(events.c.judge_id)
    )
    with store.database.read() as connection:
        return {row[0]: int(row[1] or 0) for row in connection.execute(many)}
