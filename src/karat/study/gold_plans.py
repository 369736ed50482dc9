"""A plan of gold labels with those of its labels that are there: a second round, or one filled in elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from sqlalchemy import select

from karat.errors import BadInput
from karat.records import Judgments
from karat.study.imports import Imported, import_records
from karat.study.kinds import KINDS
from karat.study.sampling_probabilities import Asked, Chances, Draw, keep_chances
from karat.study.store import Store, transaction
from karat.study.tables import events, tasks
from karat.study.tasks import Added, add_tasks, task_row


@dataclass(frozen=True)
class Taken:
    """What came of a plan: its new tasks, its labels, and its chances."""

    tasks: Added
    labels: Imported
    #: Labels unlike those that the study has of the document, which stand.
    unlike: int
    chances: Chances
    #: What was there already and had no probability before.
    probabilities: int


def is_plan(labels: Judgments) -> bool:
    """Whether labels are a plan, filled in as far as it is, and not only what judges said, who may be unable to tell.

    >>> is_plan(Judgments.of([{"query": "q", "doc": "d", "label": None, "probability": 0.5}]))
    True
    """
    return labels.has("probability") and not (labels.has("judge") and labels.frame["judge"].null_count() == 0)


@transaction
def take_plan(store: Store, plan: Judgments, *, name: str) -> Taken:
    """Ask for the labels that a plan waits for, keep those that it has, and the chances of all; all of it or nothing.

    A label whose judge the plan does not name is by the judge `name`. Those of earlier rounds are not taken where the
    study was told one: it is the same, on its way through a file, or was rejected meanwhile.
    """
    named = plan.has("group") and plan.frame["group"].null_count() == 0
    if len(store.groups) > 1 and plan.frame["label"].count() and not named:
        raise BadInput.at(
            "the plan",
            expected=f"the group that it is for, of {', '.join(store.groups)}",
            found="none",
            remedy="name it with --default-group, or in a column group",
        )
    rows = [
        task_row(raw, f"the label of document {raw['doc']} of query {raw['query']}", store.scale)
        for raw in plan.frame.iter_rows(named=True)
    ]
    surfaces = plan.frame["surface"] if plan.has("surface") else [None] * len(rows)
    asked = [_asked(row, surface, store.groups) for row, surface in zip(rows, surfaces, strict=True)]
    drawn = {
        key: Draw.of(row)
        for row, keys in zip(rows, asked, strict=True)
        for key in keys
        if row["probability"] is not None
    }
    bare = plan.frame.drop(*Draw._fields, strict=False)
    nameless = bare["judge"].is_null() if "judge" in bare.columns else pl.repeat(True, bare.height, eager=True)
    waits = nameless & bare["label"].is_null()
    rounds = pl.Series([row["round"] or 1 for row in rows], dtype=pl.Int64)
    earlier = rounds < rounds.max()
    there = _labels(store)
    known = [{label for key in keys for label in there.get(key, ())} for keys in asked]
    again = nameless & ~waits & earlier & pl.Series([bool(labels) for labels in known], dtype=pl.Boolean)
    unlike = sum(
        label not in labels for label, labels, said_again in zip(bare["label"], known, again, strict=True) if said_again
    )
    added = add_tasks(store, bare.filter(waits).drop("label", "judge", strict=False), drawn=True)
    given = bare.filter(~waits & ~again).drop("order", strict=False)
    labels = import_records(store, replace(plan, frame=given), name=name)
    chances = keep_chances(store, drawn)
    return Taken(added, labels, unlike, chances, len(chances.set & there.keys()))


def _labels(store: Store) -> dict[Asked, set[float | None]]:
    """The labels that were ever said to each question of the study."""
    found: dict[Asked, set[float | None]] = {}
    mine = select(tasks.c.grp, tasks.c.item, events.c.label, events.c.id).where(tasks.c.study_id == store.study_id)
    said = (events.c.task_id == tasks.c.id) & (events.c.kind == "answer")
    for row in store.rows(mine.outerjoin(events, said)):
        found.setdefault((row["grp"], row["item"]), set()).update([] if row["id"] is None else [row["label"]])
    return found


def _asked(row: dict[str, Any], surface: str | None, groups: tuple[str, ...]) -> list[Asked]:
    item = KINDS[row["kind"]].item(row | {"surface": surface})
    return [(group, item) for group in ([row["group"]] if row["group"] else groups)]
