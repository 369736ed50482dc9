"""Whatever judges do in whatever order, the counts stay true: checked by random walks."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import polars as pl
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import func, select

from karat.records import Rules, Scale, StudyDesign
from karat.study.answer_tables import judgments
from karat.study.answers import answer, cant_tell, later, reject_judge, undo
from karat.study.event_log import Answer
from karat.study.people import add_judge, set_state
from karat.study.queue import next_task
from karat.study.store import Closed, Conflict, Store
from karat.study.tables import answers, events, reservations, tasks
from karat.study.tasks import add_tasks
from simulated import studies

JUDGES = st.integers(0, 3)


class Judging(RuleBasedStateMachine):
    """Four judges and three documents; a plain model keeps what should stand."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        study = StudyDesign("walk", "Walk", Scale.parse("0..3"), rules=Rules(labels=2, apart=2, reserve_minutes=1))
        self.store = Store.open("sqlite://", study, clock=lambda: self.now)
        add_tasks(self.store, pl.DataFrame({"query": ["q"] * 3, "doc": ["a", "b", "c"]}))
        self.judges = [add_judge(self.store)[0]["id"] for _ in range(4)]
        self.given: dict[int, list[int]] = defaultdict(list)
        self.numbers: dict[int, list[int]] = defaultdict(list)
        self.stand: dict[tuple[int, int], float] = {}
        self.log = 0

    def teardown(self) -> None:
        self.store.close()

    @rule(who=JUDGES, ahead=st.booleans())
    def ask(self, who: int, ahead: bool) -> None:
        judge = self.judges[who]
        try:
            turn = next_task(self.store, judge, besides=self.numbers[judge][-1:] if ahead else ())
        except Closed:
            return
        if turn.task is not None and turn.task["id"] not in self.given[judge]:
            self.given[judge].append(turn.task["id"])
            self.numbers[judge].append(turn.task["given"])

    def attempt(self, work: Any, who: int, which: int, *more: Any) -> int | None:
        """Do something with one of the tasks a judge was given; the task, if it was let be done."""
        judge = self.judges[who]
        if not self.given[judge]:
            return None
        task = self.given[judge][which % len(self.given[judge])]
        try:
            work(self.store, judge, task, *more)
        except (Closed, Conflict):
            return None
        return task

    @rule(who=JUDGES, which=st.integers(0, 5), label=st.integers(0, 3))
    def say(self, who: int, which: int, label: int) -> None:
        task = self.attempt(answer, who, which, Answer(label=float(label)))
        if task is not None:
            assert (self.judges[who], task) not in self.stand
            self.stand[self.judges[who], task] = float(label)

    @rule(who=JUDGES, which=st.integers(0, 5))
    def take_back(self, who: int, which: int) -> None:
        task = self.attempt(undo, who, which)
        if task is not None:
            self.stand.pop((self.judges[who], task), None)

    @rule(who=JUDGES, which=st.integers(0, 5))
    def put_off(self, who: int, which: int) -> None:
        self.attempt(later, who, which)

    @rule(who=JUDGES, which=st.integers(0, 5))
    def not_tell(self, who: int, which: int) -> None:
        self.attempt(cant_tell, who, which, Answer(reason="other"))

    @rule(seconds=st.sampled_from([1.0, 30.0, 90.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(who=JUDGES, state=st.sampled_from(["paused", "active"]))
    def pause_or_release(self, who: int, state: str) -> None:
        set_state(self.store, self.judges[who], state)

    @rule(who=JUDGES)
    def reject(self, who: int) -> None:
        reject_judge(self.store, self.judges[who], "spam")
        self.stand = {key: label for key, label in self.stand.items() if key[0] != self.judges[who]}

    @invariant()
    def what_stands_is_what_was_said(self) -> None:
        with self.store.database.read() as connection:
            rows = connection.execute(select(answers.c.judge_id, answers.c.task_id, answers.c.label)).all()
        assert {(row.judge_id, row.task_id): row.label for row in rows} == self.stand
        assert len(rows) == len(self.stand)
        assert judgments(self.store).drop_nulls("label").height == len(self.stand)

    @invariant()
    def counts_are_true_and_never_more_than_asked(self) -> None:
        with self.store.database.read() as connection:
            rows = connection.execute(select(tasks)).mappings().all()
            said = connection.execute(select(answers.c.task_id, answers.c.label).order_by(answers.c.id)).all()
            kept = connection.execute(select(reservations.c.task_id).where(reservations.c.state == "held")).scalars()
            held = Counter(kept)
        for task in rows:
            labels = [row.label for row in said if row.task_id == task["id"]]
            wanted = 3 if len(labels) >= 2 and abs(labels[0] - labels[1]) >= 2 else 2
            assert (task["filled"], task["held"], task["wanted"]) == (len(labels), held[task["id"]], wanted)
            assert len(labels) <= 3
            assert task["open"] == (wanted > len(labels) + held[task["id"]])

    @invariant()
    def the_log_only_grows(self) -> None:
        with self.store.database.read() as connection:
            many = connection.execute(select(func.count()).select_from(events)).scalar_one()
        assert many >= self.log
        self.log = many


Judging.TestCase.settings = settings(
    max_examples=len(studies(6, 40)), stateful_step_count=30, deadline=None, derandomize=True
)
TestJudging = Judging.TestCase
