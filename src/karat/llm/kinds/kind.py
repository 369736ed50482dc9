"""What a kind of task is when a model is asked: its questions, and what their outcomes come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from karat.llm.answer_form import CANT_TELL, Field
from karat.llm.asking import Asker, Task
from karat.llm.outcomes import GRADED, Outcome
from karat.llm.requests import Request
from karat.records.study_design import StudyDesign


@dataclass(frozen=True)
class Verdict:
    """What a model says of a task, in the columns of the log, or an outcome that is no answer."""

    outcome: str
    said: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""

    @property
    def answered(self) -> bool:
        """Whether there is something to count."""
        return self.outcome in (GRADED, CANT_TELL)


class Common(NamedTuple):
    """What the questions of a kind have in common, beside the prompt and the guidelines."""

    fields: Sequence[Field]
    shared: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class AskedKind:
    """How a kind of task is asked of a model.

    `requests` gives the questions of a task, `verdict` what their outcomes come to; `one` makes a verdict of outcomes
    that all answer. A prompt is for this kind if it has the places that are `needed`;
    `prompt` is the one taken else.
    """

    prompt: str
    needed: tuple[str, ...]
    requests: Callable[[Asker, Task], list[Request]]
    one: Callable[[Asker, Task, Sequence[Outcome]], Verdict]
    #: What all questions of the kind have in common: the fields of the answer, and texts by their places in the prompt.
    #: One for all questions of a task, or one for each.
    common: Callable[[Asker], Sequence[Common]]
    #: How many questions a task of a study comes to.
    times: Callable[[StudyDesign], int] = lambda design: 1

    def prompt_versions(self, asker: Asker) -> tuple[str, ...]:
        """The hash of what the questions have in common: one for all questions of a task, or one for each."""
        common = self.common(asker)
        return tuple(asker.prompt_version(self.prompt, one.fields, self.needed, one.shared) for one in common)

    def verdict(self, asker: Asker, task: Task, outcomes: Sequence[Outcome]) -> Verdict:
        """What the outcomes come to; where one is no answer, that one."""
        for found in outcomes:
            if not found.answered:
                return Verdict(found.kind, why=found.why)
        if any(found.kind == CANT_TELL for found in outcomes):
            return Verdict(CANT_TELL, {"reason": outcomes[0].values.get("reason") or None})
        return self.one(asker, task, outcomes)
