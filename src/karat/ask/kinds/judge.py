"""A document to grade: alone, by aspects, or after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.ask.asker import Asker, Task
from karat.ask.expected import expected_grade
from karat.ask.form import CANT_TELL, Field
from karat.ask.kinds.kind import AskedKind, Verdict
from karat.ask.outcome import GRADED, Outcome
from karat.ask.request import Request
from karat.errors import BadInput

NEEDED = ("query", "document")
NOT_APPLICABLE = "not applicable"
YES_NO = ("no", "yes")


def grade_names(asker: Asker) -> tuple[str, ...]:
    """The grades as the model writes them."""
    return tuple(f"{grade:g}" for grade in asker.design.scale.grades)


def request_of(asker: Asker, task: Task, text: str | None = None) -> Request:
    """The question about a document; with `text`, as if the document were that."""
    yes_no = asker.prompt == "yes-no"
    grades = grade_names(asker)
    if yes_no and len(grades) > 2:
        raise BadInput.at(
            "--prompt yes-no",
            expected="a scale of two grades",
            found=f"the scale {asker.design.scale}",
            remedy="ask with --prompt grade",
        )
    aspects = [] if yes_no else asker.design.aspects
    for taken in {"grade", "need", "reason"} & {aspect.name for aspect in aspects}:
        raise BadInput.at(
            f"the aspect {taken}",
            expected="a name that no other part of a model's answer has",
            found=taken,
            remedy="name it otherwise in study.toml",
        )
    fields = [Field("need")] if asker.prompt == "need" else []
    fields.append(Field("grade", (*(YES_NO if yes_no else grades), CANT_TELL)))
    fields += [Field(aspect.name, (*grades, NOT_APPLICABLE)) for aspect in aspects]
    context = task.get("context")
    before = "" if context is None else asker.document(context, "read before")
    places = asker.query(task) | {
        "grades": "\n".join(_level(asker, place) for place in range(len(grades))),
        "aspects": "Grade these aspects as well, on the same scale:\n"
        + "\n".join(f"{aspect.name}: {aspect.definition}".rstrip(": ") for aspect in aspects)
        if aspects
        else "",
        "context": before and f"The searcher has just read this; grade what the next document adds to it:\n{before}",
        "document": asker.document(task["doc"], text=text),
        "question": "Which grade does the whole document get for this searcher"
        + (", who has read the other one before?" if before else "?"),
    }
    return asker.request("grade", places, fields, needed=NEEDED)


def _requests(asker: Asker, task: Task) -> list[Request]:
    return [request_of(asker, task)]


def _one(asker: Asker, task: Task, outcomes: Sequence[Outcome]) -> Verdict:
    (found,) = outcomes
    values, grades = found.values, grade_names(asker)
    yes_no = asker.prompt == "yes-no"
    worth = dict(zip(YES_NO if yes_no else grades, map(float, asker.design.scale.grades), strict=True))
    aspects = {
        aspect.name: None if values[aspect.name] == NOT_APPLICABLE else float(values[aspect.name])
        for aspect in asker.design.aspects
        if aspect.name in values
    }
    said: dict[str, Any] = {
        "label": worth[values["grade"]],
        "aspects": aspects,
        "comment": values.get("reason") or None,
    }
    if found.said is not None:
        chance = expected_grade(found.said.chances, "grade", worth)
        said |= {} if chance is None else {"expected_grade": chance.grade, "mass": chance.mass}
    return Verdict(GRADED, said)


def _level(asker: Asker, place: int) -> str:
    level = asker.design.scale.levels[place]
    number = f"{level.grade:g}"
    name = "" if level.name == number else f" ({level.name})"
    return f"{number}{name}" + (f": {level.definition}" if level.definition else "")


JUDGE = AskedKind("grade", NEEDED, _requests, _one)
