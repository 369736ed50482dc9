"""A study of the store with a clock to turn, and judges who answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import polars as pl
from sqlalchemy import select

from karat.records import Rules, Scale, StudyDesign
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store
from karat.study.tables import tasks

OPEN: list[Store] = []


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Place:
    """A study with a clock to turn."""

    store: Store
    clock: Clock = field(default_factory=Clock)

    def judge(self, **more: Any) -> int:
        return int(add_judge(self.store, **more)[0]["id"])

    def next(self, judge: int) -> dict[str, Any]:
        turn = next_task(self.store, judge)
        assert turn.task is not None, turn.state
        return turn.task

    def say(self, judge: int, label: float) -> int:
        task = self.next(judge)
        answer(self.store, judge, task["id"], Answer(label=label))
        return int(task["id"])

    def counts(self) -> list[tuple[int, int, int]]:
        with self.store.database.read() as connection:
            mine = select(tasks.c.wanted, tasks.c.filled, tasks.c.held).where(tasks.c.study_id == self.store.study_id)
            return [(row.wanted, row.filled, row.held) for row in connection.execute(mine.order_by(tasks.c.id))]


def place(database: str, groups: tuple[str, ...] = ("judges",), **rules: Any) -> Place:
    clock = Clock()
    study = StudyDesign(uuid4().hex, "One", Scale.parse("0..3"), groups=groups, rules=Rules(**rules))
    store = Store.open(database, study, clock=clock)
    OPEN.append(store)
    return Place(store, clock)


def documents(*docs: str, query: str = "q") -> pl.DataFrame:
    return pl.DataFrame({"query": [query] * len(docs), "doc": list(docs)})
