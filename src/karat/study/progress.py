"""How far: counts of tasks and answers, for a judge and for the study, and when the answers came."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, bindparam, case, func, select

from karat.records.table import count
from karat.study.database import Prepared
from karat.study.kinds import KINDS
from karat.study.people import all_judges, excluded_kinds
from karat.study.queue import traps_to_come
from karat.study.store import Store
from karat.study.tables import answers, bundles, events, reservations, tasks
from karat.study.task_candidates import open_for

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


#: States of a question that is not asked of the judge again.
MET = ("held", "answered", "cant_tell", "rejected")
#: What stands in the way, in the order in which it is said.
WHYS = ("work", "open", "theirs", "limit", "repeat", "people", "nobody")
_STUDY: BindParameter[int] = bindparam("study")
_WANTED = Prepared(
    select(
        *(tasks.c[name] for name in ("id", "item", "first_item", "grp", "kind", "wanted", "filled", "held")),
        bundles.c.owner_id,
        bundles.c.until,
        bundles.c.name.label("bundle"),
    )
    .outerjoin(bundles, bundles.c.id == tasks.c.bundle_id)
    .where(
        tasks.c.study_id == _STUDY,
        tasks.c.stage == "task",
        ~tasks.c.trap,
        tasks.c.grp.in_(bindparam("groups", expanding=True)),
        tasks.c.wanted > tasks.c.filled,
    )
)


def _who_met(item: Any, states: tuple[str, ...]) -> Prepared:
    """Who has met each question that is not fully answered, and will not be asked it again."""
    wanted = select(item).where(tasks.c.study_id == _STUDY, tasks.c.wanted > tasks.c.filled, item.is_not(None))
    mine = (reservations.c.study_id == _STUDY, reservations.c.state.in_(states), reservations.c.item.in_(wanted))
    return Prepared(select(reservations.c.item, reservations.c.judge_id).where(*mine))


_MET, _SAID_FIRST = _who_met(tasks.c.item, MET), _who_met(tasks.c.first_item, ("answered",))


@dataclass(frozen=True)
class Left:
    """Answers of a group that are wanted and not there, and why; `judge` is whom they wait for, where it is one."""

    group: str
    why: str
    tasks: int
    answers: int
    text: str
    judge: str | None = None
    #: The tasks by number, to withdraw them.
    ids: tuple[int, ...] = ()


def what_is_left(store: Store) -> list[Left]:
    """All that is wanted and not there, each answer under one reason.

    >>> from karat.records import Scale, StudyDesign
    >>> from karat.study.tasks import add_tasks
    >>> import polars as pl
    >>> store = Store.open("sqlite://", StudyDesign("s", "S", Scale.parse("bad, good")))
    >>> added = add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["d"]}))
    >>> [left.text for left in what_is_left(store)]
    ['2 answers to 1 task: nobody of the group judges is at work. Invite people.']
    >>> store.close()
    """
    people = all_judges(store)
    at_work = {row["id"]: row for row in people if row["state"] == "active" and row["source"] != "import"}
    most = store.rules.most_per_judge
    said = Counter(_counts(store, answers.c.judge_id, answers)) if most else Counter[int]()
    able = {number for number in at_work if not most or said[number] < most}
    size = Counter(at_work[number]["grp"] for number in at_work)
    out: dict[str, set[int]] = {}
    for number, kinds in excluded_kinds(store).items():
        for kind in kinds:
            out.setdefault(kind, set()).add(number)
    met, said_first = _judges_by_item(store, _MET), _judges_by_item(store, _SAID_FIRST)
    named = {f"judge:{row['grp']}:{row['name']}": number for number, row in at_work.items()}
    found: dict[tuple[str, str, int | None], dict[int, int]] = {}
    more: Counter[str] = Counter()  # how many further people each group needs
    for task in store.rows(_WANTED, study=store.study_id, groups=store.groups):
        missing, group = task["wanted"] - task["filled"], task["grp"]
        kept = min(task["held"], missing)
        rest = missing - kept
        by = met.get(task["item"], set()) | out.get(task["kind"], set())
        owner = task["owner_id"] if task["until"] is None or task["until"] >= store.clock() else None
        if task["owner_id"] is None and task["until"] is None:
            owner = named.get(task["bundle"])
        if owner in able and owner not in by:
            parts = [("work", None, kept), ("theirs", owner, rest)]
        else:
            there = {number for number, row in at_work.items() if row["grp"] == group} - by
            if task["first_item"]:  # asked again only of those who answered
                there &= said_first.get(task["first_item"], set())
            free, tired = there & able, there - able
            can = min(len(free), rest)
            limit = min(len(tired), rest - can)
            lack = rest - can - limit
            parts = [("work", None, kept), ("open", None, can), ("limit", None, limit)]
            why = "repeat" if task["first_item"] else "people" if size[group] else "nobody"
            parts.append((why, None, lack))
            more[group] = max(more[group], lack if why == "people" else 0)
        for why, judge, many in parts:
            if many:
                found.setdefault((group, why, judge), {})[task["id"]] = many
    names = {number: row["name"] for number, row in at_work.items()}
    seen = _last_seen(store, {judge for _, _, judge in found if judge is not None})
    ordered = sorted(found, key=lambda key: (key[0], WHYS.index(key[1]), names.get(key[2] or 0, "")))
    made = []
    for group, why, judge in ordered:
        many = found[group, why, judge]
        who, last = names.get(judge or 0), seen.get(judge or 0)
        text = _words(store, group, why, [*many.values()], who, last, more[group])
        made.append(Left(group, why, len(many), sum(many.values()), text, who, tuple(many)))
    return made


def _words(
    store: Store, group: str, why: str, many: list[int], judge: str | None, seen: float | None, more: int
) -> str:
    one = sum(many) == 1
    whole = f"{count(sum(many), 'answer')} to {count(len(many), 'task')}"
    of = f"of the group {group} " if why == "nobody" or len(store.groups) > 1 else ""
    if why == "work":
        return f"{whole} {of}{'is' if one else 'are'} in work now."
    if why == "open":
        return f"{whole} {of}may be given by judges who are there: who heard that all was done may come back."
    if why == "theirs":
        last = "has not said anything yet" if seen is None else f"last said something on {_day(seen)}"
        return (
            f"{whole} {of}{'waits' if one else 'wait'} for {judge}, who {last}. Pause {judge} to have others do them."
        )
    if why == "limit":
        return f"{whole} {of}could be given only by judges who reached {store.rules.most_per_judge} answers, the most."
    if why == "repeat":
        return f"{whole} {of}would repeat answers that nobody there has given."
    if why == "nobody":
        return f"{whole}: nobody {of}is at work. Invite people."
    people = "1 more person" if more == 1 else f"{more:,} more people"
    met = "everybody there has answered or could not tell"
    return f"{whole} {of}{'needs' if one else 'need'} {people}: {met}. Invite them, or withdraw the tasks."


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%d %B %H:%M UTC")


def _judges_by_item(store: Store, who: Prepared) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for row in store.rows(who, study=store.study_id):
        found.setdefault(row["item"], set()).add(row["judge_id"])
    return found


def _counts(store: Store, by: Any, table: Any) -> dict[int, int]:
    mine = select(by, func.count().label("n")).where(table.c.study_id == store.study_id).group_by(by)
    return {row["judge_id"]: int(row["n"]) for row in store.rows(mine)}


def _last_seen(store: Store, who: set[int]) -> dict[int, float]:
    if not who:
        return {}
    mine = select(events.c.judge_id, func.max(events.c.at).label("at"))
    mine = mine.where(events.c.study_id == store.study_id, events.c.judge_id.in_(who), events.c.kind != "joined")
    return {row["judge_id"]: float(row["at"]) for row in store.rows(mine.group_by(events.c.judge_id))}
