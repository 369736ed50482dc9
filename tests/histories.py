"""Histories of studies in which people do anything at random: nothing is asked in vain, and nothing is forgotten.

Eleven of twelve are tiny (two or three tasks, up to three judges, some ten steps), the others several times as large. A
history leaves nothing behind: all of it is one transaction, in which each step is a savepoint, as when the app writes
for several judges at once; its end is a rollback. Tests of `make test` let each step be a transaction of its own.

They can fail. Of sixty histories each (seeds 0 to 59), with a fault put in by hand, so many found it:

| fault | found |
|---|---|
| one can't tell ends a judge's next session | context 17 |
| what is kept never comes free | alone 2, pairs 3, blocks 9 |
| a rejection does not open the slots again | alone 8, pairs 10, codes 6 |
| what was put off never comes back | alone 11, codes 13 |
| an answer that comes too late counts | alone 1, pairs 1 |
| what was kept before the clock was set back stays kept | alone 0, pairs 0: `test_queue.py` has it by name |
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import polars as pl
from sqlalchemy import bindparam, select, update

from karat.records import Judgments, Preferences, Rules, Scale
from karat.study.answers import answer, cant_tell, later, opened, reject_judge, undo, withdraw
from karat.study.database import Database, LostRace, Prepared
from karat.study.event_log import Answer
from karat.study.imports import import_records
from karat.study.kinds import KINDS
from karat.study.people import add_judge, all_judges, excluded_kinds, readmit, set_state
from karat.study.progress import what_is_left
from karat.study.queue import held_task, next_task
from karat.study.store import LOTS, Closed, Conflict, Store
from karat.study.tables import answers, judges, reservations, studies, tasks
from karat.study.tasks import add_tasks
from queues import Clock
from random_plans import PLANS

T = TypeVar("T")

#: What a judge who met a question in these states is not asked again.
MET = ("held", "answered", "cant_tell", "rejected")
SCALE = Scale.parse("0..3")

_NEW = Prepared.new_row(studies)
_LOT = Prepared(update(judges).where(judges.c.id == bindparam("number")).values(lot=None))
_TASKS = Prepared(select(tasks).where(tasks.c.study_id == bindparam("study")).order_by(tasks.c.id))
_SAID = Prepared(select(answers).where(answers.c.study_id == bindparam("study")).order_by(answers.c.id))
_KEPT = Prepared(select(reservations).where(reservations.c.study_id == bindparam("study")).order_by(reservations.c.id))


class NothingKept(Database):
    """A database in which a history is one transaction, each step of it a savepoint, and nothing stays."""

    @contextmanager
    def history(self) -> Iterator[None]:
        with self.engine.connect() as connection:
            # psycopg prepares statements anew after anything was taken back, in case a table was: none is made here,
            # and planning takes PostgreSQL three quarters of its time.
            if (prepared := getattr(connection.connection.driver_connection, "_prepared", None)) is not None:
                prepared.clear = lambda: False
            connection = connection.execution_options(writes=True)
            with connection.begin() as whole:
                self.connection = connection
                yield
                whole.rollback()

    def write(self, work: Callable[[Any], T]) -> T:
        if (within := self.transaction) is not None:
            return work(within)
        for _ in range(3):
            self._say("SAVEPOINT step")
            try:
                with self._open(self.connection):
                    value = work(self.connection)
            except BaseException as error:
                self._say("ROLLBACK TO SAVEPOINT step")
                if not isinstance(error, LostRace):
                    raise
            else:
                self._say("RELEASE SAVEPOINT step")
                return value
        raise AssertionError("nobody else is there, who could have been quicker")

    @contextmanager
    def read(self) -> Iterator[Any]:
        yield self.connection

    def _say(self, sql: str) -> None:
        self.connection.connection.cursor().execute(sql)


@dataclass
class History:
    """A study of one kind in which people do anything at random, and then all that is left."""

    seed: int
    kind: str
    database: Database
    store: Store = field(init=False)
    clock: Clock = field(default_factory=Clock)
    judges: list[int] = field(default_factory=list)
    #: Tasks that judges were given and left lying.
    lying: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    #: Judges who do not come back, and nobody knows it.
    gone: set[int] = field(default_factory=set)
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        lots = self.random = random.Random(f"{self.kind} {self.seed}")
        self.tiny = lots.random() < 0.92
        self.groups = lots.choice([("judges",), ("judges",), ("crowd", "experts")])
        failing = random.Random(f"failing {self.kind} {self.seed}").choice(["exclude", "exclude", "flag", "reject"])
        rules = Rules(
            invited_failing=failing,
            labels=lots.choice([1, 2, 2] if self.tiny else [1, 2, 3]),
            apart=lots.choice([0, 1, 2]),
            judges_per_pair=lots.choice([1, 2] if self.tiny else [1, 2, 3]),
            reserve_minutes=10,
            one_judge_per_query=lots.random() < 0.4,
            hours_apart=lots.choice([0, 1]),
            repeat_hours=lots.choice([0, 2]),
            block=2,
            traps_failed=lots.choice([0, 1]),
            most_per_judge=lots.choice([0, 0, 0, 2 if self.tiny else 4]),
        )
        row = {"key": f"{self.kind} {self.seed} {random.random()}"[:80], "title": "H", "made": 0.0}
        number = self.database.write(lambda to: _NEW.add(to, row))
        self.store = Store(self.database, number, rules, self.groups, self.clock, SCALE)
        self.size = lots.randint(2, 3) if self.tiny else lots.randint(3, 6)
        add_tasks(self.store, PLANS[self.kind](lots, self.size), seed=self.seed)
        self.judges = [self.joined() for _ in range(lots.randint(1, 3 if self.tiny else 5))]

    def whole(self) -> None:
        """The history from its first step to the checks at its end."""
        self.at_random(self.random.randint(4, 14) if self.tiny else self.random.randint(20, 50))
        self.gone = {judge for judge in self.judges[1:] if self.random.random() < 0.15}
        self.to_the_end()
        if self.lying:
            while self.lying:  # pages that were left open are sent at last
                self.late()
            self.to_the_end()
        self.check()

    def joined(self) -> int:
        source = self.random.choice(["invite", "prolific"])
        external = f"p{self.random.random()}" if source == "prolific" else None
        group = self.random.choice(self.groups)
        number = int(add_judge(self.store, group=group, source=source, external=external)[0]["id"])
        lot = self.random.randrange(1, LOTS)  # which draws orders and sides: the same again with the same seed
        self.database.write(lambda to: _LOT.change(to, {"number": number, "lot": lot}))
        return number

    def at_random(self, steps: int) -> None:
        for _ in range(steps):
            judge = self.random.choice(self.judges)
            what = self.random.random()
            if what < 0.66:
                self.turn(judge, careful=0.55)
            elif what < 0.74:
                self.clock.now += self.random.choice([30, 300, 700, 3700, -5000])
            elif what < 0.80:
                state = self.random.choice(["paused", "active"])
                set_state(self.store, judge, state)
                if state == "active":
                    readmit(self.store, judge)
            elif what < 0.83:
                reject_judge(self.store, judge, "spam")
            elif what < 0.86:
                self.judges.append(self.joined())
            elif what < 0.89:
                self.bring_in()
            elif what < 0.91:
                self.withdraw()
            elif what < 0.92:
                plan = PLANS[self.kind](self.random, 2)
                add_tasks(self.store, plan.with_columns(pl.col("query") + "+"), seed=self.seed)
            elif what < 0.96:
                self.late()
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
            if self.random.random() < 0.1:
                ahead = next_task(self.store, judge, besides=[turn.task["given"]])
                self.lying += [] if ahead.task is None else [(judge, ahead.task)]
            if lot < careful:
                self.answer(judge, turn.task)
            elif lot < careful + 0.15:
                cant_tell(self.store, judge, task, Answer(reason="other"))
            elif lot < careful + 0.25:
                later(self.store, judge, task)
            elif careful < 0.7:
                self.lying.append((judge, turn.task))
            return "task"
        except Conflict:
            return "task"
        except Closed:
            return "closed"

    def answer(self, judge: int, task: dict[str, Any]) -> None:
        if task["context"] is not None:
            opened(self.store, judge, task["id"], "context")
        answer(self.store, judge, task["id"], self.said(task))

    def late(self) -> None:
        """Somebody comes back to a page that was left open, in time or not."""
        if self.lying:
            judge, task = self.lying.pop(self.random.randrange(len(self.lying)))
            with suppress(Conflict, Closed):
                # As the page names it: the same question may be another task's by now, for another label of it.
                self.answer(judge, held_task(self.store, judge, task["given"]))

    def said(self, task: dict[str, Any]) -> Answer:
        if task["kind"] == "pair":  # one of ten is wrong where it is a trap
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
        task = self.random.choice([row for row in self.rows(_TASKS) if not row["trap"]])
        names = [row["name"] for row in all_judges(self.store) if row["grp"] == task["grp"]]
        who = self.random.choice([*names, "elsewhere " + task["grp"]])
        by = {"query": [task["query"]], "judge": [who], "group": [task["grp"]]}
        if task["kind"] == "judge":
            frame = pl.DataFrame(by | {"doc": [task["doc"]], "context": [task["context"]], "label": [1.0]})
            import_records(self.store, Judgments(frame))
        elif task["kind"] == "pair":
            frame = pl.DataFrame(by | {"left": [task["a"]], "right": [task["b"]], "choice": ["left"]})
            import_records(self.store, Preferences(frame))

    def withdraw(self) -> None:
        real = [row["id"] for row in self.rows(_TASKS) if row["stage"] == "task" and not row["trap"]]
        withdraw(self.store, [self.random.choice(real)], "not needed")

    def take_back(self, judge: int) -> None:
        found = [
            row["task_id"]
            for row in self.rows(_KEPT)
            if row["judge_id"] == judge and row["state"] in ("answered", "cant_tell")
        ]
        if found:
            with suppress(Conflict, Closed):
                undo(self.store, judge, self.random.choice(found))

    def to_the_end(self) -> None:
        """Everybody works on, and comes back when told, until all hear that there is nothing (more) to do."""
        quiet = 0
        for _ in range(400):
            self.waits = []
            states = {self.turn(judge, careful=0.8) for judge in self.judges if judge not in self.gone}
            quiet = 0 if "task" in states else quiet + 1
            # Who hears that they reached the limit gives back what was theirs: all are asked once more.
            if quiet < (2 if "limit" in states else 1):
                continue
            held = [row["until"] for row in self.rows(_KEPT) if row["state"] == "held"]
            longest = self.clock.now + 120 * self.store.rules.reserve_minutes
            assert states == {"closed"} or max(held, default=0) <= longest, f"{self.kind} {self.seed}: kept for long"
            ends = [*self.waits, *held]
            if not ends or states == {"closed"}:  # nobody is there who would ask for what comes free
                return
            assert "wait" not in states or self.waits, "who is told to wait is told until when"
            self.clock.now = max(self.clock.now, min(ends)) + 1
        raise AssertionError(f"{self.kind} {self.seed}: the queue never ends")

    def check(self) -> None:
        """No judge who is there could still give an answer that is wanted; and the lead knows of each."""
        where, kept, said, every = f"{self.kind} {self.seed}", self.rows(_KEPT), self.rows(_SAID), self.rows(_TASKS)
        self.counts(where, kept, said, every)
        most, by = self.store.rules.most_per_judge, Counter(row["judge_id"] for row in said)
        able = [
            row
            for row in all_judges(self.store)
            if row["id"] in self.judges and row["state"] == "active" and (not most or by[row["id"]] < most)
        ]
        away = {row["name"] for row in able if row["id"] in self.gone}
        able = [row for row in able if row["id"] not in self.gone]
        told = what_is_left(self.store)
        theirs = {task for left in told if left.judge in away for task in left.ids}  # until the lead pauses who is away
        met = {(row["judge_id"], row["item"]) for row in kept if row["state"] in MET}
        out = excluded_kinds(self.store)
        answered = {(row["judge_id"], row["item"]) for row in kept if row["state"] == "answered"}
        real = [task for task in every if task["stage"] == "task" and not task["trap"]]
        wanted = [task for task in real if task["wanted"] > task["filled"]]
        for task in wanted:
            could = [row for row in able if row["grp"] == task["grp"] and (row["id"], task["item"]) not in met]
            could = [row for row in could if task["kind"] not in out.get(row["id"], [])]
            if task["first_item"]:
                could = [row for row in could if (row["id"], task["first_item"]) in answered]
            assert could == [] or task["id"] in theirs, (
                f"{where}: {[row['name'] for row in could]} were told done, and {task} is open"
            )
        assert sum(left.answers for left in told) == sum(task["wanted"] - task["filled"] for task in wanted), where
        whys = {"limit", "people", "nobody", "repeat"} | ({"open", "theirs"} if away else set())
        # Nobody is there to ask for what somebody who left still holds, though at the limit by now.
        whys |= {"work"} if self.gone and not able else set()
        assert {left.why for left in told} <= whys, (where, told)
        assert all(str(left.answers) in left.text for left in told), (where, told)

    def counts(self, where: str, kept: list[dict[str, Any]], said: list[dict[str, Any]], every: list[Any]) -> None:
        """What a task's row says of its answers is what the log says, nobody holds one, and none has too many."""
        held = Counter(row["task_id"] for row in kept if row["state"] == "held")
        filled = Counter(row["task_id"] for row in said)
        for task in every:
            seen = (task["filled"], task["held"], task["open"])
            assert seen == (filled[task["id"]], held[task["id"]], task["wanted"] > task["filled"] + task["held"]), where
            assert task["filled"] <= task["wanted"], f"{where}: more answers than asked for: {task}"

    def rows(self, statement: Prepared) -> list[dict[str, Any]]:
        return self.store.rows(statement, study=self.store.study_id)
