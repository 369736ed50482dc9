"""The answers of a model as a table: the label with how it was made, and a row for every outcome that is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from karat.labels.selection import LLM
from karat.llm.answer_store import AnswerStore, RawAnswer
from karat.llm.asking import Asker, NoText, Task
from karat.llm.costs import Price, cost_of
from karat.llm.kinds import ASKED, Verdict
from karat.llm.outcomes import PARSER, Outcome, stored_answer
from karat.llm.prompt_templates import Prompt
from karat.llm.requests import Request
from karat.records.judgments import PAGE, SNIPPET

#: The columns of the tables that `karat ask --out` writes, those that have something in them.
COLUMNS: dict[str, Any] = dict.fromkeys(
    (
        *("query", "doc", "context", "subtopic", "surface", "left", "right", "order", "sentence", "nugget", "aspect"),
        *(
            "label",
            "choice",
            "reason",
            "class",
            "judge",
            "group",
            "outcome",
            "why",
            "expected_grade",
            "mass",
            "comment",
        ),
        *("repeat", "altered", "altered_from", "model", "returned_model", "fingerprint", "prompt", "without"),
        *("tokens_in", "tokens_out", "cost", "seconds", "attempts", "time", "answer", "parser"),
    ),
    pl.String,
)
COLUMNS |= dict.fromkeys(("label", "expected_grade", "mass", "cost", "seconds"), pl.Float64)
COLUMNS |= dict.fromkeys(("repeat", "order", "tokens_in", "tokens_out", "attempts", "parser"), pl.Int64)

#: What of a task stands beside its answers.
TOLD_OF_TASK = (
    *(
        "query",
        "doc",
        "context",
        "subtopic",
        "left",
        "right",
        "sentence",
        "nugget",
        "repeat",
        "altered",
        "altered_from",
    ),
)
#: Of a question without any answer.
NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Judge:
    """A judge to be: its name, how it is asked, what, and at which price."""

    name: str
    asker: Asker
    tasks: Sequence[Task] = ()
    price: Price | None = None
    #: The name under which it answers kinds of tasks that its prompt is not for: the answers are those of the model.
    plain: str = ""
    _versions: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    def prompt_versions(self, kind: str) -> tuple[str, ...]:
        """The hashes of what questions of a kind have in common: one for all questions of a task, or one for each."""
        if kind not in self._versions:
            self._versions[kind] = ASKED[kind].prompt_versions(self.asker)
        return self._versions[kind]

    def name_for(self, kind: str) -> str:
        """The name of the judge who answers a kind of task."""
        prompt = self.asker.prompt
        own = prompt is None or self.asker.uses(prompt, ASKED[kind].needed)
        return self.name if own or not self.plain else self.plain


@dataclass(frozen=True)
class Answered:
    """A task, the questions that it came to, their answers as far as they are there, and what they say."""

    judge: Judge
    task: Task
    requests: list[Request]
    #: Those that are there, and what each comes to.
    answers: list[RawAnswer]
    outcomes: list[Outcome]

    @property
    def kinds(self) -> list[str]:
        """What each of the questions came to."""
        return [found.kind for found in self.outcomes] + [NOT_ASKED] * (len(self.requests) - len(self.answers))

    @property
    def prompts(self) -> list[str]:
        """The hash of each question's prompt, guidelines, scale and form."""
        versions = self.judge.prompt_versions(self.task["kind"])
        return [versions[min(place, len(versions) - 1)] for place in range(len(self.requests))]

    @property
    def costs(self) -> list[float | None]:
        """What each answer cost; None where no price is known."""
        price, each = self.judge.price, zip(self.requests, self.answers, self.outcomes, strict=False)
        return [None if price is None else cost_of(price, *one)[0] for one in each]

    @property
    def verdict(self) -> Verdict | None:
        """What the answers come to; None while one is missing."""
        if len(self.answers) < len(self.requests):
            return None
        return ASKED[self.task["kind"]].verdict(self.judge.asker, self.task, self.outcomes)


