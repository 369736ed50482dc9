"""Two result lists side by side, asked in both orders: a model that changes its mind with the order prefers neither."""

from __future__ import annotations

from collections.abc import Sequence

from karat.llm.answer_form import CANT_TELL, Field
from karat.llm.asking import Asker, Task
from karat.llm.kinds.kind import AskedKind, Common, Verdict
from karat.llm.outcomes import GRADED, Outcome
from karat.llm.requests import Request

NEEDED = ("query", "first", "second")
CHOICES = ("first", "second", "equal", "none")
FIELDS = (Field("choice", (*CHOICES, CANT_TELL)),)


def _requests(asker: Asker, task: Task) -> list[Request]:
    left, right = asker.results(task, "left"), asker.results(task, "right")
    made = []
    for first, second in ((left, right), (right, left)):
        places = asker.query(task) | {"first": first, "second": second}
        made.append(asker.request("lists", places, FIELDS, needed=NEEDED))
    return made


def _common(asker: Asker) -> list[Common]:
    return [Common(FIELDS, {"depth": str(asker.design.depth)})]


def choices(outcomes: Sequence[Outcome]) -> list[str]:
    """What was chosen in each order: left, right, equal or none."""
    one, other = (found.values["choice"] for found in outcomes)
    return [
        {"first": "left", "second": "right"}.get(one, one),
        {"first": "right", "second": "left"}.get(other, other),
    ]


def _one(asker: Asker, task: Task, outcomes: Sequence[Outcome]) -> Verdict:
    one, other = choices(outcomes)
    said = {"choice": one if one == other else "equal", "a": task["left"], "b": task["right"], "orders": [one, other]}
    return Verdict(GRADED, said | {"reason": outcomes[0].values.get("reason") or None})


PAIR = AskedKind("lists", NEEDED, _requests, _one, _common, times=lambda design: 2)
