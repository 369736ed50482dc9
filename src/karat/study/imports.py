"""Labels and preferences that were collected elsewhere: they enter the log and fill the slots of their tasks."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from sqlalchemy import insert, select, update

from karat.errors import BadInput
from karat.labels.selection import LLM
from karat.records import Records
from karat.records.schema import CHANCE, LEAST_CHANCE
from karat.records.times import moments
from karat.study.event_log import labels_wanted, recount
from karat.study.kinds import KINDS, TaskKind
from karat.study.kinds.kind import SEEN, Elsewhere
from karat.study.people import add_judge
from karat.study.sampling_probabilities import Asked, Chances, Draw, keep_chances
from karat.study.store import Store, transaction
from karat.study.tables import answers, events, judges, reservations, tasks
from karat.study.tasks import ELSEWHERE, add_tasks, drawn_for, round_of

#: Seconds since 1970 will not be so many before the year 5000.
MILLISECONDS = 1e11


def not_kept(records: Records) -> list[str]:
    """The columns of judgments or preferences that a study has no place for.

    >>> from karat.records import Judgments
    >>> not_kept(Judgments.of([{"query": "q", "doc": "d", "label": 1, "comment": "so", "weather": "rain"}]))
    ['weather']
    """
    kept = (*records.schema.names, *_asked_as(records)[1].kept)
    return [name for name in records.frame.columns if name not in kept]


@dataclass(frozen=True)
class Imported:
    """How many answers came in, and why others did not."""

    new: int
    #: Said before, in the same way.
    known: int
    #: Beyond what was asked for.
    surplus: int
    #: Said before by the same judge in another way, which stands.
    changed: int = 0
    #: Said again further down the same file, where the last one stands.
    twice: int = 0
    #: Answers to traps, which have done their work where they were asked.
    traps: int = 0
    #: Tasks that were there already and got their probability from the rows.
    probabilities: int = 0
    chances: Chances = field(default_factory=Chances)


@dataclass
class _Slot:
    """A task, what was said to it so far, and how many more labels it takes."""

    id: int
    base: int
    apart: float | None
    held: int
    grows: bool
    given: list[float | None] = field(default_factory=list)

    @property
    def free(self) -> int:
        return labels_wanted(self.base, self.apart, self.given) - len(self.given) - self.held


@transaction
def import_records(store: Store, records: Records, *, name: str = "imported") -> Imported:
    """Add judgments or preferences to the study; the same rows again add nothing.

    Tasks that the study does not have are made, with room for as many labels as ever come in until a plan asks for
    them. Where a plan does, labels fill free slots, a third opinion's as well where the first ones differ, and what is
    beyond them is counted and left out. First is what was said first where every row has its time, or else what
    stands first. Rows without judge are by the judge `name`; several to one question are refused then.
    """
    rows, twice, traps = _answer_rows(store, records, name)
    if all(row["at"] is not None for row in rows):
        rows.sort(key=lambda row: float(row["at"]))
    return replace(take_answers(store, rows), twice=twice, traps=traps)


@transaction
def take_answers(store: Store, rows: list[dict[str, Any]]) -> Imported:
    """Put answers into the log that were given elsewhere; each has its task, judge, group and time, and what was said.

    `answer_row` makes such a row.
    """
    missing = _add_missing_tasks(store, rows)
    people = _judges(store, {(row["judge"], row["group"]) for row in rows})
    slots = _slots(store, {row["item"] for row in rows})
    held_by = select(reservations.c.judge_id, reservations.c.item).where(reservations.c.study_id == store.study_id)
    met = {(row["judge_id"], row["item"]) for row in store.rows(held_by)}
    before = _before(store)
    touched: dict[int, _Slot] = {}
    said, held, known, surplus, changed = [], [], 0, 0, 0
    for row in rows:
        judge_id = people[row["judge"]]
        if (judge_id, row["item"]) in before:
            same = _same(row, before[judge_id, row["item"]])
            known, changed = known + same, changed + (not same)
            continue
        known_slots = slots.get((row["group"], row["item"]), [])
        slot = next((slot for slot in known_slots if slot.free > 0 or slot.grows), None)
        tells = row["kind"] == "answer"
        if (judge_id, row["item"]) in met or not known_slots or (tells and slot is None):
            surplus += 1
            continue
        task = slot or known_slots[0]
        if tells:
            # What was just said may ask for a third opinion, which the next row may be.
            task.given.append(row.get("label"))
        met.add((judge_id, row["item"]))
        touched[task.id] = task
        by = {"study_id": store.study_id, "judge_id": judge_id, "task_id": task.id}
        said.append(_event(store, row) | by)
        held.append(_reservation(store, row) | by)
    if said:
        store.change(insert(events), said)
        store.change(insert(reservations), held)
    for task_id, task in sorted(touched.items()):
        if task.free < 0:
            store.change(update(tasks).where(tasks.c.id == task_id).values(base=tasks.c.base - task.free))
        recount(store, task_id)
    chances = keep_chances(store, _drawn(rows))
    return Imported(len(said), known, surplus, changed, probabilities=len(chances.set - missing), chances=chances)


def answer_row(task: Mapping[str, Any], judge: str, group: str, at: float | None) -> dict[str, Any]:
    """The row of an answer to a task, with who gave it and when; what was said is to be put beside it.

    The task has the columns of a task file, its kind among them. The same judge's answer to it is kept once.
    """
    item = KINDS[task["kind"]].item(task)
    digest = hashlib.sha256(json.dumps([judge, group, item]).encode()).hexdigest()
    who = {"judge": judge, "group": group, "at": at, "key": f"import {digest}"}
    return {"task": task, "item": item, **Draw()._asdict(), **who}


def _asked_as(records: Records) -> tuple[TaskKind, Elsewhere]:
    """The kind of task to which these records answer."""
    known = [(kind, kind.elsewhere) for kind in KINDS.values() if kind.elsewhere is not None]
    for kind, elsewhere in known:
        if isinstance(records, elsewhere.records):
            return kind, elsewhere
    expected = " or ".join(elsewhere.records.schema.name for _, elsewhere in known)
    raise BadInput.at("the import", expected=expected, found=records.schema.name)


def _answer_rows(store: Store, records: Records, name: str) -> tuple[list[dict[str, Any]], int, int]:
    """One row for each judge and question; and how many were said again further down, or to traps."""
    kind, elsewhere = _asked_as(records)
    said: dict[str, list[dict[str, Any]]] = {}
    twice, traps = 0, 0
    for raw in _timed(records.frame).iter_rows(named=True):
        if kind.sides and raw.get("trap"):
            traps += 1
            continue
        row = _row(kind, elsewhere, raw, raw.get("judge") or name, _group(store, raw.get("group")))
        said.setdefault(row["key"], []).append(row)
    made = []
    for rows in said.values():
        counts, answer, again = elsewhere.gather([row["raw"] for row in rows])
        if again and not counts.get("judge"):
            # They may be of different people, and a study has to know who said what.
            raise BadInput.at(
                elsewhere.about.format(**counts),
                expected="one answer where no judge is named",
                found=str(again + 1),
                remedy="say in a column judge who said what"
                + (", or make one label of them first with karat convert --consensus" if kind.grades else ""),
            )
        made.append(next(row for row in rows if row["raw"] is counts) | answer)
        twice += again
    return made, twice, traps


def _before(store: Store) -> dict[tuple[int, str], dict[str, Any]]:
    """What each judge last said to each question, here or in an import."""
    said = ("judge_id", "label", "choice", "strength", "a", "b", "more")
    mine = (events.c.study_id == store.study_id, events.c.kind.in_(["answer", "cant_tell"]))
    found = select(*(events.c[name] for name in said), tasks.c.item).join(tasks, tasks.c.id == events.c.task_id)
    return {(row["judge_id"], row["item"]): row for row in store.rows(found.where(*mine).order_by(events.c.id))}


def _same(row: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether a judge said this before; aspects count where the row has some."""
    aspects = json.loads(before["more"] or "{}").get("aspects", {})
    grades = row.get("label") == before["label"] and (not row.get("aspects") or row["aspects"] == aspects)
    return grades and _winner(row) == _winner(before) and row.get("strength") == before["strength"]


