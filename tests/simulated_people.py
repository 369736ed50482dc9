"""Judges who grade all that they are given, as far off the truth as they are told."""

from __future__ import annotations

from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.queue import next_task
from karat.study.store import Store


def work_through(store: Store, judge: int, shift: int, seconds: float) -> None:
    """Grade every document; on a scale of four grades the truth of d7 is 3, of a document without a number 0."""
    while (task := next_task(store, judge).task) is not None:
        truth = int(task["doc"][1:] or 0)
        label = float((truth + shift) % len(store.scale.grades))
        answer(store, judge, task["id"], Answer(label=label, seconds=seconds))
