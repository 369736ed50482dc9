"""A document to grade, alone or after another."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from karat.errors import BadInput
from karat.records.judgments import read_before
from karat.records.study_design import StudyDesign
from karat.study.task_material import Material
from karat.web.kinds.kind import KindOnPage, Task, refuse_others
from karat.web.schemas import AnswerBody, DocumentShown, Reply


class _Reply(Reply):
    document: DocumentShown | None = Field(None, description="kind judge: what to grade")
    context: DocumentShown | None = Field(None, description="kind judge: what was read just before; open it first")
    before: list[DocumentShown] | None = Field(None, description="kind judge: what was read before that, in order")
    context_opened: bool | None = None


def _shown(material: Material, task: Task) -> dict[str, Any]:
    read = [material.front(doc) for doc in read_before(task["context"])]
    shown = {"document": material.front(task["doc"]), "context": read[-1] if read else None}
    return shown | {"context_opened": task["opened"]} | ({"before": read[:-1]} if len(read) > 1 else {})


def _check(study: StudyDesign, task: Task, body: AnswerBody) -> None:
    grades = set(study.scale.grades)
    refuse_others(body, "a label for a document", choice="a choice", classes="classes")
    na = study.not_applicable and not task["practice"] and body.label is None
    if body.label not in grades and not na:
        raise BadInput.at("label", expected=f"a grade of the scale {study.scale}", found=str(body.label))
    first = set() if study.snippet is None else {*study.snippet.scale.grades}
    if (body.snippet is not None or first) and body.snippet not in first:
        expected = f"a grade of the snippet's scale {study.snippet.scale}" if study.snippet else "no grade of a snippet"
        raise BadInput.at("snippet", expected=expected, found=str(body.snippet))
    names = {aspect.name for aspect in study.aspects}
    for name, grade in body.aspects.items():
        if name not in names:
            raise BadInput.at("aspects", expected=f"aspects of {', '.join(sorted(names)) or 'none'}", found=f'"{name}"')
        if grade is not None and grade not in grades:
            raise BadInput.at(f"the aspect {name}", expected=f"a grade of the scale {study.scale}", found=str(grade))
    missing = sorted(names - body.aspects.keys())
    if missing:
        raise BadInput.at("aspects", expected=f"a grade or null (N/A) for {', '.join(missing)}", found="nothing")


JUDGE = KindOnPage(_Reply, _shown, _check)
