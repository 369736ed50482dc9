"""Which tasks a judge may do now, as questions to the database, each built once: building takes longer than asking."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Exists,
    Select,
    and_,
    bindparam,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
    union,
)

from karat.labels.gold import GOLD
from karat.study.database import Prepared
from karat.study.kinds import KINDS, TaskKind
from karat.study.tables import bundles, exclusions, judges, reservations, tasks

#: A prime beside the lots: (task's lot x judge's lot) mod it orders a query's tasks differently for each judge.
PRIME = 30_011
#: States in which a judge may be given the same question again.
AGAIN = ("expired", "released")

Order = Literal["practice", "own", "query", "place", "pairs", "rest", "trap", "put off"]

STUDY: BindParameter[int] = bindparam("study")
JUDGE: BindParameter[int] = bindparam("judge")
GROUP: BindParameter[str] = bindparam("grp")
NOW: BindParameter[float] = bindparam("now")
#: What is kept beyond this was kept before the clock was set back (`Store.times`).
LATEST: BindParameter[float] = bindparam("latest")


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
_plain = tasks.alias("plain")
#: Whether the group is asked about documents that no plan drew, too: there, drawn ones must not stand out by their
#: order. The group of trusted judges may know them.
MIXED = exists().where(
    GROUP != GOLD,
    _plain.c.study_id == STUDY,
    _plain.c.grp == GROUP,
    _plain.c.stage == "task",
    _plain.c.place >= 0,  # not those that only hold labels from elsewhere
    _plain.c.doc.is_not(None),
    _plain.c.probability.is_(None),
    _plain.c.context.is_(None),
    _plain.c.subtopic.is_(None),
)


@cache
def candidates(order: Order, later: bool = False, apart: bool = False, *, hold: bool = True) -> Prepared:
    """The first task with a free slot that a judge may do, in some order; with `hold`, its row held, if nobody else is.

    `practice`; `own`: of bundles the judge has; `query`: of one query, shuffled; `place`: as they come; `pairs`: tasks
    with two sides in no bundle, shuffled over all queries, because a trap's query is any; `rest`: what
    others leave of their bundles, when there is nothing else; `trap`; `put off`: a trap that was. With `later`, also
    what the judge has put off; with `apart`, nothing that would come too soon. Documents that a plan drew are not kept
    together by query: those with a label are a random part of the draw at any time. But a group other than gold that is
    asked about other documents, too, gets them all alike, or it would know which of its labels are held against gold.
    """
    which: dict[Order, list[ColumnElement[bool]]] = {
        "put off": [_put_off()],
        "own": [tasks.c.bundle_id.in_(select(bundles.c.id).where(bundles.c.owner_id == JUDGE))],
        "query": [tasks.c.query == bindparam("query"), or_(not_(DRAWN), MIXED)],
        "pairs": [SIDED, tasks.c.bundle_id.is_(None)],
    }
    by = {"own": [tasks.c.session, tasks.c.place, SHUFFLED], "query": [SHUFFLED, tasks.c.id]}
    by |= {"pairs": [SHUFFLED, tasks.c.id]}
    by |= {"trap": [SHUFFLED], "put off": [SHUFFLED]}
    stage = {"practice": "practice", "trap": "trap", "put off": "trap"}.get(order, "task")
    mine = _open(later or order == "put off", rest=order == "rest")
    mine = mine.where(_its_session(), tasks.c.stage == stage, *which.get(order, []))
    if apart and stage == "task":
        mine = mine.where(not_(_too_soon()))
    mine = mine.order_by(*by.get(order, [tasks.c.place]))
    first = mine.limit(1)
    return Prepared(first.with_for_update(of=tasks, skip_locked=True) if hold else first)


def _open(later: bool, *, rest: bool = False) -> Select[Any]:
    """The tasks with a free slot that this judge may do; with `rest`, those which bundles keep together no longer."""
    barred = or_(_met(later), _excluded(tasks.c.kind))
    mine = (tasks.c.study_id == STUDY, tasks.c.grp == GROUP, tasks.c.open, not_(barred))
    return select(tasks).where(*mine, _rest() if rest else _together(), or_(tasks.c.first_item.is_(None), _answered()))


def _answered() -> ColumnElement[bool]:
    """Whether this judge answered the question that a task asks again, and long enough ago."""
    first = reservations.alias("first")
    mine = (first.c.judge_id == JUDGE, first.c.item == tasks.c.first_item, first.c.state == "answered")
    return exists().where(*mine, first.c.changed <= bindparam("again"))


def asked_again() -> Select[Any]:
    """When this judge gave the first of the answers that are to be asked for again."""
    first = reservations.alias("first")
    mine = (first.c.judge_id == JUDGE, first.c.state == "answered", tasks.c.study_id == STUDY, tasks.c.grp == GROUP)
    found = select(func.min(first.c.changed)).join(tasks, tasks.c.first_item == first.c.item)
    return found.where(*mine, tasks.c.open, not_(_met(True)), not_(_excluded(tasks.c.kind)))


def _met(later: bool) -> ColumnElement[bool]:
    """Whether this judge has met the question; with `later`, what was put off is not among these."""
    again = (*AGAIN, "later") if later else AGAIN
    return exists().where(
        reservations.c.judge_id == JUDGE, reservations.c.item == tasks.c.item, reservations.c.state.not_in(again)
    )


def _excluded(kind: ColumnElement[Any], judge: ColumnElement[Any] = JUDGE) -> Exists:
    """Whether a judge is given no more tasks of a kind."""
    out = exclusions.alias("out")
    return exists().where(out.c.judge_id == judge, out.c.kind == kind)


def _put_off() -> ColumnElement[bool]:
    """Whether this judge has put the question off."""
    return exists().where(
        reservations.c.judge_id == JUDGE, reservations.c.item == tasks.c.item, reservations.c.state == "later"
    )


def _others() -> ColumnElement[bool]:
    """Whether the bundle is another judge's."""
    return and_(
        bundles.c.owner_id.is_not(None),
        bundles.c.owner_id != JUDGE,
        or_(bundles.c.until.is_(None), bundles.c.until.between(NOW, LATEST)),
    )


