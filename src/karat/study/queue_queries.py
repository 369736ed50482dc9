"""What the queue asks the database beside the next task: what is held, kept too long, met and left to say.

Each is built once: building takes longer than asking.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, and_, bindparam, case, exists, func, not_, or_, select

from karat.study.database import Prepared
from karat.study.store import PLATFORMS
from karat.study.tables import answers, bundles, events, judges, reservations, tasks
from karat.study.task_candidates import (
    AGAIN,
    GRADING,
    GROUP,
    JUDGE,
    LATEST,
    NOW,
    SIDED,
    STUDY,
    asked_again,
    kept_by_others,
    waiting,
)

#: Slots that were kept too long are freed so many at a time.
AT_ONCE = 50

_KEPT = ("state", "until", "turned", "opened", "made")
_GIVEN = select(tasks, *(reservations.c[name] for name in _KEPT), reservations.c.id.label("given")).join(
    reservations, reservations.c.task_id == tasks.c.id
)

#: A task that a judge was given.
GIVEN = Prepared(
    _GIVEN.where(reservations.c.judge_id == JUDGE, reservations.c.id == bindparam("number"), tasks.c.study_id == STUDY)
)
#: An active judge's oldest task in work other than some; one taken back comes before what was fetched after it.
HELD = Prepared(
    _GIVEN.join(judges, judges.c.id == reservations.c.judge_id)
    .where(
        judges.c.state == "active",
        reservations.c.judge_id == JUDGE,
        reservations.c.state == "held",
        reservations.c.until >= NOW,
        reservations.c.id.not_in(bindparam("besides", expanding=True)),
    )
    .order_by(reservations.c.made, reservations.c.id)
    .limit(1)
)
HOW_MANY_HELD = Prepared(select(func.count()).where(reservations.c.judge_id == JUDGE, reservations.c.state == "held"))
_DUE = (
    reservations.c.study_id == STUDY,
    reservations.c.state == "held",
    or_(reservations.c.until < NOW, reservations.c.until > LATEST),
)
DUE = Prepared(
    select(reservations.c.id, reservations.c.task_id).where(*_DUE).order_by(reservations.c.task_id).limit(AT_ONCE)
)
_trap = tasks.alias("trap")
_TRAPS = exists().where(_trap.c.study_id == STUDY, _trap.c.grp == GROUP, _trap.c.stage == "trap", _trap.c.open)
#: Where there are traps, pairs in no bundle come in any order, so the query that a judge is at is not one of theirs.
_IN_ANY_ORDER = or_(tasks.c.trap, and_(SIDED, tasks.c.bundle_id.is_(None), not_(tasks.c.practice), _TRAPS))


def _query_met(*which: ColumnElement[bool], by: tuple[ColumnElement[Any], ...]) -> ScalarSelect[Any]:
    """The query of the judge's last task in some order, tasks that come in any order aside."""
    found = select(tasks.c.query).join(reservations, reservations.c.task_id == tasks.c.id)
    found = found.where(reservations.c.judge_id == JUDGE, not_(_IN_ANY_ORDER), *which)
    return found.order_by(*(column.desc() for column in by)).limit(1).scalar_subquery()


#: What decides which questions are put: whether something was kept too long, whether there are practice, context,
#: bundles or traps at all, whether the judge has bundles or put something off, and the query that the judge is at.
#: That is the query of the task fetched last, as long as the judge holds any. If it were that of the last answer, a
#: task fetched ahead for another query would make two queries alternate. Asked at once, because each question costs as
#: much.
SITUATION = Prepared(
    select(
        exists().where(*_DUE).label("due"),
        exists()
        .where(tasks.c.study_id == STUDY, tasks.c.grp == GROUP, tasks.c.stage == "practice", tasks.c.open)
        .label("practice"),
        exists().where(tasks.c.study_id == STUDY, tasks.c.context.is_not(None)).label("context"),
        exists().where(bundles.c.owner_id == JUDGE).label("own"),
        exists().where(bundles.c.study_id == STUDY).label("bundled"),
        _TRAPS.label("traps"),
        exists().where(reservations.c.judge_id == JUDGE, reservations.c.state == "later").label("put_off"),
        func.coalesce(
            _query_met(reservations.c.state == "held", by=(reservations.c.made, reservations.c.id)),
            _query_met(by=(reservations.c.changed, reservations.c.id)),
        ).label("query"),
    )
)
TASK_IF_FREE = Prepared(select(tasks.c.id).where(tasks.c.id == bindparam("task")).with_for_update(skip_locked=True))
JUDGE_LOCKED = Prepared(select(judges).where(judges.c.id == JUDGE, judges.c.study_id == STUDY).with_for_update())
ANSWERED = Prepared(select(func.count()).where(answers.c.judge_id == JUDGE, answers.c.study_id == STUDY))
#: Tasks with two sides met so far, and the traps among them. A pair that was put off comes again, and counts then.
PAIRS_MET = Prepared(
    select(func.count().label("met"), func.sum(case((tasks.c.trap, 1), else_=0)).label("traps"))
    .select_from(reservations.join(tasks, tasks.c.id == reservations.c.task_id))
    .where(
        reservations.c.judge_id == JUDGE,
        or_(
            reservations.c.state.not_in((*AGAIN, "later")),
            and_(tasks.c.trap, reservations.c.state == "later"),
        ),
        SIDED,
        tasks.c.bundle_id.is_(None),
        not_(tasks.c.practice),
    )
)
SINGLE_KEPT, BLOCK_KEPT = map(Prepared, kept_by_others())
ASKED_AGAIN, WAITING = Prepared(asked_again()), Prepared(waiting())
#: Slots that people keep who came by a platform and said nothing yet: how many, and when the first comes free.
_NEW = and_(
    judges.c.source.in_(PLATFORMS),
    not_(exists().where(events.c.judge_id == judges.c.id, events.c.kind.in_(("answer", "practice")))),
)
NEWCOMERS_KEEP = Prepared(
    select(func.count().label("many"), func.min(reservations.c.until).label("until"))
    .select_from(reservations.join(judges, judges.c.id == reservations.c.judge_id))
    .join(tasks, tasks.c.id == reservations.c.task_id)
    .where(
        reservations.c.study_id == STUDY,
        reservations.c.state == "held",
        tasks.c.grp == GROUP,
        tasks.c.stage == "task",
        _NEW,
    )
)
IS_NEW = Prepared(select(judges.c.id).where(judges.c.id == JUDGE, _NEW))
LEFT_TO_SAY = Prepared(
    select(func.sum(tasks.c.wanted - tasks.c.filled)).where(
        tasks.c.study_id == STUDY, tasks.c.grp == GROUP, tasks.c.stage == "task", tasks.c.wanted > tasks.c.filled
    )
)
#: The queries that a judge has lately judged alone, and in context.
LATELY = Prepared(
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
MINE = Prepared(
    select(reservations.c.id, reservations.c.turned, reservations.c.opened).where(
        reservations.c.judge_id == JUDGE, reservations.c.item == bindparam("asked")
    )
)
