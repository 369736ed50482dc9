"""The questions to the database behind the queue, each built once: building takes longer than asking."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, exists, func, literal, not_, or_, select

from karat.store.kinds import KINDS, TaskKind
from karat.store.tables import answers, bundles, judges, reservations, tasks

#: A prime beside the lots: (task's lot x judge's lot) mod it orders a query's tasks differently for each judge.
PRIME = 30_011
#: States in which a judge may be given the same question again.
AGAIN = ("expired", "released")

Order = Literal["practice", "own", "query", "place", "trap", "waiting"]

STUDY: BindParameter[int] = bindparam("study")
JUDGE: BindParameter[int] = bindparam("judge")
GROUP: BindParameter[str] = bindparam("grp")
NOW: BindParameter[float] = bindparam("now")


def _of_kinds(name: str, has: Callable[[TaskKind], bool]) -> ColumnElement[bool]:
    """Tasks of kinds that have something, as the kinds are when the question is put."""
    known: BindParameter[Any] = bindparam(
        name, callable_=lambda: [kind.name for kind in KINDS.values() if has(kind)], expanding=True
    )
    return tasks.c.kind.in_(known)


GRADING = _of_kinds("grading", lambda kind: kind.grades)
SIDED = _of_kinds("sided", lambda kind: kind.sides)
SHUFFLED = (tasks.c.lot * bindparam("lot")) % PRIME
#: Documents by themselves that a plan drew for gold labels.
DRAWN = and_(tasks.c.probability.is_not(None), tasks.c.context.is_(None), tasks.c.subtopic.is_(None))


@cache
def candidates(order: Order, later: bool = False) -> Select[Any]:
    """The first task with a free slot that a judge may do, in some order, its row held where nobody else is at it.

    `practice`; `own`: of bundles the judge has; `query`: of one query, shuffled; `place`: as they come; `trap`;
    `waiting`: those that come too soon after others. With `later`, also what the judge has put off. Documents that a
    plan drew are not kept together by query: those with a label are a random part of the draw at any time.
    """
    own: BindParameter[Any] = bindparam("own", expanding=True)
    which: dict[Order, list[ColumnElement[bool]]] = {
        "practice": [],
        "trap": [],
        "waiting": [_too_soon()],
        "own": [not_(_too_soon()), tasks.c.bundle_id.in_(own)],
        "query": [not_(_too_soon()), tasks.c.query == bindparam("query"), not_(DRAWN)],
        "place": [not_(_too_soon())],
    }
    by = {"trap": [SHUFFLED], "own": [tasks.c.session, tasks.c.place, SHUFFLED], "query": [SHUFFLED, tasks.c.id]}
    stage = order if order in ("practice", "trap") else "task"
    mine = _open(later).where(_its_session(), tasks.c.stage == stage, *which[order])
    mine = mine.order_by(*by.get(order, [tasks.c.place]))
    return mine.limit(1).with_for_update(of=tasks, skip_locked=True)


def _open(later: bool) -> Select[Any]:
    """The tasks with a free slot that this judge may do."""
    again = (*AGAIN, "later") if later else AGAIN
    met = exists().where(
        reservations.c.judge_id == JUDGE, reservations.c.item == tasks.c.item, reservations.c.state.not_in(again)
    )
    # A plan's "judge 1" is the judge of that name; where there is none, whoever comes first.
    other = judges.alias("other")
    named = exists().where(
        other.c.study_id == STUDY,
        other.c.id != JUDGE,
        bundles.c.name == literal("judge:").concat(other.c.grp).concat(":").concat(other.c.name),
    )
    owned = and_(
        bundles.c.owner_id.is_not(None),
        bundles.c.owner_id != JUDGE,
        or_(bundles.c.until.is_(None), bundles.c.until >= NOW),
    )
    taken = exists().where(bundles.c.id == tasks.c.bundle_id, or_(owned, and_(bundles.c.owner_id.is_(None), named)))
    # Nobody begins a block of which they know a part: it would be left unfinished.
    part, known = tasks.alias("part"), reservations.alias("known")
    begun = exists().where(
        bundles.c.id == tasks.c.bundle_id,
        bundles.c.name.like("block:%"),
        or_(bundles.c.owner_id.is_(None), bundles.c.owner_id != JUDGE),
        part.c.bundle_id == tasks.c.bundle_id,
        not_(part.c.trap),
        known.c.judge_id == JUDGE,
        known.c.item == part.c.item,
    )
    return select(tasks).where(
        tasks.c.study_id == STUDY,
        tasks.c.grp == GROUP,
        tasks.c.open,
        not_(met),
        or_(tasks.c.bundle_id.is_(None), not_(or_(taken, begun))),
    )


def _its_session() -> ColumnElement[bool]:
    """Planned sessions come one after the other."""
    before = tasks.alias("before")
    early = exists().where(
        before.c.bundle_id == tasks.c.bundle_id, before.c.session < tasks.c.session, before.c.filled < before.c.wanted
    )
    return or_(tasks.c.bundle_id.is_(None), tasks.c.session.is_(None), not_(early))


@cache
def open_for() -> Select[Any]:
    """How many questions a judge may still be asked: those with a free slot, in whatever session, and those in work."""
    free = _open(later=True).where(tasks.c.stage == "task").with_only_columns(tasks.c.item)
    held = select(tasks.c.item).join(reservations, reservations.c.task_id == tasks.c.id)
    held = held.where(reservations.c.judge_id == JUDGE, reservations.c.state == "held", tasks.c.stage == "task")
    return select(func.count()).select_from(free.union(held).subquery())


def _too_soon() -> ColumnElement[bool]:
    """A document in context soon after one of its query alone, or the other way round."""
    alone = and_(tasks.c.context.is_not(None), tasks.c.query.in_(bindparam("alone", expanding=True)))
    given = and_(tasks.c.context.is_(None), tasks.c.query.in_(bindparam("given", expanding=True)))
    return and_(GRADING, or_(alone, given))


_GIVEN = select(
    tasks, reservations.c.state, reservations.c.until, reservations.c.turned, reservations.c.opened, reservations.c.made
).join(reservations, reservations.c.task_id == tasks.c.id)

#: A task that a judge was given.
GIVEN = _GIVEN.where(reservations.c.judge_id == JUDGE, tasks.c.id == bindparam("task"), tasks.c.study_id == STUDY)
#: An active judge's oldest task in work other than some; one taken back comes before what was fetched after it.
HELD = (
    _GIVEN.join(judges, judges.c.id == reservations.c.judge_id)
    .where(
        judges.c.state == "active",
        reservations.c.judge_id == JUDGE,
        reservations.c.state == "held",
        reservations.c.until >= NOW,
        tasks.c.id.not_in(bindparam("besides", expanding=True)),
    )
    .order_by(reservations.c.made, reservations.c.id)
    .limit(1)
)
OWN = select(bundles.c.id).where(bundles.c.owner_id == JUDGE)
HOW_MANY_HELD = select(func.count()).where(reservations.c.judge_id == JUDGE, reservations.c.state == "held")
DUE = (
    select(reservations.c.id, reservations.c.task_id)
    .where(reservations.c.study_id == STUDY, reservations.c.state == "held", reservations.c.until < NOW)
    .order_by(reservations.c.task_id)
    .limit(50)
)
TASK_IF_FREE = select(tasks.c.id).where(tasks.c.id == bindparam("task")).with_for_update(skip_locked=True)
JUDGE_LOCKED = select(judges).where(judges.c.id == JUDGE, judges.c.study_id == STUDY).with_for_update()
ANSWERED = select(func.count()).where(answers.c.judge_id == JUDGE, answers.c.study_id == STUDY)
LAST_QUERY = (
    select(tasks.c.query)
    .join(reservations, reservations.c.task_id == tasks.c.id)
    .where(reservations.c.judge_id == JUDGE)
    .order_by(reservations.c.changed.desc(), reservations.c.id.desc())
    .limit(1)
)
#: Tasks with two sides met so far, the traps among them.
PAIRS_MET = (
    select(func.count())
    .select_from(reservations.join(tasks, tasks.c.id == reservations.c.task_id))
    .where(
        reservations.c.judge_id == JUDGE,
        reservations.c.state.in_(("held", "answered")),
        SIDED,
        tasks.c.bundle_id.is_(None),
        not_(tasks.c.practice),
    )
)
ANY_CONTEXT = select(tasks.c.id).where(tasks.c.study_id == STUDY, tasks.c.context.is_not(None)).limit(1)
#: The queries that a judge has lately judged alone, and in context.
LATELY = (
    select(tasks.c.query, tasks.c.context.is_(None).label("alone"), func.max(reservations.c.changed).label("at"))
    .join(reservations, reservations.c.task_id == tasks.c.id)
    .where(
        reservations.c.judge_id == JUDGE,
        reservations.c.state.in_(("held", "answered")),
        reservations.c.changed > bindparam("since"),
        GRADING,
        not_(tasks.c.practice),
    )
    .group_by(tasks.c.query, tasks.c.context.is_(None))
)
MINE = select(reservations.c.id, reservations.c.turned, reservations.c.opened).where(
    reservations.c.judge_id == JUDGE, reservations.c.item == bindparam("asked")
)