def _planned_for() -> ColumnElement[bool]:
    """Whether nobody has begun the bundle, and it is planned for another.

    A plan's "judge 1" is the judge of that name; where there is none at work, or the bundle was given back, whoever
    comes first.
    """
    other = judges.alias("other")
    named = exists().where(
        other.c.study_id == STUDY,
        other.c.id != JUDGE,
        other.c.state == "active",
        other.c.source != "import",
        bundles.c.name == literal("judge:").concat(other.c.grp).concat(":").concat(other.c.name),
    )
    return and_(bundles.c.owner_id.is_(None), bundles.c.until.is_(None), named)


def _together() -> ColumnElement[bool]:
    """A bundle is one judge's; nobody begins a block of which they know a part: it would be left unfinished."""
    taken = exists().where(bundles.c.id == tasks.c.bundle_id, or_(_others(), _planned_for()))
    part, known = tasks.alias("part"), reservations.alias("known")
    begun = exists().where(
        bundles.c.id == tasks.c.bundle_id,
        func.substr(bundles.c.name, 1, 6) == "block:",  # for LIKE, SQLite would plan the question anew each time
        or_(bundles.c.owner_id.is_(None), bundles.c.owner_id != JUDGE),
        part.c.bundle_id == tasks.c.bundle_id,
        not_(part.c.trap),
        known.c.judge_id == JUDGE,
        known.c.item == part.c.item,
    )
    return or_(tasks.c.bundle_id.is_(None), not_(or_(taken, begun)))


def _rest() -> ColumnElement[bool]:
    """What can be done in no other way: the bundle's judge cannot, or everybody knows a part of the block."""
    owners = reservations.alias("owners")
    met = exists().where(
        owners.c.judge_id == bundles.c.owner_id,
        owners.c.item == tasks.c.item,
        owners.c.state.not_in((*AGAIN, "later")),
    )
    cannot = or_(met.correlate(bundles, tasks), _excluded(tasks.c.kind, bundles.c.owner_id).correlate(bundles, tasks))
    taken = exists().where(bundles.c.id == tasks.c.bundle_id, or_(and_(_others(), not_(cannot)), _planned_for()))
    return and_(tasks.c.bundle_id.is_not(None), not_(tasks.c.trap), not_(taken))


