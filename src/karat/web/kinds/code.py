"""A reason that somebody gave for a preference, to be put into classes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from karat.errors import BadInput
from karat.records.study_design import StudyDesign
from karat.study.task_material import Material
from karat.web.kinds.kind import KindOnPage, Task, refuse_others
from karat.web.schemas import AnswerBody, Reply


class _Reply(Reply):
    reason: str | None = Field(None, description="kind code: what somebody said")


def _shown(material: Material, task: Task) -> dict[str, Any]:
    return {"reason": task["text"]}


def _check(study: StudyDesign, task: Task, body: AnswerBody) -> None:
    refuse_others(
        body, "classes of a reason", label="a label", aspects="aspects", snippet="a snippet's grade", choice="a choice"
    )
    if not body.classes or not {*body.classes} <= {*study.classes}:
        raise BadInput.at("classes", expected=f"some of {', '.join(study.classes)}", found=str(body.classes)[:200])


CODE = KindOnPage(_Reply, _shown, _check)
