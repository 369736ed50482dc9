"""Ask many questions: each once, answers kept as they come, so many at a time as the server takes."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from karat.engines.http_calls import Stopped, each
from karat.errors import BadInput
from karat.llm.answer_form import Field, Form
from karat.llm.answer_store import AnswerStore, RawAnswer
from karat.llm.client import Client
from karat.llm.costs import Budget, Price, likely_tokens
from karat.llm.outcomes import Outcome, outcome, stored_answer
from karat.llm.prompt_templates import Prompt, as_data, read_prompt
from karat.llm.requests import Model, Request
from karat.records.study_design import StudyDesign
from karat.study.task_material import Material, plain_text

#: No answer at all: the next time, these are asked again unbidden.
ASKED_AGAIN = ("transport",)
#: So many questions in a row without any answer, each tried as often as it may be, or all answered by another model:
#: asking on is no use.
NOBODY = 16


@dataclass
class Tally:
    """How the questions fared."""

    asked: int = 0
    known: int = 0


async def ask_all(
    requests: Iterable[Request],
    client: Client,
    store: AnswerStore,
    *,
    budget: Budget,
    price: Price | None = None,
    retry: Collection[str] = (),
    tally: Tally,
    told: Callable[[], None] = lambda: None,
) -> None:
    """Ask what has no answer yet; every answer is stored before the next question of its worker.

    `retry` are the outcomes whose questions are asked again. When one worker has to stop, the others finish what is on
    its way. What happens is put down in `tally`, and `told` is called after each answer.
    """
    again = {*ASKED_AGAIN, *retry}
    silent, nobody = 0, max(NOBODY, 2 * client.at_once)
    on_their_way, settled, failed = set[str](), asyncio.Event(), list[BaseException]()

    async def set_aside(request: Request) -> float:
        """The most that a call can cost; where the budget has no room, what others on their way leave is waited for."""
        while not failed:
            try:
                return budget.set_aside(request, price)
            except Stopped:
                if not on_their_way:
                    raise
            settled.clear()
            await settled.wait()
        raise failed[0]

    async def work(request: Request) -> None:
        nonlocal silent
        found = answered(store, request)
        # Two documents with the same text are the same question: one answer is for both.
        if (found is not None and found.kind not in again) or request.key in on_their_way:
            tally.known += 1
            if tally.known % 500 == 0:
                await asyncio.sleep(0)
            return
        aside, refused = [await set_aside(request)], list[Stopped]()

        def once_more() -> bool:
            """Set another attempt's cost aside; where the budget has no room, the attempts so far are stored first."""
            try:
                aside.append(budget.set_aside(request, price))
            except Stopped as error:
                refused.append(error)
            return not refused

        on_their_way.add(request.key)
        answer: RawAnswer | None = None
        try:
            tokens = likely_tokens(request)[1] + request.model.max_tokens
            answer = await client.ask(request, tokens, once_more)
            store.add(request, answer)
            if refused:
                raise refused[0]
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            budget.settle(request, price, sum(aside), answer)
            on_their_way.discard(request.key)
            settled.set()
        tally.asked += 1
        told()
        # An answer is looked into when all are there; here only whether one came, and at first by which model.
        made = None if answer.status == 200 and tally.asked > nobody else outcome(request, answer)
        silent = silent + 1 if made is not None and made.kind in ("transport", "other model") else 0
        if made is not None and silent >= nobody:
            raise Stopped(f"{nobody} questions in a row came to no answer: {made.why}")

    await each(requests, work, client.at_once)


def answered(store: AnswerStore, request: Request) -> Outcome | None:
    """What the stored answer to a question comes to; None where there is none."""
    found = stored_answer(store, request)
    return None if found is None else found[1]


Task = Mapping[str, Any]

#: Characters of a document that are shown, some two thousand words.
MOST_SHOWN = 12_000
#: Characters of each result in a list.
MOST_OF_RESULT = 600