def _its_session() -> ColumnElement[bool]:
    """Planned sessions come one after the other: the next when this judge can do nothing more of the one before.

    A trap holds nobody up: the bundle's owner gets it in its session anyway, and others who go on for them never do.
    """
    before, mine = tasks.alias("before"), reservations.alias("mine")
    met = exists().where(mine.c.judge_id == JUDGE, mine.c.item == before.c.item, mine.c.state.not_in((*AGAIN, "later")))
    held = exists().where(mine.c.judge_id == JUDGE, mine.c.task_id == before.c.id, mine.c.state == "held")
    early = exists().where(
        before.c.bundle_id == tasks.c.bundle_id,
        before.c.session < tasks.c.session,
        or_(and_(before.c.open, not_(or_(met, _excluded(before.c.kind), before.c.trap))), held),
    )
    return or_(tasks.c.bundle_id.is_(None), tasks.c.session.is_(None), not_(early))


def waiting() -> Select[Any]:
    """The queries, alone or in context, of what a judge may do when some hours have passed since the other."""
    found = [
        _open(True, rest=rest).where(_its_session(), tasks.c.stage == "task", _too_soon()) for rest in (False, True)
    ]
    either = found[0].union_all(found[1]).subquery()
    return select(either.c.query, either.c.context.is_(None).label("alone")).distinct()


def kept_by_others() -> tuple[Select[Any], Select[Any]]:
    """When the first slot comes free that others merely keep and this judge could fill: of single tasks, of blocks."""
    mine = (tasks.c.study_id == STUDY, tasks.c.grp == GROUP, tasks.c.stage == "task", not_(tasks.c.trap))
    wanted = (*mine, tasks.c.wanted > tasks.c.filled, not_(_met(True)), not_(_excluded(tasks.c.kind)))
    kept = reservations.alias("kept")
    single = select(func.min(kept.c.until)).join(tasks, tasks.c.id == kept.c.task_id)
    single = single.where(*wanted, tasks.c.bundle_id.is_(None), kept.c.state == "held", kept.c.judge_id != JUDGE)
    block = select(func.min(bundles.c.until)).join(tasks, tasks.c.bundle_id == bundles.c.id)
    return single, block.where(*wanted, bundles.c.owner_id != JUDGE, bundles.c.until.between(NOW, LATEST))


@cache
def open_for() -> Prepared:
    """How many questions a judge may still be asked: those with a free slot, in whatever session, and those in work.

    Traps that are in no block are not among them, but for those in work: `traps_to_come` has these.
    """
    held = select(tasks.c.item).join(reservations, reservations.c.task_id == tasks.c.id)
    held = held.where(reservations.c.judge_id == JUDGE, reservations.c.state == "held", not_(tasks.c.practice))
    return Prepared(select(func.count()).select_from(union(*_free(), held).subquery()))


@cache
def loose_pairs() -> Prepared:
    """How many tasks with two sides, in no bundle, may still come to a judge: traps come between these."""
    return Prepared(select(func.count()).select_from(union(*_free(SIDED, tasks.c.bundle_id.is_(None))).subquery()))


def _free(*which: ColumnElement[bool]) -> list[Select[Any]]:
    both = (_open(True, rest=rest).where(tasks.c.stage == "task", *which) for rest in (False, True))
    return [found.with_only_columns(tasks.c.item) for found in both]


@cache
def traps_left(put_off: bool) -> Prepared:
    """How many traps a judge has not met, or has put off."""
    found = _open(put_off).where(tasks.c.stage == "trap", *([_put_off()] if put_off else []))
    return Prepared(select(func.count()).select_from(found.with_only_columns(tasks.c.id).subquery()))


def _too_soon() -> ColumnElement[bool]:
    """A document in context soon after one of its query alone, or the other way round."""
    alone = and_(tasks.c.context.is_not(None), tasks.c.query.in_(bindparam("alone", expanding=True)))
    given = and_(tasks.c.context.is_(None), tasks.c.query.in_(bindparam("given", expanding=True)))
    return and_(GRADING, or_(alone, given))
