"""The chance with which a task was drawn, put on tasks that were there before the draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select, update

from karat.store.store import Store
from karat.store.tables import tasks

#: What is asked of a group: the group, and the question's short name.
Asked = tuple[str, str]

_SET = update(tasks).where(tasks.c.id == bindparam("task"))


@dataclass(frozen=True)
class Chances:
    """Which questions got their probability now, and which have another one that stands; one entry for each task."""

    set: tuple[Asked, ...] = ()
    other: tuple[Asked, ...] = ()


def set_probabilities(connection: Connection, store: Store, drawn: Mapping[Asked, float]) -> Chances:
    """Put the probabilities of a draw on all tasks that ask the same; one that is there already stands.

    The probability is the document's, not the label's: it holds for labels that were given before the draw as well,
    because the draw did not ask who has a label.
    """
    if not drawn:
        return Chances()
    mine = select(tasks.c.id, tasks.c.grp, tasks.c.item, tasks.c.probability).where(tasks.c.study_id == store.study_id)
    found, other, values = [], [], []
    for row in connection.execute(mine.order_by(tasks.c.id)):
        wanted = drawn.get((row.grp, row.item))
        if wanted is None or row.probability == wanted:
            continue
        if row.probability is not None:
            other.append((row.grp, row.item))
            continue
        found.append((row.grp, row.item))
        values.append({"task": row.id, "probability": wanted})
    if values:
        connection.execute(_SET, values)
    return Chances(tuple(found), tuple(other))
