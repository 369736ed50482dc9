"""A plan of gold labels of which some are there: a second round, or a first one filled in in part elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from sqlalchemy import Connection, select

from karat.records import Judgments
from karat.store.imported import Imported, import_records
from karat.store.probabilities import Asked, Draw, begin_round, set_probabilities
from karat.store.store import Store
from karat.store.tables import answers, tasks
from karat.store.task_rows import task_rows
from karat.store.tasks import Added, add_tasks, item_of


@dataclass(frozen=True)
class Taken:
    """What came of a plan: its new tasks, its labels, and how many tasks of an earlier round it does not have."""

    tasks: Added
    labels: Imported
    gone: int


def is_plan(labels: Judgments) -> bool:
    """Whether labels are a plan that waits for some of them, and not what judges said, who may be unable to tell.

    >>> is_plan(Judgments.of([{"query": "q", "doc": "d", "label": None, "probability": 0.5}]))
    True
    """
    return labels.has("probability") and not labels.has("judge") and labels.frame["label"].null_count() > 0


def take_plan(store: Store, plan: Judgments, *, name: str) -> Taken:
    """Ask for the labels that a plan waits for, keep those that it has, and the probabilities of all.

    Its labels are by the judge `name`, but where the study has a label of the document already that one counts: it is
    the same, on its way through a file. Where the plan has a later round of gold labels than the study, its
    probabilities stand for the earlier ones.
    """
    groups = store.groups
    rows = task_rows(plan.frame, store.scale, groups)
    asked = [_asked(row, groups) for row in rows]
    drawn = {
        key: Draw(row["probability"], row["round"])
        for row, keys in zip(rows, asked, strict=True)
        for key in keys
        if row["probability"] is not None
    }

    def work(connection: Connection) -> tuple[int, set[Asked]]:
        gone = begin_round(connection, store, drawn)
        set_probabilities(connection, store, drawn)
        found = select(tasks.c.grp, tasks.c.item).join(answers, answers.c.task_id == tasks.c.id)
        labelled = connection.execute(found.where(tasks.c.study_id == store.study_id).distinct())
        return gone, {(row.grp, row.item) for row in labelled}

    gone, labelled = store.database.write(work)
    waits = plan.frame["label"].is_null()
    new = ~waits & pl.Series([not labelled.intersection(keys) for keys in asked], dtype=pl.Boolean)
    added = add_tasks(store, plan.frame.filter(waits).drop("label"))
    labels = import_records(store, replace(plan, frame=plan.frame.filter(new)), name=name)
    return Taken(added, labels, gone)


def _asked(row: dict[str, Any], groups: tuple[str, ...]) -> list[Asked]:
    item = item_of(**{name: row[name] for name in ("kind", "query", "doc", "context", "subtopic")})
    return [(group, item) for group in ([row["group"]] if row["group"] else groups)]
