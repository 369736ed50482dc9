"""Two result lists side by side: which is better, and why."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from karat.errors import BadInput
from karat.records.preferences import CHOICES
from karat.records.study_design import StudyDesign
from karat.study.task_material import Material
from karat.web.kinds.kind import KindOnPage, Task, refuse_others
from karat.web.schemas import AnswerBody, DocumentShown, Reply


class _Reply(Reply):
    left: list[DocumentShown] | None = Field(None, description="kind pair: the list on the left")
    right: list[DocumentShown] | None = Field(None, description="kind pair: the list on the right")


def _shown(material: Material, task: Task) -> dict[str, Any]:
    a, b = material.lists(task)
    return {"left": b, "right": a} if task["turned"] else {"left": a, "right": b}


def _check(study: StudyDesign, task: Task, body: AnswerBody) -> None:
    refuse_others(
        body,
        "a choice between lists",
        label="a label",
        aspects="aspects",
        snippet="a snippet's grade",
        classes="classes",
    )
    if body.choice not in CHOICES:
        raise BadInput.at("choice", expected=" or ".join(CHOICES), found=str(body.choice))
    if body.strength is not None and body.strength not in range(1, study.strengths + 1):
        raise BadInput.at("strength", expected=f"a whole number from 1 to {study.strengths}", found=str(body.strength))
    if not task["practice"] and not (body.reason or "").strip() and not body.chips:
        ways = "a reason in words or a chip" if study.reasons else "a reason in words"
        raise BadInput.at("reason", expected=ways, found="nothing")


PAIR = KindOnPage(_Reply, _shown, _check)
