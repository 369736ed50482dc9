"""What is left to be said, and why nobody has said it: in work, open, another judge's, or no one is there who could."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, select

from karat.records.base import count
from karat.store.people import all_judges, excluded_kinds
from karat.store.prepared import Prepared
from karat.store.store import Store
from karat.store.tables import answers, bundles, events, reservations, tasks

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
    >>> from karat.store import add_tasks
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