def _winner(said: dict[str, Any]) -> str | None:
    """The system chosen, on whichever side it stood; another choice as it is."""
    choice: str | None = said.get("choice")
    return {"left": said.get("a"), "right": said.get("b")}.get(choice or "", choice)


def _row(kind: TaskKind, elsewhere: Elsewhere, raw: dict[str, Any], judge: str, group: str) -> dict[str, Any]:
    asked = {name: raw.get(name) for name in elsewhere.asked}
    about = elsewhere.about.format(**asked)
    chance = raw.get("probability")
    if isinstance(chance, float) and not LEAST_CHANCE <= chance <= 1:
        raise BadInput.at(about, expected=CHANCE, found=f"{chance:g}")
    row = answer_row(asked | {"kind": kind.name}, judge, group, raw.get("time"))
    row |= {name: raw.get(name) for name in ("comment", "seconds", "away", "probability")}
    opened = SEEN.get(raw["opened"]) if "opened" in raw else None
    row |= {"round": round_of(raw.get("round"), about), "drawn_for": drawn_for(raw.get("drawn_for"), about)}
    return row | {"raw": raw, "surface": opened}


def _add_missing_tasks(store: Store, rows: list[dict[str, Any]]) -> set[Asked]:
    """Make the tasks that are not there; returns which."""
    mine = select(tasks.c.grp, tasks.c.item).where(tasks.c.study_id == store.study_id).distinct()
    known = {(row["grp"], row["item"]) for row in store.rows(mine)}
    wanted: Counter[Asked] = Counter()
    asked: dict[Asked, dict[str, Any]] = {}
    for row in rows:
        key = (row["group"], row["item"])
        if key not in known:
            wanted[key] += row["kind"] == "answer"
            asked.setdefault(key, row["task"] | {"group": row["group"]})
    if asked:
        made = [task | {"labels": max(wanted[key], 1), "closed": True} for key, task in asked.items()]
        add_tasks(store, pl.DataFrame(made, infer_schema_length=None))
    return {*asked}


