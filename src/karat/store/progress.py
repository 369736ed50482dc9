"""How far: counts of tasks and answers, for a judge and for the study, and when the answers came."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import case, func, select

from karat.store.candidates import open_for
from karat.store.kinds import KINDS
from karat.store.prepared import Prepared
from karat.store.store import Store
from karat.store.tables import answers, events, tasks
from karat.store.traps import traps_to_come

#: What was said to practice tasks, beside the right answers.
PRACTISED = (
    select(events.c.judge_id, events.c.label, events.c.choice, tasks.c.gold, tasks.c.expected, tasks.c.kind)
    .join(tasks, tasks.c.id == events.c.task_id)
    .where(events.c.kind == "practice")
)
#: Wrong answers to traps, by judge, whether they stand or not; a choice is wrong by the sides as they were shown.
FAILED_TRAPS = (
    select(events.c.judge_id, events.c.id)
    .join(tasks, tasks.c.id == events.c.task_id)
    .where(
        events.c.kind == "answer",
        tasks.c.trap,
        events.c.choice
        != case(
            (events.c.a == tasks.c.a, tasks.c.expected),
            (tasks.c.expected == "left", "right"),
            else_="left",
        ),
    )
)


def judge_progress(store: Store, judge: dict[str, Any]) -> dict[str, Any]:
    """How many tasks a judge has answered, how many may still come to them, and how practice stands."""
    mine = (tasks.c.study_id == store.study_id, tasks.c.grp == judge["grp"], tasks.c.practice)
    said = (events.c.judge_id == judge["id"], events.c.kind == "practice")
    names = {"study": store.study_id, "judge": judge["id"], "grp": judge["grp"]} | store.times()
    # What is to be asked again is counted before its time.
    names |= {"lot": judge["lot"], "alone": [], "given": [], "again": store.clock()}
    return {
        "answered": store.value(select(func.count()).where(answers.c.judge_id == judge["id"])),
        "open": store.value(open_for(), **names) + traps_to_come(store, names),
        "practised": store.value(select(func.count()).where(*said)),
        "practice": store.value(select(func.count()).where(*mine)),
        "limit": store.rules.most_per_judge or None,
    }


def kinds_asked(store: Store) -> list[str]:
    """The kinds of tasks that there are, practice left aside."""
    mine = select(tasks.c.kind).where(tasks.c.study_id == store.study_id, ~tasks.c.practice).distinct()
    return sorted(row["kind"] for row in store.rows(mine))


def progress(store: Store) -> list[dict[str, Any]]:
    """For each group and kind of task: tasks, labels wanted now, labels there, tasks that have all of theirs."""
    full = func.sum(case((tasks.c.filled >= tasks.c.wanted, 1), else_=0))
    sums = [func.sum(tasks.c[name]).label(name) for name in ("wanted", "filled", "held")]
    rows = store.rows(
        select(tasks.c.grp.label("group"), tasks.c.kind, func.count().label("tasks"), *sums, full.label("finished"))
        .where(tasks.c.study_id == store.study_id, ~tasks.c.practice, ~tasks.c.trap)
        .group_by(tasks.c.grp, tasks.c.kind)
        .order_by(tasks.c.grp, tasks.c.kind)
    )
    return [{name: int(v) if isinstance(v, int) else v for name, v in row.items()} for row in rows]


def judge_counts(store: Store) -> dict[str, Counter[int]]:
    """For each judge, by number: answers that stand, practice and right practice, traps met and failed."""
    mine = events.c.study_id == store.study_id
    # Traps count also where the answers were rejected since.
    traps = select(events.c.judge_id, func.count(events.c.task_id.distinct()).label("n"))
    traps = traps.join(tasks, tasks.c.id == events.c.task_id).where(mine, events.c.kind == "answer", tasks.c.trap)
    wrong = FAILED_TRAPS.where(mine).subquery()
    failed = select(wrong.c.judge_id, func.count().label("n"))
    said = select(answers.c.judge_id, func.count().label("n")).where(answers.c.study_id == store.study_id)
    practised = store.rows(PRACTISED.where(mine))
    counts = {
        name: Counter({row["judge_id"]: int(row["n"]) for row in store.rows(many.group_by(many.selected_columns[0]))})
        for name, many in (("answers", said), ("traps", traps), ("traps_failed", failed))
    }
    right = [row["judge_id"] for row in practised if KINDS[row["kind"]].is_right(row, row)]
    return counts | {"practice": Counter(row["judge_id"] for row in practised), "practice_right": Counter(right)}


#: Of somebody who did nothing yet.
NO_WORK: dict[str, Any] = dict.fromkeys(("rejected", "cant_tell", "gold_seen", "gold_right"), 0)
NO_WORK |= {"minutes": 0.0, "minutes_away": 0.0, "first": None, "last": None}


def judge_work(store: Store) -> dict[int, dict[str, Any]]:
    """For each judge, by number: answers taken back by rejection, can't tells, gold seen and right, time, first, last.

    Time and gold are of all that was said, whether it stands or not: what somebody is paid for was work.
    """
    work = ("answer", "late", "practice", "cant_tell", "later")
    rows = store.rows(
        select(
            *(events.c[name] for name in ("judge_id", "kind", "at", "label", "seconds", "away")),
            tasks.c.gold,
            tasks.c.practice,
        )
        .outerjoin(tasks, tasks.c.id == events.c.task_id)
        .where(events.c.study_id == store.study_id, events.c.kind.in_((*work, "reject")))
        .order_by(events.c.id)
    )
    found: dict[int, dict[str, Any]] = {}
    for row in rows:
        mine = found.setdefault(row["judge_id"], dict(NO_WORK))
        mine["rejected"] += row["kind"] == "reject"
        mine["cant_tell"] += row["kind"] == "cant_tell"
        if row["kind"] == "answer" and row["gold"] is not None and row["label"] is not None:
            mine["gold_seen"] += 1
            mine["gold_right"] += row["label"] == row["gold"]
        if row["kind"] in work:
            mine["minutes"] += (row["seconds"] or 0) / 60
            mine["minutes_away"] += (row["away"] or 0) / 60
            mine["first"], mine["last"] = mine["first"] or iso(row["at"]), iso(row["at"])
    rounded = {"minutes", "minutes_away"}
    return {who: {n: round(v, 2) if n in rounded else v for n, v in mine.items()} for who, mine in found.items()}


def iso(at: float) -> str:
    """A time as text.

    >>> iso(0.0)
    '1970-01-01T00:00:00.000+00:00'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def answer_times(store: Store) -> list[float]:
    """When the answers that count came in, of the study's own groups: a model beside them answers all at once.

    Traps are not among those wanted, so their answers are left out.
    """
    mine = (
        select(answers.c.at)
        .join(tasks, tasks.c.id == answers.c.task_id)
        .where(answers.c.study_id == store.study_id, ~tasks.c.trap, ~tasks.c.practice, tasks.c.grp.in_(store.groups))
        .order_by(answers.c.at)
    )
    return [row["at"] for row in store.rows(Prepared(mine))]


