"""What judges see of a kind of task and may answer; what the database knows of it is in `store/kinds`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from karat.errors import BadInput
from karat.records.study_design import StudyDesign
from karat.study.task_material import Material
from karat.web.schemas import AnswerBody, Reply

Task = dict[str, Any]


@dataclass(frozen=True)
class KindOnPage:
    """How a kind of task is shown and answered; its page is drawn by the script of its name in `static/kinds`.

    `check` refuses an answer that does not fit the task and the study. `shown` gives what a task shows beside its
    query, as `reply` describes it: neither trap, gold, probability nor which system is which.
    """

    reply: type[Reply]
    shown: Callable[[Material, Task], dict[str, Any]]
    check: Callable[[StudyDesign, Task, AnswerBody], None]


def refuse_others(body: AnswerBody, expected: str, **others: str) -> None:
    """Refuse an answer with something that another kind of task is answered with: its name, and what it is called.

    >>> refuse_others(AnswerBody(label=1), "a choice between lists", label="a label", aspects="aspects")
    Traceback (most recent call last):
    karat.errors.BadInput: the answer: expected a choice between lists, found a label or aspects
    """
    if any(getattr(body, name) not in (None, {}, []) for name in others):
        *first, last = others.values()
        raise BadInput.at("the answer", expected=expected, found=f"{', '.join(first)} or {last}")