def questions(judge: Judge, no_text: Callable[[Task, str], None] = lambda task, why: None) -> Iterator[Request]:
    """The questions of a judge's tasks, one after another; `no_text` is told of those with nothing to show."""
    for task in judge.tasks:
        try:
            yield from requests_of(judge.asker, task)
        except NoText as error:
            no_text(task, str(error))


def prompt_of(judge: Judge, task: Task) -> Prompt:
    """The prompt with which a task is asked."""
    kind = ASKED[task["kind"]]
    return judge.asker.prompt_for(kind.prompt, kind.needed)


def requests_of(asker: Asker, task: Task) -> list[Request]:
    """The questions of a task."""
    if "request" in task:  # an audit asks in its own ways
        return [task["request"]]
    asked, again = ASKED[task["kind"]].requests(asker, task), task.get("repeat")
    return [request.again(again) for request in asked] if again else asked


def answered_tasks(
    judge: Judge, store: AnswerStore, no_text: Callable[[Task, str], None] = lambda task, why: None
) -> Iterator[Answered]:
    """The judge's tasks with what is stored of their answers; `no_text` is told of those with nothing to show."""
    for task in judge.tasks:
        try:
            asked = requests_of(judge.asker, task)
        except NoText as error:
            no_text(task, str(error))
            continue
        found = [stored for request in asked if (stored := stored_answer(store, request)) is not None]
        yield Answered(judge, task, asked, [answer for answer, _ in found], [made for _, made in found])


def rows_of(one: Answered) -> Iterator[dict[str, Any]]:
    """A row for each answer to a task: both orders of a pair, snippet and page; one more for each aspect or class."""
    verdict, task = one.verdict, one.task
    if verdict is None:
        return
    base = dict.fromkeys(COLUMNS) | {name: task.get(name) for name in TOLD_OF_TASK}
    base |= {"judge": one.judge.name_for(task["kind"]), "group": LLM}
    base |= {"outcome": verdict.outcome, "why": verdict.why or None}
    said = verdict.said
    answered = zip(one.requests, one.answers, one.outcomes, one.costs, strict=True)
    for place, (request, answer, found, cost) in enumerate(answered):
        row = base | _provenance(request, answer, found) | {"prompt": one.prompts[place], "cost": cost}
        row |= {name: said.get(name) for name in ("label", "choice", "expected_grade", "mass", "comment", "reason")}
        if "orders" in said:
            row |= {"order": place, "choice": said["orders"][place], "reason": found.values.get("reason") or None}
            if place:  # the sides as they were shown
                chosen = str(row["choice"])
                turned = {"left": "right", "right": "left"}.get(chosen, chosen)
                row |= {"left": base["right"], "right": base["left"], "choice": turned}
        if task["kind"] == "code":
            row["reason"] = task["reason"]
            for name in said.get("classes") or [None]:
                yield row | {"class": name}
            continue
        if task["kind"] == "judge" and len(one.requests) > 1:  # the snippet first
            row["surface"] = PAGE if place else SNIPPET
            if not place:
                row |= {"label": said.get("snippet"), "expected_grade": None, "mass": None}
                yield row | {"comment": found.values.get("reason") or None}
                continue
        yield row
        for aspect, grade in (said.get("aspects") or {}).items():
            yield row | {"aspect": aspect, "label": grade} | dict.fromkeys(("expected_grade", "mass", "cost"))


def _provenance(request: Request, answer: RawAnswer, found: Outcome) -> dict[str, Any]:
    """How an answer was made."""
    said = found.said
    return {
        "model": request.model.name,
        "returned_model": None if said is None else said.model,
        "fingerprint": None if said is None else said.fingerprint,
        "without": ", ".join(answer.without) or None,
        "tokens_in": None if said is None else said.tokens_in,
        "tokens_out": None if said is None else said.tokens_out,
        "seconds": answer.seconds,
        "attempts": answer.attempts,
        "time": datetime.fromtimestamp(answer.at, UTC).isoformat(timespec="milliseconds"),
        "answer": request.key[:16],
        "parser": PARSER,
    }
