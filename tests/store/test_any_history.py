"""Whatever people do: when all judges hear "done", every task has what it wants, or the lead is told what is left
and why."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest
from sqlalchemy import insert, select, update

from karat.records import Judgments, Preferences, Rules, Scale
from karat.store import (
    Answer,
    Closed,
    Conflict,
    Store,
    add_tasks,
    answer,
    cant_tell,
    later,
    next_task,
    opened,
    reject_judge,
    undo,
)
from karat.store.database import Database
from karat.store.imported import import_records
from karat.store.kinds import KINDS
from karat.store.leftovers import what_is_left
from karat.store.people import add_judge, all_judges, set_state
from karat.store.store import LOTS
from karat.store.tables import answers, judges, reservations, studies, tasks
from queues import Clock
from random_plans import PLANS
from simulated import studies as histories

#: What a judge who met a question in these states is not asked again.
MET = ("held", "answered", "cant_tell", "rejected")


@dataclass
class History:
    """A study of one kind in which people do anything at random, and then all that is left."""

    seed: int
    kind: str
    database: Database
    store: Store = field(init=False)
    clock: Clock = field(default_factory=Clock)
    judges: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.kind} {self.seed}")
        self.groups = self.random.choice([("judges",), ("crowd", "experts")])
        rules = Rules(
            labels=self.random.choice([1, 2, 3]),
            apart=self.random.choice([0, 1, 2]),
            judges_per_pair=self.random.choice([1, 2, 3]),
            reserve_minutes=10,
            one_judge_per_query=self.random.random() < 0.4,
            hours_apart=self.random.choice([0, 1]),
            repeat_hours=self.random.choice([0, 2]),
            block=2,
            traps_failed=self.random.choice([0, 1]),
            most_per_judge=self.random.choice([0, 0, 0, 4]),
        )
        key = f"{self.kind} {self.seed} {id(self)} {random.random()}"
        number = self.database.write(
            lambda connection: connection.execute(
                insert(studies), {"key": key[:80], "title": "H", "made": 0.0}
            ).inserted_primary_key[0]
        )
        self.store = Store(self.database, number, rules, self.groups, self.clock, Scale.parse("0..3"))
        add_tasks(self.store, PLANS[self.kind](self.random), seed=self.seed)
        self.judges = [self.joined() for _ in range(self.random.randint(1, 4))]

    def joined(self) -> int:
        source = self.random.choice(["invite", "prolific"])
        external = f"p{self.random.random()}" if source == "prolific" else None
        group = self.random.choice(self.groups)
        number = int(add_judge(self.store, group=group, source=source, external=external)[0]["id"])
        lot = self.random.randrange(1, LOTS)  # which draws orders and sides: the same again with the same seed
        self.database.write(lambda to: to.execute(update(judges).where(judges.c.id == number).values(lot=lot)))
        return number

    def at_random(self, steps: int) -> None:
        for _ in range(steps):
            judge = self.random.choice(self.judges)
            what = self.random.random()
            if what < 0.75:
                self.turn(judge, careful=0.6)
            elif what < 0.82:
                self.clock.now += self.random.choice([30, 300, 700, 3700])
            elif what < 0.88:
                set_state(self.store, judge, self.random.choice(["paused", "active"]))
            elif what < 0.90:
                reject_judge(self.store, judge, "spam")
            elif what < 0.93:
                self.judges.append(self.joined())
            elif what < 0.96:
                self.bring_in()
            else:
                self.take_back(judge)

    def turn(self, judge: int, careful: float) -> str:
        """One step of a judge, who answers, cannot tell, puts off, or leaves it lying; what the queue said."""
        try:
            turn = next_task(self.store, judge)
            if turn.task is None:
                if turn.wait_until is not None:
                    self.waits.append(turn.wait_until)
                return turn.state
            task, lot = turn.task["id"], self.random.random()
            if lot < careful:
                if turn.task["context"] is not None:
                    opened(self.store, judge, task, "context")
                answer(self.store, judge, task, self.said(turn.task))
            elif lot < careful + 0.15:
                cant_tell(self.store, judge, task, Answer(reason="other"))
            elif lot < careful + 0.25:
                later(self.store, judge, task)
            return "task"
        except Conflict:
            return "task"
        except Closed:
            return "closed"

    waits: list[float] = field(default_factory=list)

    def said(self, task: dict[str, Any]) -> Answer:
        if task["kind"] == "pair":
            right = "right" if task["turned"] else "left"
            choice = right if self.random.random() < 0.9 else "none"
            return Answer(choice=choice, reason="x")
        if task["kind"] == "code":
            return Answer(classes=("number",))
        if choices := KINDS[task["kind"]].choices:
            return Answer(choice=self.random.choice(choices))
        known = task["practice"] and self.random.random() < 0.8
        return Answer(label=task["gold"] if known else float(self.random.randint(0, 3)))

    def bring_in(self) -> None:
        """Labels or preferences of somebody elsewhere; now and then of a judge who is here."""
        rows = self.store.rows(select(tasks).where(tasks.c.study_id == self.store.study_id, ~tasks.c.trap))
        task = self.random.choice(rows)
        names = {row["id"]: row["name"] for row in all_judges(self.store) if row["grp"] == task["grp"]}
        who = self.random.choice([*names.values(), "elsewhere " + task["grp"]])
        by = {"query": [task["query"]], "judge": [who], "group": [task["grp"]]}
        if task["kind"] == "judge":
            frame = pl.DataFrame(by | {"doc": [task["doc"]], "context": [task["context"]], "label": [1.0]})
            import_records(self.store, Judgments(frame))
        elif task["kind"] == "pair":
            frame = pl.DataFrame(by | {"left": [task["a"]], "right": [task["b"]], "choice": ["left"]})
            import_records(self.store, Preferences(frame))

    def take_back(self, judge: int) -> None:
        mine = select(reservations.c.task_id).where(
            reservations.c.judge_id == judge, reservations.c.state.in_(("answered", "cant_tell"))
        )
        found = [row["task_id"] for row in self.store.rows(mine)]
        if found:
            with suppress(Conflict, Closed):
                undo(self.store, judge, self.random.choice(found))

    def to_the_end(self) -> None:
        """Everybody works on, and comes back when told, until all hear that there is nothing (more) to do."""
        quiet = 0
        for _ in range(400):
            self.waits = []
            states = {self.turn(judge, careful=0.8) for judge in self.judges}
            # Who hears that they reached the limit gives back what was theirs: all are asked once more.
            quiet = 0 if "task" in states else quiet + 1
            if quiet < 2:
                continue
            held = select(reservations.c.until).where(
                reservations.c.study_id == self.store.study_id, reservations.c.state == "held"
            )
            ends = [*self.waits, *(row["until"] for row in self.store.rows(held))]
            if not ends:
                return
            assert "wait" not in states or self.waits, "who is told to wait is told until when"
            self.clock.now = max(self.clock.now, min(ends)) + 1
        raise AssertionError("the queue never ends")

    def check(self) -> None:
        """No active judge below the limit could still give an answer that is wanted; and the lead knows of each."""
        most = self.store.rules.most_per_judge
        mine: Any = select(answers.c.judge_id).where(answers.c.study_id == self.store.study_id)
        said = [row["judge_id"] for row in self.store.rows(mine)] if most else []
        able = [
            row
            for row in all_judges(self.store)
            if row["id"] in self.judges and row["state"] == "active" and (not most or said.count(row["id"]) < most)
        ]
        kept = self.store.rows(select(reservations).where(reservations.c.study_id == self.store.study_id))
        met = {(row["judge_id"], row["item"]) for row in kept if row["state"] in MET}
        mine = (tasks.c.study_id == self.store.study_id, tasks.c.stage == "task", ~tasks.c.trap)
        wanted = self.store.rows(select(tasks).where(*mine, tasks.c.wanted > tasks.c.filled))
        for task in wanted:
            could = [row["name"] for row in able if row["grp"] == task["grp"] and (row["id"], task["item"]) not in met]
            if task["first_item"]:
                told = {
                    row["judge_id"] for row in kept if (row["item"], row["state"]) == (task["first_item"], "answered")
                }
                could = [row["name"] for row in able if row["name"] in could and row["id"] in told]
            assert could == [], f"{self.kind} {self.seed}: {could} were told done, and {task} is open"
        told = what_is_left(self.store)
        assert sum(left.answers for left in told) == sum(task["wanted"] - task["filled"] for task in wanted)
        assert {left.why for left in told} <= {"limit", "people", "nobody", "repeat"}, told
        assert all(str(left.answers) in left.text for left in told)


@pytest.fixture
def databases(database: str) -> Iterator[Callable[[], Database]]:
    """A database for every few hundred histories."""
    url = "sqlite://" if database.endswith(".db") else database
    opened: list[Database] = []
    asked = itertools.count()

    def get() -> Database:
        if next(asked) % 250 == 0 and (not opened or url == "sqlite://"):
            opened.append(Database.open(url))
        return opened[-1]

    yield get
    for each in opened:
        each.close()


@pytest.mark.evidence
@pytest.mark.parametrize("kind", list(PLANS))
def test_when_all_hear_done_everything_is_there_or_the_lead_is_told(
    kind: str, databases: Callable[[], Database], database: str
) -> None:
    for seed in histories(3 if database.endswith(".db") else 1, 40):
        history = History(seed, kind, databases())
        history.at_random(25)
        history.to_the_end()
        history.check()
