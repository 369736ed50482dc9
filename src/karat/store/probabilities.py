"""The chance with which a task was drawn, put on tasks that were there before it; a later round has them anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from karat.store.store import Store
from karat.store.tables import tasks

#: What is asked of a group: the group, and the question's short name.
Asked = tuple[str, str]


class Draw(NamedTuple):
    """The chance of a document to be drawn, and the round of gold labels in which it was; no round is the first."""

    probability: float | None = None
    round: int | None = None


_SET = update(tasks).where(tasks.c.id == bindparam("task")).values(probability=bindparam("p"), round=bindparam("r"))
_DRAWN = select(tasks.c.id, tasks.c.grp, tasks.c.item, tasks.c.probability, tasks.c.round)


@dataclass(frozen=True)
class Chances:
    """Which questions got their probability now, and which have another one that stands; one entry for each task."""

    set: tuple[Asked, ...] = ()
    other: tuple[Asked, ...] = ()


def set_probabilities(connection: Connection, store: Store, drawn: Mapping[Asked, Draw]) -> Chances:
    """Put the probabilities of a draw on all tasks that ask the same; one that is there already stands.

    The probability is the document's, not the label's: it holds for labels that were given before the draw as well,
    because the draw did not ask who has a label.
    """
    if not drawn:
        return Chances()
    found, other, values = [], [], []
    mine = _DRAWN.where(tasks.c.study_id == store.study_id).order_by(tasks.c.id)
    for row in connection.execute(mine):
        wanted = drawn.get((row.grp, row.item))
        if wanted is None or row.probability == wanted.probability:
            continue
        if row.probability is not None:
            other.append((row.grp, row.item))
            continue
        found.append((row.grp, row.item))
        values.append({"task": row.id, "p": wanted.probability, "r": wanted.round})
    if values:
        connection.execute(_SET, values)
    return Chances(tuple(found), tuple(other))


def begin_round(connection: Connection, store: Store, drawn: Mapping[Asked, Draw]) -> int:
    """Let the probabilities of a plan with a later round stand for those before it; how many tasks have none now.

    A later round has chances for all rounds together, and two rounds' chances beside each other would be wrong: of the
    groups that it asks, tasks that it does not have are no part of the sample any more.
    """
    mine = _DRAWN.where(tasks.c.study_id == store.study_id, tasks.c.probability.is_not(None))
    rows = connection.execute(mine.order_by(tasks.c.id)).all()
    before = max((row.round or 1 for row in rows), default=0)
    if not rows or max((draw.round or 1 for draw in drawn.values()), default=0) <= before:
        return 0
    groups, values, gone = {group for group, _ in drawn}, [], 0
    for row in rows:
        if row.grp in groups:
            draw = drawn.get((row.grp, row.item), Draw())
            gone += draw.probability is None
            values.append({"task": row.id, "p": draw.probability, "r": draw.round})
    if values:
        connection.execute(_SET, values)
    return gone
