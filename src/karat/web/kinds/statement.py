"""A statement beside a text, with a choice between words: what nuggets and cited passages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field

from karat.errors import BadInput
from karat.records.study_design import StudyDesign
from karat.study.task_material import Material
from karat.web.kinds.kind import Task, refuse_others
from karat.web.schemas import AnswerBody, DocumentShown, Reply


class StatementReply(Reply):
    """A statement beside a document."""

    document: DocumentShown | None = Field(None, description="what stands beside the statement")
    statement: str | None = Field(None, description="kind support: the sentence; kind nugget: the fact")


def shown(material: Material, task: Task) -> dict[str, Any]:
    """The statement and the document beside it."""
    return {"document": material.front(task["doc"]), "statement": task["text"]}


def check(choices: tuple[str, ...]) -> Callable[[StudyDesign, Task, AnswerBody], None]:
    """Refuses what is none of these choices."""

    def fits(study: StudyDesign, task: Task, body: AnswerBody) -> None:
        refuse_others(body, "a choice", label="a label", aspects="aspects", classes="classes", snippet="a grade")
        if body.choice not in choices:
            raise BadInput.at("choice", expected=" or ".join(choices), found=str(body.choice))

    return fits
