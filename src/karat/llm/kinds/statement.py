"""A statement beside a text, with a choice between words: what nuggets and cited passages share."""

from __future__ import annotations

from collections.abc import Sequence

from karat.llm.answer_form import CANT_TELL, Field
from karat.llm.asking import Asker, Task
from karat.llm.kinds.kind import AskedKind, Common, Verdict
from karat.llm.outcomes import GRADED, Outcome
from karat.llm.prompt_templates import as_data
from karat.llm.requests import Request


def asked_beside(prompt: str, statement: str, text: str, choices: Sequence[str]) -> AskedKind:
    """How a model is asked about a `statement`, the name of its column in task files, beside a `text`.

    Both are places of the prompt.
    """
    needed, fields = (statement, text), [Field("choice", (*choices, CANT_TELL))]

    def requests(asker: Asker, task: Task) -> list[Request]:
        shown = {statement: as_data(statement, task[statement] or ""), text: asker.document(task["doc"], text)}
        return [asker.request(prompt, asker.query(task) | shown, fields, needed=needed)]

    def one(asker: Asker, task: Task, outcomes: Sequence[Outcome]) -> Verdict:
        (found,) = outcomes
        return Verdict(GRADED, {"choice": found.values["choice"], "comment": found.values.get("reason") or None})

    return AskedKind(prompt, needed, requests, one, lambda asker: [Common(fields)])
