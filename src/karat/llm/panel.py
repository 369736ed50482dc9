"""Several models or prompts as several judges: each by itself, asked of the same server manners and one budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.engines.http_calls import done
from karat.engines.rate_limit import Pace
from karat.errors import BadInput
from karat.llm.answer_form import CANT_TELL
from karat.llm.answer_rows import COLUMNS, NOT_ASKED, TOLD_OF_TASK, Answered, Judge, answered_tasks, questions, rows_of
from karat.llm.answer_store import AnswerStore
from karat.llm.api_keys import key_of
from karat.llm.asking import ASKED_AGAIN, Tally, Task, answered, ask_all
from karat.llm.batches import Batches
from karat.llm.client import Client
from karat.llm.costs import Budget, spent_before
from karat.llm.kinds import ASKED
from karat.llm.outcomes import GRADED, NO_ANSWER
from karat.llm.requests import Request
from karat.records.table import count


@dataclass(frozen=True)
class Manners:
    """How a server is treated: calls at one time and a minute, tokens a minute, attempts, patience, the key's place."""

    at_once: int = 8
    calls_a_minute: float | None = None
    tokens_a_minute: float | None = None
    attempts: int = 6
    timeout: float = 120.0
    key_variable: str | None = None


@dataclass
class Panel:
    """Judges, the store of their answers, and what came of asking them."""

    judges: Sequence[Judge]
    store: AnswerStore
    budget: Budget = field(default_factory=Budget)
    tallies: dict[str, Tally] = field(default_factory=dict)
    #: Tasks with nothing to show, each once, and why.
    no_text: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for judge in self.judges:
            kinds = {task["kind"] for task in judge.tasks}
            named = judge.asker.prompt
            if named is not None and not any(judge.asker.uses(named, ASKED[kind].needed) for kind in kinds):
                wanted = " or ".join(" and ".join(f"{{{place}}}" for place in ASKED[kind].needed) for kind in kinds)
                raise BadInput.at(f"the prompt {named}", expected=f"the places {wanted}", found="not all of them")
        if self.budget.limit is not None:
            for judge in self.judges:
                if judge.price is None:
                    raise BadInput.at(
                        "--budget",
                        expected=f"a price of {judge.asker.model.name}",
                        found="none",
                        remedy="name it by --price, or in study.toml under [prices]",
                    )
            models = ((judge.asker.model, judge.price) for judge in self.judges)
            prices = {(model.dialect, model.url, model.name): price for model, price in models}
            self.budget.before = spent_before(self.store, prices)

    def ask(self, manners: Manners, *, retry: Collection[str] = (), told: Callable[[], None] = lambda: None) -> None:
        """Ask every judge what has no answer yet, one judge after another."""
        for judge in self.judges:
            done(self._ask(judge, manners, retry, told))

    def ask_in_batches(
        self, manners: Manners, *, retry: Collection[str] = (), told: Callable[[], None] = lambda: None
    ) -> None:
        """The same by the vendor's batches, which cost half and may take a day."""
        again = {*ASKED_AGAIN, *retry}
        for judge in self.judges:
            model, price = judge.asker.model, judge.price
            tally, aside = self.tallies.setdefault(judge.name, Tally()), dict[Request, float]()
            for request in questions(judge, self.leave_out):
                found = answered(self.store, request)
                if request not in aside and (found is None or found.kind in again):
                    aside[request] = self.budget.set_aside(request, price and price.halved)
                else:
                    tally.known += 1
            batches = Batches(model, key_of(model, manners.key_variable), self.store, manners.timeout)
            for request, answer in batches.ask(aside):
                self.budget.settle(request, price, aside[request], answer)
                tally.asked += 1
                told()

    async def _ask(self, judge: Judge, manners: Manners, retry: Collection[str], told: Callable[[], None]) -> None:
        model = judge.asker.model
        pace = Pace(manners.calls_a_minute, manners.tokens_a_minute)
        client = Client(
            model, key_of(model, manners.key_variable), pace, manners.attempts, manners.timeout, manners.at_once
        )
        client.without |= self.store.learned(model.url, model.name)
        known = {*client.without}
        tally = self.tallies[judge.name] = Tally()
        try:
            async with client:
                asked = questions(judge, self.leave_out)
                await ask_all(
                    asked,
                    client,
                    self.store,
                    budget=self.budget,
                    price=judge.price,
                    retry=retry,
                    tally=tally,
                    told=told,
                )
        finally:
            self.store.learn(model.url, model.name, sorted(client.without - known))

    @property
    def total(self) -> int:
        """How many questions there are, of all judges; those without a text are not known before they are asked."""
        return sum(
            1 if "request" in task else ASKED[task["kind"]].times(judge.asker.design)
            for judge in self.judges
            for task in judge.tasks
        )

    def leave_out(self, task: Task, why: str) -> None:
        """Put down a task with nothing to show."""
        self.no_text[task["kind"], *map(task.get, TOLD_OF_TASK)] = why


