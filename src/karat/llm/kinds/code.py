"""A reason that somebody gave for a preference, to be put into classes."""

from __future__ import annotations

from collections.abc import Sequence

from karat.llm.answer_form import CANT_TELL, Field
from karat.llm.asking import Asker, Task
from karat.llm.kinds.kind import AskedKind, Common, Verdict
from karat.llm.outcomes import GRADED, Outcome
from karat.llm.prompt_templates import as_data
from karat.llm.requests import Request

NEEDED = ("reason",)


def _requests(asker: Asker, task: Task) -> list[Request]:
    classes = asker.design.classes
    places = asker.query(task) | {"classes": ", ".join(classes), "reason": as_data("reason", task["reason"] or "")}
    return [asker.request("reasons", places, _fields(asker), needed=NEEDED)]


def _fields(asker: Asker) -> list[Field]:
    return [Field("classes", (*asker.design.classes, CANT_TELL), many=True)]


def _one(asker: Asker, task: Task, outcomes: Sequence[Outcome]) -> Verdict:
    named = [name for name in outcomes[0].values["classes"] if name != CANT_TELL]
    return Verdict(GRADED, {"classes": named}) if named else Verdict(CANT_TELL)


CODE = AskedKind("reasons", NEEDED, _requests, _one, lambda asker: [Common(_fields(asker))])
