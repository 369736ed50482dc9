"""The log: every answer, undo and rejection is a new row; what counts now is a view over it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, select, update

from karat.study.database import Prepared
from karat.study.store import NotYours, Store
from karat.study.tables import answers, events, reservations, tasks

_NEW = Prepared.new_row(events)
_TASK: BindParameter[int] = bindparam("task")
_LABELS = Prepared(select(answers.c.label).where(answers.c.task_id == _TASK).order_by(answers.c.id))
_HELD = select(func.count()).where(reservations.c.task_id == _TASK, reservations.c.state == "held").scalar_subquery()
_RULES = Prepared(select(tasks.c.base, tasks.c.apart, _HELD.label("now_held")).where(tasks.c.id == _TASK))
_COUNTS = Prepared(update(tasks).where(tasks.c.id == _TASK).values(dict.fromkeys(("filled", "held", "wanted", "open"))))
_LOCK = Prepared(select(tasks).where(tasks.c.id == _TASK).with_for_update())


@dataclass(frozen=True)
class Answer:
    """What a judge says of a task: a grade with aspects, a choice with a reason, or classes."""

    label: float | None = None
    aspects: dict[str, float | None] = field(default_factory=dict)
    #: Of the snippet, where it was graded before the page.
    snippet: float | None = None
    choice: str | None = None
    strength: float | None = None
    reason: str | None = None
    chips: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    comment: str | None = None
    surface: str | None = None
    seconds: float | None = None
    away: float | None = None
    #: The sender's own: the same answer sent twice counts once.
    key: str | None = None

    @property
    def more(self) -> dict[str, Any]:
        """What has no column of its own."""
        parts = {"aspects": self.aspects, "chips": list(self.chips), "classes": list(self.classes)}
        said = {name: value for name, value in parts.items() if value}
        return said if self.snippet is None else said | {"snippet": self.snippet}


def log(
    store: Store,
    kind: str,
    *,
    judge_id: int | None = None,
    task_id: int | None = None,
    target_id: int | None = None,
    answer: Answer | None = None,
    left: str | None = None,
    right: str | None = None,
    more: dict[str, Any] | None = None,
    key: str | None = None,
) -> int:
    """Append an event; returns its number."""
    said = answer or Answer()
    extra = said.more | (more or {}) | ({} if store.by is None else {"by": store.by})
    row = {
        "study_id": store.study_id,
        "kind": kind,
        "at": store.clock(),
        "judge_id": judge_id,
        "task_id": task_id,
        "target_id": target_id,
        "key": said.key or key,
        **{name: getattr(said, name) for name in ("label", "choice", "strength", "reason", "comment")},
        **{name: getattr(said, name) for name in ("surface", "seconds", "away")},
        "a": left,
        "b": right,
        "more": json.dumps(extra, ensure_ascii=False) if extra else None,
    }
    return store.add(_NEW, row)


def in_log(store: Store, kind: str, at: float) -> bool:
    """Whether the log has an event of this kind and moment."""
    mine = (events.c.study_id == store.study_id, events.c.kind == kind, events.c.at == at)
    return store.first(select(events.c.id).where(*mine).limit(1)) is not None


def recount(store: Store, task_id: int) -> None:
    """Bring a task's counts in line with the log and the reservations; the caller holds the task's row."""
    task = store.rows(_RULES, task=task_id)[0]
    given = [row["label"] for row in store.rows(_LABELS, task=task_id)]
    held, wanted = task["now_held"], labels_wanted(task["base"], task["apart"], given)
    counts = {"filled": len(given), "held": held, "wanted": wanted, "open": wanted > len(given) + held}
    store.change(_COUNTS, {"task": task_id} | counts)


def labels_wanted(base: int, apart: float | None, given: Sequence[float | None]) -> int:
    """How many labels a task asks for as things stand: one more when the first ones are far apart.

    >>> labels_wanted(2, 1.0, [0.0]), labels_wanted(2, 1.0, [0.0, 1.0]), labels_wanted(2, 1.0, [1.0, 1.0, 3.0])
    (2, 3, 2)
    """
    if apart is None or base < 2 or len(given) < base:
        return base
    first = [label for label in given[:base] if label is not None]
    return base + (bool(first) and max(first) - min(first) >= apart)


def lock_task(store: Store, task_id: int) -> dict[str, Any]:
    """The task's row, held until the transaction ends."""
    found = store.first(_LOCK, task=task_id)
    if found is None:
        raise NotYours("there is no such task for you")
    return found
