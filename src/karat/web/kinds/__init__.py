"""The kinds of tasks on the pages and in the JSON interface: one file each, named as the store names the kind."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from karat.records.study_design import StudyDesign
from karat.study import kinds
from karat.study.event_log import Answer
from karat.study.task_material import Material
from karat.web.kinds.kind import KindOnPage, Task
from karat.web.schemas import AnswerBody

#: By the names that they have in the store, which are those of the files.
ON_PAGE: dict[str, KindOnPage] = {
    file.name: value
    for file in iter_modules(__path__)
    for value in vars(import_module(f"{__name__}.{file.name}")).values()
    if isinstance(value, KindOnPage)
}


def shown(material: Material, task: Task) -> Task:
    """What a judge may see of a task."""
    meaning = task["text"] if kinds.KINDS[task["kind"]].text == "description" else None
    said = {name: task[name] for name in ("kind", "state", "until", "practice")} | {"id": task["given"]}
    said["query"] = material.query(task["query"], task["subtopic"], meaning)
    return said | ON_PAGE[task["kind"]].shown(material, task)


def checked(study: StudyDesign, task: Task, body: AnswerBody) -> Answer:
    """The answer, if it fits the task and the study."""
    ON_PAGE[task["kind"]].check(study, task, body)
    return body.answer()