def _drawn(rows: list[dict[str, Any]]) -> dict[Asked, Draw]:
    """The chances with which the documents of these rows were drawn."""
    found: dict[Asked, Draw] = {}
    for row in rows:
        if row["probability"] is not None:
            found.setdefault((row["group"], row["item"]), Draw.of(row))
    return found


def _judges(store: Store, named: set[tuple[str, str]]) -> dict[str, int]:
    """The judges by name, those made that are not there."""
    mine = select(judges.c.name, judges.c.id, judges.c.grp).where(judges.c.study_id == store.study_id)
    known = {row["name"]: (row["id"], row["grp"]) for row in store.rows(mine)}
    found = {}
    for name, group in sorted(named):
        if name in known and known[name][1] != group:
            raise BadInput.at(f"the judge {name}", expected=f"the group {known[name][1]}", found=group)
        if name not in known:
            judge, _ = add_judge(store, group=group, name=name, source="import")
            known[name] = (judge["id"], group)
        found[name] = known[name][0]
    return found


def _slots(store: Store, items: set[str]) -> dict[Asked, list[_Slot]]:
    names = ("id", "grp", "item", "base", "apart", "held", "place")
    mine = select(*(tasks.c[name] for name in names)).where(tasks.c.study_id == store.study_id, ~tasks.c.practice)
    slots: dict[Asked, list[_Slot]] = {}
    by_id: dict[int, _Slot] = {}
    for row in store.rows(mine.order_by(tasks.c.id).with_for_update()):
        if row["item"] in items:
            grows = row["place"] == ELSEWHERE
            slot = by_id[row["id"]] = _Slot(row["id"], row["base"], row["apart"], row["held"], grows)
            slots.setdefault((row["grp"], row["item"]), []).append(slot)
    said = select(answers.c.task_id, answers.c.label).where(answers.c.study_id == store.study_id)
    for found in store.rows(said.order_by(answers.c.id)):
        if found["task_id"] in by_id:
            by_id[found["task_id"]].given.append(found["label"])
    return slots


def _event(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    names = ("kind", "key", "label", "choice", "strength", "a", "b", "reason", "comment", "surface", "seconds", "away")
    return {name: row.get(name) for name in (*names, "more")} | {
        "at": store.clock() if row["at"] is None else row["at"]
    }


def _reservation(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    now = store.clock()
    state = "answered" if row["kind"] == "answer" else "cant_tell"
    times = {"made": now, "until": now, "changed": now if row["at"] is None else row["at"]}
    return times | {"item": row["item"], "state": state, "turned": False, "opened": True}


def _group(store: Store, group: str | None) -> str:
    if group is None:
        return store.groups[0]
    if group not in (*store.groups, LLM):
        raise BadInput.at(
            "the group of a row",
            expected=f"one of the study's: {', '.join(store.groups)}",
            found=f'"{group}"',
            remedy="add it to groups in study.toml",
        )
    return group


def _timed(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with their times as seconds since 1970; so large a number counts milliseconds."""
    if "time" not in frame.columns:
        return frame
    at = moments(frame["time"])
    return frame.with_columns(pl.when(at > MILLISECONDS).then(at / 1000).otherwise(at).alias("time"))
