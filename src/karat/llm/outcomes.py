"""What an answer comes to: a grade, or one of the outcomes that are none; never a grade that the model did not give."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from karat.llm.answer_form import CANT_TELL, NotAnswered, clean
from karat.llm.answer_store import AnswerStore, RawAnswer
from karat.llm.dialects import DIALECTS, Said, Unreadable
from karat.llm.dialects.dialect import part
from karat.llm.model_names import is_same_model
from karat.llm.requests import Request

#: Changed with the rules below: labels made by another version are made anew, from the same answers.
PARSER = 2
GRADED = "graded"
#: What an answer may come to beside an answer in the form.
NO_ANSWER = ("refused", "cut off", "invalid", "too long", "other model", "transport")
OUTCOMES = (GRADED, CANT_TELL, *NO_ANSWER)

#: Why a reply that is half an object is no answer.
CUT_OFF = "the reply ends in the middle of its JSON"
_TOO_LONG = re.compile(
    r"context.?(length|window|size)|too (long|large|many tokens)|maximum.{0,40}(tokens|length)|"
    r"exceed.{0,40}(context|token)",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content.?(policy|filter|management)|safety|responsible.?ai", re.IGNORECASE)


@dataclass(frozen=True)
class Outcome:
    """What became of a question: the answer field by field where `kind` is graded, or why there is none."""

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    said: Said | None = None

    @property
    def answered(self) -> bool:
        """Whether the model answered, if only that it cannot tell."""
        return self.kind in (GRADED, CANT_TELL)


def outcome(request: Request, answer: RawAnswer) -> Outcome:
    """What an answer comes to.

    >>> from karat.llm.answer_form import Field, Form
    >>> from karat.llm.requests import Model
    >>> asked = Request(Model("small"), "Judge.", "Hooves?", Form((Field("grade", ("0", "1", CANT_TELL)),)))
    >>> def replied(text, finish="stop"):
    ...     body = {"choices": [{"message": {"content": text}, "finish_reason": finish}]}
    ...     return outcome(asked, RawAnswer(asked.key, 200, json.dumps(body)))
    >>> replied('{"grade": "1"}').values["grade"], replied("I would say 1").kind, replied('{"grade', "length").kind
    ('1', 'invalid', 'cut off')
    """
    if answer.status != 200:
        return Outcome(_failed(answer), why=_complaint(answer.body) or answer.error or f"status {answer.status}")
    if answer.error:
        return Outcome("invalid", why=answer.error)
    try:
        reply = json.loads(answer.body)
        if not isinstance(reply, Mapping):
            raise Unreadable("expected a JSON object, found something else")
        said = DIALECTS[request.model.dialect].said(reply)
    except Unreadable as error:
        return Outcome("invalid", why=str(error))
    except (ValueError, RecursionError):
        if is_cut_off(answer.body):
            return Outcome("transport", why=CUT_OFF)
        return Outcome("invalid", why="expected JSON, found something else")
    model = request.model
    if not is_same_model(model.name, said.model, model.allowed):
        advice = f"to accept that model, add --allow-model {shlex.quote(said.model or '')}"
        return Outcome("other model", why=f"asked for {model.name}, answered by {said.model}: {advice}", said=said)
    if said.finish == "refusal":
        return Outcome("refused", why=said.text[:200], said=said)
    if said.finish == "length":
        return Outcome("cut off", why=f"the answer ended after {said.tokens_out} tokens", said=said)
    try:
        values = request.form.read(said.text)
    except NotAnswered as error:
        return Outcome("invalid", why=str(error), said=said)
    first = next((field.name for field in request.form.fields if field.choices), None)
    kind = CANT_TELL if first is not None and values[first] in (CANT_TELL, [CANT_TELL]) else GRADED
    return Outcome(kind, values, said=said)


def stored_answer(store: AnswerStore, request: Request) -> tuple[RawAnswer, Outcome] | None:
    """The stored answer that counts: the newest valid one, or where none is valid the newest; None where there is none.

    A failure that comes after a valid answer, as from an expired batch, takes nothing away.
    """
    newest = None
    for answer in store.find_all(request.key):
        found = outcome(request, answer)
        if found.answered:
            return answer, found
        newest = newest or (answer, found)
    return newest


def is_cut_off(body: str) -> bool:
    """Whether a reply that cannot be read as JSON is half an object, or nothing at all.

    >>> is_cut_off('{"choices": [{"mess'), is_cut_off(""), is_cut_off("<html>")
    (True, True, False)
    """
    text = body.lstrip()
    return not text or text.startswith("{")


def too_long(status: int, body: str) -> bool:
    """Whether a server complains that a question is longer than the model takes.

    >>> too_long(400, "This model's maximum context length is 8192 tokens"), too_long(400, "bad key")
    (True, False)
    """
    if status == 429:  # a question of more tokens than a minute allows never passes, however long one waits
        return "request too large" in body[:4000].lower()
    return status == 413 or (status in (400, 422) and bool(_TOO_LONG.search(body[:4000])))


def _failed(answer: RawAnswer) -> str:
    if too_long(answer.status, answer.body):
        return "too long"
    return "refused" if answer.status in (400, 422) and _FILTERED.search(answer.body[:4000]) else "transport"


def _complaint(body: str) -> str:
    """What a server says is wrong, in a line."""
    try:
        reply = json.loads(body)
    except ValueError:
        return " ".join(body.split())[:200]
    error = part(reply, "error")
    text = part(error, "message") or (error if isinstance(error, str) else None) or part(reply, "message")
    return clean(" ".join(str(text).split())[:200]) if text else ""