@dataclass(frozen=True)
class Asker:
    """One judge to be: a model with a prompt, and what it is shown.

    A document of more than `most_shown` characters is cut there; which were is kept in `cut`.
    """

    design: StudyDesign
    material: Material
    model: Model
    prompt: str | None = None
    #: Whether a reason is asked for, after the grade.
    reasons: bool = False
    most_shown: int = MOST_SHOWN
    cut: set[str] = field(default_factory=set)

    def request(
        self, default: str, places: Mapping[str, str], fields: Sequence[Field], needed: Sequence[str]
    ) -> Request:
        """The request of a question: the prompt with what stands in its places, and the form of the answer."""
        form = self._form(fields)
        prompt = self.prompt_for(default, needed)
        filled = {**places, "form": form.in_words}
        system, user = prompt.checked([*filled]).filled(filled)
        if form.in_words not in system + user:
            # A prompt of one's own need not say the form of the answer.
            system = f"{system}\n\n{form.in_words}".strip()
        return Request(self.model, system, user, form)

    def prompt_version(
        self, default: str, fields: Sequence[Field], needed: Sequence[str], shared: Mapping[str, str]
    ) -> str:
        """A short hash of all that the questions of a kind have in common.

        It covers the prompt, the guidelines, the form of the answer, what the prompt says of grades, aspects and the
        like (`shared`), and how much of a text is shown.
        """
        prompt = self.prompt_for(default, needed)
        form = self._form(fields)
        content = {
            "prompt": [prompt.system, prompt.user],
            "guidelines": self.design.guidelines.strip(),
            "form": [form.in_words, form.schema],
            "shared": dict(shared),
            "shown": [self.most_shown, MOST_OF_RESULT],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    def _form(self, fields: Sequence[Field]) -> Form:
        """The form of an answer with these fields, and a reason where one is asked for."""
        return _form((*fields, *([Field("reason")] if self.reasons else [])))

    def prompt_for(self, default: str, needed: Sequence[str]) -> Prompt:
        """The prompt that was asked for, where it has the places that a kind of task needs, or that of the kind."""
        return read_prompt(self.prompt if self.prompt and self.uses(self.prompt, needed) else default)

    @staticmethod
    def uses(prompt: str, needed: Sequence[str]) -> bool:
        """Whether a prompt is for a kind of task: it has the places that the kind needs."""
        return {*needed} <= read_prompt(prompt).places

    def query(self, task: Task) -> dict[str, str]:
        """The places about the query, as a prompt has them."""
        said = self.material.query(task["query"], task.get("subtopic"), task.get("description"))
        need = f"What is needed: {said['description']}" if said["description"] else ""
        if said["subtopic"]:
            need = f"{need}\nOnly this part of it is asked about: {said['subtopic']}".strip()
        guidelines = self.design.guidelines.strip()
        return {
            "query": said["text"],
            "need": need,
            "guidelines": guidelines and f"Guidelines for judges:\n{guidelines}",
        }

    def document(self, doc: str, what: str = "document", text: str | None = None) -> str:
        """A document as data, its title first."""
        whole = self.text(doc) if text is None else text
        if len(whole) > self.most_shown:
            self.cut.add(doc)
            whole = f"{whole[: self.most_shown]}\n[cut after {self.most_shown:,} characters]"
        return as_data(what, whole)

    def text(self, doc: str) -> str:
        """The words of a document: title, and its text, or what a result list shows of it."""
        row = self.material.row(doc)
        body = plain_text(row) or row.get("snippet") or ""
        whole = "\n\n".join(part for part in (row.get("title"), body) if part)
        if not whole.strip():
            raise NoText(f"the document {doc}: expected a text, found none in the documents' file")
        return whole

    def snippet(self, doc: str) -> str:
        """What a result list shows of a document, as data."""
        shown = self._result(self.material.front(doc))
        if not shown:
            raise NoText(f"the document {doc}: expected a title or a text, found none in the documents' file")
        return as_data("result", shown)

    def results(self, task: Task, side: str) -> str:
        """A list of results as data."""
        shown = self.material.results(task[side], task.get(f"{side}_query") or task["query"], task.get(f"{side}_docs"))
        if not shown:
            raise NoText(f"the list of {task[side]} for query {task['query']}: expected results, found none")
        rows = [f"{rank}. {self._result(one) or one['doc']}" for rank, one in enumerate(shown, start=1)]
        return as_data("list", "\n\n".join(rows))

    def _result(self, shown: Mapping[str, Any]) -> str:
        """A result as a list shows it: title, address, snippet or the beginning of the text."""
        row = self.material.row(shown["doc"])
        body = row.get("snippet") or plain_text(row)
        return "\n".join(part for part in (shown["title"], shown["url"], body[:MOST_OF_RESULT]) if part)


@cache
def _form(fields: tuple[Field, ...]) -> Form:
    """The form of these fields, the same one for all questions that have it."""
    return Form(fields)


class NoText(BadInput):
    """There is nothing to show of what is asked about."""


#: Tokens of the shortest answer in a form, and of one with a sentence in it.
SHORT_ANSWER, LONG_ANSWER = 8, 120
#: Seconds of a call, from a small model near by to a large one far away.
SECONDS_A_CALL = (0.5, 5.0)


@dataclass(frozen=True)
class Estimate:
    """Calls, and the least and the most that is likely of everything else."""

    calls: int
    known: int
    tokens_in: tuple[float, float]
    tokens_out: tuple[float, float]
    dollars: tuple[float, float] | None
    minutes: tuple[float, float]


def estimate(
    requests: Iterable[Request],
    store: AnswerStore | None,
    price: Price | None,
    *,
    at_once: int,
    calls_a_minute: float | None = None,
    tokens_a_minute: float | None = None,
    retry: Iterable[str] = (),
) -> Estimate:
    """What the questions without an answer would take.

    >>> from karat.llm.answer_form import Form
    >>> from karat.llm.requests import Model
    >>> found = estimate([Request(Model("m"), "", "x" * 5000, Form(()))], None, Price(1.0, 2.0), at_once=1)
    >>> found.calls, found.tokens_in
    (1, (1040.0, 2040.0))
    """
    calls, known, few, many, longest, again = 0, 0, 0.0, 0.0, 0.0, {*ASKED_AGAIN, *retry}
    for request in requests:
        found = None if store is None else answered(store, request)
        if found is not None and found.kind not in again:
            known += 1
            continue
        calls += 1
        least, most = likely_tokens(request)
        few, many = few + least, many + most
        texts = any(not field.choices for field in request.form.fields)
        likely = LONG_ANSWER if texts else 3 * SHORT_ANSWER * len(request.form.fields)
        longest += min(likely, request.model.max_tokens)
    out = (float(calls * SHORT_ANSWER), longest)
    dollars = None if price is None else (price.of(few, out[0]), price.of(many, out[1]))
    limits = [calls / calls_a_minute if calls_a_minute else 0.0]
    limits.append((many + out[1]) / tokens_a_minute if tokens_a_minute else 0.0)
    fast, slow = (max(*limits, calls * seconds / 60 / at_once) for seconds in SECONDS_A_CALL)
    return Estimate(calls, known, (few, many), out, dollars, (fast, slow))
