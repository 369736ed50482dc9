"""Nothing is asked in vain and nothing is forgotten: when all judges hear "done", every task has what it wants, or
the lead is told what is left and why."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest
from sqlalchemy import insert, select

from karat.labels import consensus
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
from karat.store.leftovers import what_is_left
from karat.store.people import add_judge, all_judges, set_state
from karat.store.read_tables import judgments
from karat.store.tables import answers, reservations, studies, tasks
from queues import Clock, documents, place
from simulated import studies as histories

#: What a judge who met a question in these states is not asked again.
MET = ("held", "answered", "cant_tell", "rejected")


def test_one_cant_tell_does_not_end_the_second_session(database: str) -> None:
    """As it was found: in a study with context the queue said "done", gave out the code, and asked nothing more."""
    here = place(database, hours_apart=24)
    alone, after = documents("a", "b", "c"), documents("a", "b", "c").with_columns(context=pl.lit("x"))
    plan = pl.concat([alone.with_columns(session=1), after.with_columns(session=2)], how="diagonal")
    add_tasks(here.store, plan.with_columns(judge=pl.lit("judge 1")))
    one, spare = here.judge(), here.judge()
    cant_tell(here.store, one, here.next(one)["id"], Answer(reason="other"))
    unclear = here.next(spare)
    assert unclear["session"] == 1, "somebody else is asked what the planned judge could not tell"
    answer(here.store, spare, unclear["id"], Answer(label=1))
    assert next_task(here.store, spare).state == "done", "the rest is judge 1's"
    here.say(one, 1)
    here.say(one, 1)
    turn = next_task(here.store, one)
    assert (turn.state, turn.wait_until) == ("wait", here.clock.now + 24 * 3600)
    assert "judge 1" in what_is_left(here.store)[0].text
    here.clock.now += 24 * 3600 + 1
    for _ in range(3):
        task = here.next(one)
        assert task["session"] == 2
        opened(here.store, one, task["id"], "context")
        answer(here.store, one, task["id"], Answer(label=1))
    assert next_task(here.store, one).state == "done"
    assert what_is_left(here.store) == []


def test_what_nobody_there_could_tell_needs_more_people_and_the_lead_is_told(database: str) -> None:
    here = place(database, labels=1)
    add_tasks(here.store, documents("a", "b"))
    one = here.judge()
    cant_tell(here.store, one, here.next(one)["id"], Answer(reason="other"))
    here.say(one, 1)
    assert next_task(here.store, one).state == "done"
    assert [(left.why, left.answers) for left in what_is_left(here.store)] == [("people", 1)]
    assert "need 1 more person" in what_is_left(here.store)[0].text
    here.say(here.judge(), 1)
    assert what_is_left(here.store) == []


def test_who_reached_the_limit_leaves_the_rest_of_a_query_to_others(database: str) -> None:
    here = place(database, labels=1, one_judge_per_query=True, most_per_judge=2)
    add_tasks(here.store, documents("a", "b", "c"))
    one, two = here.judge(), here.judge()
    here.say(one, 1)
    here.say(one, 1)
    assert next_task(here.store, one).state == "limit"
    here.say(two, 1)
    assert what_is_left(here.store) == []


def test_a_planned_judge_at_the_limit_leaves_the_plan_to_others(database: str) -> None:
    here = place(database, labels=1, most_per_judge=1)
    add_tasks(here.store, documents("a", query="r"))
    one, two = here.judge(), here.judge()
    here.say(one, 1)
    add_tasks(here.store, documents("b").with_columns(judge=pl.lit("judge 1")))
    assert next_task(here.store, two).state == "done", "it is judge 1's, as far as anybody knows"
    assert next_task(here.store, one).state == "limit"
    here.say(two, 1)
    assert what_is_left(here.store) == []


def test_who_said_nothing_waits_for_slots_that_others_merely_keep(database: str) -> None:
    here = place(database, labels=1, reserve_minutes=10)
    add_tasks(here.store, documents("a"))
    slow, quick = here.judge(), here.judge()
    here.next(slow)
    turn = next_task(here.store, quick)
    assert (turn.state, turn.wait_until) == ("wait", here.clock.now + 600)
    here.clock.now += 601
    here.say(quick, 1)
    assert next_task(here.store, slow).state == "done"


def test_made_up_people_of_a_platform_cannot_keep_a_whole_study(database: str) -> None:
    here = place(database, labels=1)
    add_tasks(here.store, documents(*(f"d{n}" for n in range(40))))
    known = here.judge()
    made_up = [here.judge(source="prolific", external=f"p{n}") for n in range(30)]
    states = []
    for judge in made_up:
        turn = next_task(here.store, judge)
        states.append(turn.state)
        if turn.task is not None:
            assert next_task(here.store, judge, besides=[turn.task["given"]]).task is None, (
                "one before the first answer"
            )
    assert states == ["task"] * 20 + ["wait"] * 10, "half of what is left to say"
    for _ in range(20):
        here.say(known, 1)
    here.clock.now += 31 * 60
    here.say(made_up[-1], 1)


def test_what_is_asked_again_comes_to_who_answered_it_and_only_after_the_pause(database: str) -> None:
    here = place(database, labels=2, apart=1, repeat_hours=168)
    add_tasks(here.store, pl.concat([documents("a"), documents("a").with_columns(repeat=pl.lit(1))], how="diagonal"))
    one, two, three = (here.judge() for _ in range(3))
    here.say(one, 0)
    here.clock.now += 3600
    here.say(two, 0)
    turn = next_task(here.store, one)
    assert (turn.state, turn.wait_until) == ("wait", here.clock.now - 3600 + 168 * 3600)
    assert next_task(here.store, three).state == "done", "who did not answer has nothing to repeat"
    here.clock.now += 168 * 3600
    here.say(one, 3)
    here.say(two, 0)
    assert what_is_left(here.store) == []
    found = judgments(here.store)
    assert found.select("judge", "label", "repeat").rows() == [
        ("judge 1", 0.0, None),
        ("judge 2", 0.0, None),
        ("judge 1", 3.0, 1),
        ("judge 2", 0.0, 1),
    ]
    # METHODS 9: a repeat is evidence about the judge, nothing else; the first label counts.
    assert consensus(Judgments(found.drop("task")), "mean").frame["label"].to_list() == [0.0]


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
        return int(add_judge(self.store, group=group, source=source, external=external)[0]["id"])

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
        return Answer(label=float(self.random.randint(0, 3)))

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
        said = [row["judge_id"] for row in self.store.rows(select(answers.c.judge_id))] if most else []
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


def _alone(lots: random.Random) -> pl.DataFrame:
    queries = lots.randint(1, 3)
    return pl.DataFrame({"query": [f"q{n % queries}" for n in range(5)], "doc": [f"d{n}" for n in range(5)]})


def _in_context(lots: random.Random) -> pl.DataFrame:
    """Alone, then in context; planned for judges who are there or not, or for anybody."""
    docs = ["a", "b"]
    rows = []
    for query, judge in zip(("q", "r"), ("judge 1", lots.choice(["judge 2", "judge 99", None])), strict=True):
        for session, context in ((1, None), (2, "x")):
            rows += [{"query": query, "doc": d, "context": context, "session": session, "judge": judge} for d in docs]
    return pl.DataFrame(rows, infer_schema_length=None)


def _pairs(lots: random.Random) -> pl.DataFrame:
    real = [{"query": f"q{n}", "left": "a", "right": "b"} for n in range(3)]
    trap = {"query": "q0", "left": "a", "right": "b", "trap": True, "expected": "left"}
    return pl.DataFrame([*real, *(trap | {"right_query": f"x{n}"} for n in range(2))], infer_schema_length=None)


def _blocks(lots: random.Random) -> pl.DataFrame:
    rows = []
    for block in range(2):
        trap = {"query": "q0", "left": "a", "right": "b", "right_query": f"x{block}", "trap": True, "expected": "left"}
        both = [*({"query": f"q{n}", "left": "a", "right": "b"} for n in lots.sample(range(4), 2)), trap]
        rows += [row | {"block": block, "place": place} for place, row in enumerate(both)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _repeats(lots: random.Random) -> pl.DataFrame:
    """Some documents again, by the same judges."""
    once = pl.DataFrame({"query": ["q"] * 3, "doc": ["a", "b", "c"]})
    return pl.concat([once, once.head(2).with_columns(repeat=pl.lit(1))], how="diagonal")


def _codes(lots: random.Random) -> pl.DataFrame:
    return pl.DataFrame({"query": ["q"] * 3, "reason": ["x", "y", "z"], "kind": ["code"] * 3})


PLANS: dict[str, Callable[[random.Random], pl.DataFrame]] = {
    "alone": _alone,
    "context": _in_context,
    "pairs": _pairs,
    "blocks": _blocks,
    "codes": _codes,
    "repeats": _repeats,
}


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
    for seed in histories(3, 40) if database.endswith(".db") else histories(1, 8):
        history = History(seed, kind, databases())
        history.at_random(25)
        history.to_the_end()
        history.check()