def in_words(judge: str, outcomes: Counter[str]) -> str:
    """What came of asking a judge, in a sentence.

    >>> print(in_words("small", Counter({"graded": 7, "invalid": 2, "can't tell": 1})))
    small answered 8 of 10 questions, 1 of them "can't tell"; no answer: 2 invalid.
    """
    every = sum(outcomes.values())
    done = outcomes[GRADED] + outcomes[CANT_TELL]
    text = f"{judge} answered {done:,} of {count(every, 'question')}"
    if outcomes[CANT_TELL]:
        text += f', {outcomes[CANT_TELL]:,} of them "{CANT_TELL}"'
    without = [f"{outcomes[kind]:,} {kind}" for kind in (*NO_ANSWER, NOT_ASKED) if outcomes[kind]]
    return text + (f"; no answer: {', '.join(without)}." if without else ".")


#: Rows that are kept as dictionaries, which take ten times the room, before they become a frame.
LOT = 500


@dataclass
class Gathered:
    """What became of the questions of each judge, and a table for each kind of task."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    #: The first reason of each outcome that is no answer.
    why: dict[str, str] = field(default_factory=dict)
    _frames: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    _rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, one: Answered) -> None:
        """Count a task and keep its rows."""
        self.outcomes.setdefault(one.judge.name, Counter()).update(one.kinds)
        for found in one.outcomes:
            if not found.answered:
                self.why.setdefault(found.kind, found.why)
        rows = self._rows.setdefault(one.task["kind"], [])
        rows += rows_of(one)
        if len(rows) >= LOT:
            self._flush(one.task["kind"])

    def table(self, kind: str) -> pl.DataFrame:
        """The rows of a kind of task: a label or a choice each, or the outcome that is none."""
        self._flush(kind)
        frames = self._frames.setdefault(kind, [pl.DataFrame(schema=COLUMNS)])
        if len(frames) > 1:
            frames[:] = [pl.concat(frames, how="diagonal", rechunk=True)]
        # A column of nothing takes sixteen bytes a row unless it is written as one value.
        every = {
            name: pl.col(name) if name in frames[0].columns else pl.lit(None, dtype) for name, dtype in COLUMNS.items()
        }
        return frames[0].select(**every) if frames[0].height else pl.DataFrame(schema=COLUMNS)

    def _flush(self, kind: str) -> None:
        if rows := self._rows.pop(kind, []):
            frame = pl.DataFrame(rows, schema=COLUMNS)
            filled = [column for column in frame if column.null_count() < frame.height]
            self._frames.setdefault(kind, []).append(pl.DataFrame(filled))


def gather(panel: Panel, also: Callable[[Answered], None] = lambda one: None) -> Gathered:
    """Go through the tasks of all judges once, with the answers that are stored; `also` sees each."""
    found = Gathered()
    for judge in panel.judges:
        found.outcomes[judge.name] = Counter()
        for one in answered_tasks(judge, panel.store, panel.leave_out):
            found.add(one)
            also(one)
    return found
