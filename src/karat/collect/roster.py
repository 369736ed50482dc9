"""Who judges, and how well: everybody with pace, agreement, gold, traps, leniency and drift."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import case, func, select

from karat.collect.quality import judges_now
from karat.labels.selection import PAGE
from karat.store import Store
from karat.store.people import all_judges
from karat.store.tables import answers, events, judges, tasks

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
UNKNOWN += ("drift_p", "cant_tell", "likely_spammer")


def labels_frame(store: Store) -> pl.DataFrame:
    """What counts now of all documents judged, can't tell included (no label), in the order in which it was said.

    Labels of snippets, which only come from elsewhere, are answers to another question.
    """
    gone = select(events.c.target_id).where(
        events.c.study_id == store.study_id, events.c.kind.in_(("undo", "reject")), events.c.target_id.is_not(None)
    )
    said = (
        select(
            tasks.c.query,
            tasks.c.doc,
            tasks.c.context,
            judges.c.grp.label("group"),
            judges.c.name.label("judge"),
            events.c.label,
            events.c.seconds,
            events.c.comment,
            events.c.at,
            events.c.more,
        )
        .join(tasks, tasks.c.id == events.c.task_id)
        .join(judges, judges.c.id == events.c.judge_id)
        .where(
            events.c.study_id == store.study_id,
            events.c.kind.in_(("answer", "cant_tell")),
            events.c.id.not_in(gone),
            tasks.c.kind == "judge",
            ~tasks.c.practice,
        )
        .order_by(events.c.id)
    )
    texts, numbers = ("query", "doc", "context", "group", "judge", "comment", "more"), ("label", "seconds", "at")
    types: dict[str, Any] = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    schema = {column.name: types[column.name] for column in said.selected_columns}
    with store.database.read() as connection:
        rows = [tuple(row) for row in connection.execute(said)]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    moment = pl.from_epoch((pl.col("at") * 1e6).cast(pl.Int64), time_unit="us").dt.strftime("%Y-%m-%dT%H:%M:%S%.6f")
    surface = pl.col("more").str.json_path_match("$.surface").fill_null(PAGE)
    return frame.filter(surface == PAGE).with_columns(moment.alias("time")).drop("at", "more")


def roster(store: Store) -> dict[str, Any]:
    """Everybody who was invited or came, with what is known of them, and the finding in a sentence."""
    finding, known = judges_now(labels_frame(store), _gold(store))
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


def _gold(store: Store) -> pl.DataFrame:
    """The documents whose grade is known."""
    known = (
        select(tasks.c.query, tasks.c.doc, tasks.c.context, tasks.c.gold)
        .where(
            tasks.c.study_id == store.study_id, tasks.c.gold.is_not(None), tasks.c.kind == "judge", ~tasks.c.practice
        )
        .distinct()
    )
    schema = {"query": pl.String, "doc": pl.String, "context": pl.String, "label": pl.Float64}
    with store.database.read() as connection:
        rows = [tuple(row) for row in connection.execute(known)]
    return pl.DataFrame(rows, schema=schema, orient="row").unique(["query", "doc", "context"], maintain_order=True)


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