def further_labels(store: Store) -> float:
    """How many third labels are still to be expected: tasks not yet labelled twice, by the share that differed."""
    own = (tasks.c.study_id == store.study_id, tasks.c.grp.in_(store.groups))
    adaptive = (*own, tasks.c.apart.is_not(None), ~tasks.c.practice, ~tasks.c.trap)
    judged = case((tasks.c.filled >= tasks.c.base, 1), else_=0)
    more = case((tasks.c.wanted > tasks.c.base, 1), else_=0)
    counts = select(func.count().label("n"), func.sum(judged).label("full"), func.sum(more).label("split"))
    number, full, split = (int(n or 0) for n in store.rows(counts.where(*adaptive))[0].values())
    return (number - full) * split / full if full else 0.0


def open_tasks(store: Store) -> list[dict[str, Any]] | None:
    """The tasks with a free slot; None where the study has no tasks at all."""
    mine = tasks.c.study_id == store.study_id
    if store.first(select(tasks.c.id).where(mine).limit(1)) is None:
        return None
    return store.rows(select(tasks).where(mine, tasks.c.open))


def last_event(store: Store) -> int:
    """The number of the last event in the log; 0 before the first."""
    mine = select(events.c.id).where(events.c.study_id == store.study_id)
    return store.value(mine.order_by(events.c.id.desc()).limit(1)) or 0
