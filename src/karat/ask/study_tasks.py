"""The tasks of a study as a model is asked them, and its answers on their way into the study's log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from karat.ask.asker import Task
from karat.ask.form import CANT_TELL
from karat.ask.outcome import PARSER
from karat.ask.rows import Answered
from karat.errors import BadInput
from karat.formats.tasks import TaskTable
from karat.labels.selection import LLM
from karat.store import Store
from karat.store.imported import Imported, answer_row, take_answers
from karat.store.kinds import KINDS
from karat.store.people import all_judges
from karat.store.read_tables import tasks_frame
from karat.store.task_rows import task_rows

#: What is kept of how an answer was made, beside the answer itself.
KEPT = ("aspects", "classes", "snippet", "expected_grade", "mass", "orders")


def tasks_of_study(store: Store, planned: TaskTable | None = None) -> list[Task]:
    """Every question of a study once, whichever group it is for; not what people practise or are caught by.

    `planned` are those of the study's files, which nobody may have been asked yet: they stay out of people's queue.
    """
    found: dict[str, Task] = {}
    for row in _rows(store, planned):
        if not row["practice"] and not row["trap"]:
            kind = KINDS[row["kind"]]
            found.setdefault(kind.item({**row, "text": row[kind.text]}), row)
    return [*found.values()]


def _rows(store: Store, planned: TaskTable | None) -> Iterator[Task]:
    """The tasks of the database, then those of the files, in the columns of task files."""
    yield from tasks_frame(store).iter_rows(named=True)
    files = [] if planned is None else task_rows(planned.frame, store.scale, store.groups, source=planned.source)
    for row in files:
        yield {**row, KINDS[row["kind"]].text: row["text"]}


def refuse_people(store: Store, names: Sequence[str]) -> None:
    """Refuse names that people of the study have, before anything is asked."""
    for person in all_judges(store):
        if person["name"] in names and person["grp"] != LLM:
            raise BadInput.at(
                f"the judge {person['name']}",
                expected="a name that no judge of another group has",
                found=f"one of the group {person['grp']}",
                remedy="name the model's judge by --as",
            )


def record(store: Store, rows: Sequence[dict[str, Any]]) -> Imported:
    """Put what a model answered (`log_row`) into the log of a study, as a judge's of the group of models."""
    return take_answers(store, [*rows])


def log_row(one: Answered) -> dict[str, Any] | None:
    """The answer to a task as the log has it; None where there is none."""
    verdict = one.verdict
    if verdict is None or not verdict.answered:
        return None
    said = dict(verdict.said)
    at = max(answer.at for answer in one.answers)
    text = KINDS[one.task["kind"]].text
    names = ("kind", "query", "doc", "context", "subtopic", "repeat", text)
    sided = (f"{side}{what}" for side in ("left", "right") for what in ("", "_query", "_docs"))
    task = {name: one.task.get(name) for name in (*names, *sided)}
    # What the log has columns for, and the rest of it as JSON.
    more = {name: said[name] for name in KEPT if said.get(name) not in (None, {}, [])}
    more |= {"model": one.requests[0].model.name, "prompt": one.prompt, "parser": PARSER}
    replied = dict.fromkeys(found.said.model for found in one.outcomes if found.said and found.said.model)
    more |= {"returned_model": ", ".join(replied)} if replied else {}
    more |= {"answer": [request.key[:16] for request in one.requests]}
    costs = [cost for cost in one.costs if cost is not None]
    more |= {"cost": sum(costs)} if costs else {}
    row = answer_row(task | {"text": task[text]}, one.judge.name_for(one.task["kind"]), LLM, at)
    row |= {name: said.get(name) for name in ("label", "aspects", "choice", "a", "b", "reason", "comment")}
    row["kind"] = "cant_tell" if verdict.outcome == CANT_TELL else "answer"
    return row | {"more": json.dumps(more), "seconds": sum(answer.seconds for answer in one.answers)}
