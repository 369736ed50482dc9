"""The kinds of tasks on the pages and in the JSON interface: one file each, and its name in the line below."""

from __future__ import annotations

from karat.collect.answers import AnswerBody
from karat.collect.kinds.code import CODE
from karat.collect.kinds.judge import JUDGE
from karat.collect.kinds.kind import KindOnPage, Task
from karat.collect.kinds.pair import PAIR
from karat.collect.material import Material
from karat.records.design import StudyDesign
from karat.store import Answer, kinds

#: By the names that they have in the store.
ON_PAGE: dict[str, KindOnPage] = {"judge": JUDGE, "pair": PAIR, "code": CODE}


def shown(material: Material, task: Task) -> Task:
    """What a judge may see of a task."""
    meaning = task["text"] if kinds.KINDS[task["kind"]].text == "description" else None
    said = {name: task[name] for name in ("id", "kind", "state", "until", "practice")}
    said["query"] = material.query(task["query"], task["subtopic"], meaning)
    return said | ON_PAGE[task["kind"]].shown(material, task)


def checked(study: StudyDesign, task: Task, body: AnswerBody) -> Answer:
    """The answer, if it fits the task and the study."""
    ON_PAGE[task["kind"]].check(study, task, body)
    return body.answer()
