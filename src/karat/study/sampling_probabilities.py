"""The chance with which tasks were drawn, kept with them.

Of documents by themselves, which gold labels are given to, a group of judges has one draw at a time. Chances of two
draws beside each other are wrong, and nobody could tell later: so whatever brings chances into a study (a plan, a file
of tasks, labels collected elsewhere) does it here. Documents in context, subtopics and pairs keep the chance they have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update

from karat.errors import BadInput
from karat.records.table import count
from karat.study.kinds import KINDS
from karat.study.store import Store
from karat.study.tables import tasks

#: What is asked of a group: the group, and the question's short name.
Asked = tuple[str, str]

_SET = (
    update(tasks)
    .where(tasks.c.id == bindparam("task"))
    .values(probability=bindparam("p"), round=bindparam("r"), drawn_for=bindparam("f"))
)


class Draw(NamedTuple):
    """The chance of a document to be drawn, the round of gold labels in which it was, and what the draw was for."""

    probability: float | None = None
    round: int | None = None
    drawn_for: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Draw:
        """The draw that a row tells of."""
        return cls(row["probability"], row["round"], row["drawn_for"])

    @property
    def number(self) -> int:
        """The number of the round; the first is often not said."""
        return self.round or 1


@dataclass(frozen=True)
class Chances:
    """What became of the chances of a draw."""

    #: What had none and has one now.
    set: frozenset[Asked] = frozenset()
    #: What has another, which stands.
    other: frozenset[Asked] = frozenset()
    #: What has one of a later round, which stands.
    later: frozenset[Asked] = frozenset()
    #: What an earlier round had and this one has not: no part of the sample any more.
    gone: frozenset[Asked] = frozenset()
    #: What was drawn beside others before it, which is right if both are parts of one draw.
    beside: frozenset[Asked] = frozenset()

    def __or__(self, other: Chances) -> Chances:
        return Chances(*(getattr(self, part.name) | getattr(other, part.name) for part in fields(self)))


def keep_chances(store: Store, drawn: Mapping[Asked, Draw]) -> Chances:
    """Keep the chances of a draw with their tasks, which are there already.

    The chance is the document's, not the label's: it holds for labels that were given before the draw as well, because
    the draw did not ask who has a label. Of a later round than the study's the chances stand for all before it, as they
    go for the rounds together; those of an earlier one are left aside. Another draw of the same round is refused.
    """
    groups = sorted({group for group, _ in drawn})
    if not groups:
        return Chances()
    names = ("id", "grp", "item", *Draw._fields, "kind", "context", "subtopic", "practice")
    mine = (tasks.c.study_id == store.study_id, tasks.c.grp.in_(groups))
    parts: dict[tuple[str, bool], list[Any]] = {}
    for row in store.rows(select(*(tasks.c[name] for name in names)).where(*mine).order_by(tasks.c.id)):
        whole = row["context"] is None and row["subtopic"] is None and not row["practice"]
        alone = whole and KINDS[row["kind"]].grades
        parts.setdefault((row["grp"], alone), []).append(row)
    found = Chances()
    for (group, alone), rows in sorted(parts.items()):
        keyed = [((group, row["item"]), row) for row in rows]
        had = {key: Draw.of(row) for key, row in keyed if row["probability"] is not None}
        new = {key: drawn[key] for key, _ in keyed if key in drawn}
        if new:
            wanted, chances = _decide(new, had) if alone else _where_none_is(new, had)
            draws = [(row["id"], wanted[key]) for key, row in keyed if key in wanted]
            if draws:
                rows = [{"task": task, **dict(zip("prf", draw, strict=True))} for task, draw in draws]
                store.change(_SET, rows)
            found |= chances
    return found


def _where_none_is(new: Mapping[Asked, Draw], had: Mapping[Asked, Draw]) -> tuple[dict[Asked, Draw], Chances]:
    """The chances to write where one that is there stands."""
    fresh = frozenset(new.keys() - had.keys())
    return {key: new[key] for key in fresh}, Chances(set=fresh, other=_unlike(new, had))


def _unlike(new: Mapping[Asked, Draw], had: Mapping[Asked, Draw]) -> frozenset[Asked]:
    chances = ((key, new[key].probability, had[key].probability) for key in new.keys() & had.keys())
    return frozenset(key for key, one, other in chances if not math.isclose(one or 0, other or 0, rel_tol=1e-9))


def _decide(new: Mapping[Asked, Draw], had: Mapping[Asked, Draw]) -> tuple[dict[Asked, Draw], Chances]:
    """The chances to write of documents by themselves, and what became of them; those of one group."""
    this = max(draw.number for draw in new.values())
    before = max((draw.number for draw in had.values()), default=0)
    fresh = frozenset(new.keys() - had.keys())
    other = _unlike(new, had)
    if not had:
        return dict(new), Chances(set=fresh)
    if this > before:
        gone = frozenset(had.keys() - new.keys())
        return dict(new) | dict.fromkeys(gone, Draw()), Chances(set=fresh, gone=gone)
    if this < before:
        return {}, Chances(later=other | fresh)
    if other:
        raise BadInput.at(
            "the draw",
            expected="the one that the study has",
            found=f"another of the same round: {count(len(other), 'document')} with other probabilities",
            remedy="more gold labels are drawn with karat plan gold --gold; another draw needs a group of its own",
        )
    whole = had.keys() <= new.keys()  # the same draw again, of which a part was there
    return {key: new[key] for key in fresh}, Chances(set=fresh, beside=frozenset() if whole else fresh)
