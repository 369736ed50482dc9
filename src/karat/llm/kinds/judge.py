"""A document to grade: alone, by aspects, after others, or its snippet first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from karat.errors import BadInput
from karat.llm.answer_form import CANT_TELL, Field
from karat.llm.asking import Asker, Task
from karat.llm.expected_grade import expected_grade
from karat.llm.kinds.kind import AskedKind, Common, Verdict
from karat.llm.outcomes import GRADED, Outcome
from karat.llm.requests import Request
from karat.records import Scale
from karat.records.judgments import read_before
from karat.records.scale import Level
from karat.records.study_design import Aspect

NEEDED = ("query", "document")
NOT_APPLICABLE = "not applicable"
YES_NO = ("no", "yes")


def request_of(asker: Asker, task: Task, text: str | None = None) -> Request:
    """The question about a document; with `text`, as if the document were that."""
    design = asker.design
    aspects = _aspects(asker)
    for taken in {"grade", "need", "reason"} & {aspect.name for aspect in aspects}:
        raise BadInput.at(
            f"the aspect {taken}",
            expected="a name that no other part of a model's answer has",
            found=taken,
            remedy="name it otherwise in study.toml",
        )
    asked = "Which grade does the whole document get for this searcher"
    if task.get("context") is not None:
        asked += ", who has read the other one before"
    return _request(asker, task, asker.document(task["doc"], text=text), f"{asked}?", design.scale, aspects)


def _aspects(asker: Asker) -> tuple[Aspect, ...]:
    """The aspects that are asked for beside the grade."""
    return () if asker.prompt == "yes-no" else tuple(asker.design.aspects)


def _request(
    asker: Asker, task: Task, document: str, question: str, scale: Scale, aspects: Sequence[Aspect] | None = None
) -> Request:
    """A question about a document, or without `aspects` about its snippet, of which everybody can tell something."""
    fields, told = _grading(asker.prompt, scale, None if aspects is None else tuple(aspects))
    before = "\n".join(asker.document(doc, "read before") for doc in read_before(task.get("context")))
    places = asker.query(task) | {
        **told,
        "context": before and f"The searcher has just read this; grade what the next document adds to it:\n{before}",
        "document": document,
        "question": question,
    }
    return asker.request("grade", places, fields, needed=NEEDED)


@cache
def _grading(
    prompt: str | None, scale: Scale, aspects: tuple[Aspect, ...] | None
) -> tuple[tuple[Field, ...], dict[str, str]]:
    """What all questions of a study have alike: the fields of the answer, and what is told of grades and aspects."""
    choices = _choices(prompt, scale)
    fields = [Field("need")] if prompt == "need" else []
    fields.append(Field("grade", (*choices, *([] if aspects is None else [CANT_TELL]))))
    fields += [Field(aspect.name, (*choices, NOT_APPLICABLE)) for aspect in aspects or ()]
    named = "\n".join(f"{aspect.name}: {aspect.definition}".rstrip(": ") for aspect in aspects or ())
    told = {"grades": "\n".join(map(_level, scale.levels))}
    told["aspects"] = named and f"Grade these aspects as well, on the same scale:\n{named}"
    return tuple(fields), told


@cache
def _choices(prompt: str | None, scale: Scale) -> dict[str, float]:
    """The grades as the model writes them, and what each is worth."""
    yes_no = prompt == "yes-no"
    if yes_no and len(scale.grades) > 2:
        raise BadInput.at(
            "--prompt yes-no",
            expected="a scale of two grades",
            found=f"the scale {scale}",
            remedy="ask with --prompt grade",
        )
    names = YES_NO if yes_no else [f"{grade:g}" for grade in scale.grades]
    return dict(zip(names, map(float, scale.grades), strict=True))


def _requests(asker: Asker, task: Task) -> list[Request]:
    """The question about the page; before it that about the snippet, where a study grades both."""
    page, first = request_of(asker, task), asker.design.snippet
    if first is None:
        return [page]
    return [_request(asker, task, asker.snippet(task["doc"]), first.question, first.scale), page]


def _common(asker: Asker) -> list[Common]:
    """What questions about pages have in common; before it that of snippets, where a study grades both."""
    page, first = Common(*_grading(asker.prompt, asker.design.scale, _aspects(asker))), asker.design.snippet
    if first is None:
        return [page]
    fields, told = _grading(asker.prompt, first.scale, None)
    return [Common(fields, told | {"question": first.question}), page]


def _one(asker: Asker, task: Task, outcomes: Sequence[Outcome]) -> Verdict:
    *first, found = outcomes
    values, worth = found.values, _choices(asker.prompt, asker.design.scale)
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
    if first and asker.design.snippet is not None:
        said["snippet"] = _choices(asker.prompt, asker.design.snippet.scale)[first[0].values["grade"]]
    if found.said is not None and found.said.chances:
        chance = expected_grade(found.said.chances, "grade", worth)
        said |= {} if chance is None else {"expected_grade": chance.grade, "mass": chance.mass}
    return Verdict(GRADED, said)


def _level(level: Level) -> str:
    number = f"{level.grade:g}"
    name = "" if level.name == number else f" ({level.name})"
    return f"{number}{name}" + (f": {level.definition}" if level.definition else "")


JUDGE = AskedKind("grade", NEEDED, _requests, _one, _common, times=lambda design: 1 if design.snippet is None else 2)
