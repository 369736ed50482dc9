"""What questions are made of: the study, its texts, the model and the prompt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from karat.ask.form import Field, Form
from karat.ask.prompt import Prompt, as_data, read_prompt
from karat.ask.request import Model, Request
from karat.errors import BadInput
from karat.records.design import StudyDesign
from karat.study.material import Material
from karat.study.plain_text import plain_text

Task = Mapping[str, Any]

#: Characters of a document that are shown, some two thousand words.
MOST_SHOWN = 12_000
#: Characters of each result in a list.
MOST_OF_RESULT = 600


@dataclass(frozen=True)
class Asker:
    """One judge to be: a model with a prompt, and what it is shown.

    A document of more than `most_shown` characters is cut there; which were is kept in `cut`.
    """

    design: StudyDesign
    material: Material
    model: Model
    prompt: str | None = None
    #: Whether a reason is asked for, after the grade.
    reasons: bool = False
    most_shown: int = MOST_SHOWN
    cut: set[str] = field(default_factory=set)

    def request(
        self, default: str, places: Mapping[str, str], fields: Sequence[Field], needed: Sequence[str]
    ) -> Request:
        """The request of a question: the prompt with what stands in its places, and the form of the answer."""
        form = self._form(fields)
        prompt = self.prompt_for(default, needed)
        filled = {**places, "form": form.in_words}
        system, user = prompt.checked([*filled]).filled(filled)
        if form.in_words not in system + user:
            # A prompt of one's own need not say the form of the answer.
            system = f"{system}\n\n{form.in_words}".strip()
        return Request(self.model, system, user, form)

    def prompt_version(
        self, default: str, fields: Sequence[Field], needed: Sequence[str], shared: Mapping[str, str]
    ) -> str:
        """A short hash of all that the questions of a kind have in common.

        It covers the prompt, the guidelines, the form of the answer, what the prompt says of grades, aspects and the
        like (`shared`), and how much of a text is shown.
        """
        prompt = self.prompt_for(default, needed)
        form = self._form(fields)
        content = {
            "prompt": [prompt.system, prompt.user],
            "guidelines": self.design.guidelines.strip(),
            "form": [form.in_words, form.schema],
            "shared": dict(shared),
            "shown": [self.most_shown, MOST_OF_RESULT],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    def _form(self, fields: Sequence[Field]) -> Form:
        """The form of an answer with these fields, and a reason where one is asked for."""
        return _form((*fields, *([Field("reason")] if self.reasons else [])))

    def prompt_for(self, default: str, needed: Sequence[str]) -> Prompt:
        """The prompt that was asked for, where it has the places that a kind of task needs, or that of the kind."""
        return read_prompt(self.prompt if self.prompt and self.uses(self.prompt, needed) else default)

    @staticmethod
    def uses(prompt: str, needed: Sequence[str]) -> bool:
        """Whether a prompt is for a kind of task: it has the places that the kind needs."""
        return {*needed} <= read_prompt(prompt).places

    def query(self, task: Task) -> dict[str, str]:
        """The places about the query, as a prompt has them."""
        said = self.material.query(task["query"], task.get("subtopic"), task.get("description"))
        need = f"What is needed: {said['description']}" if said["description"] else ""
        if said["subtopic"]:
            need = f"{need}\nOnly this part of it is asked about: {said['subtopic']}".strip()
        guidelines = self.design.guidelines.strip()
        return {
            "query": said["text"],
            "need": need,
            "guidelines": guidelines and f"Guidelines for judges:\n{guidelines}",
        }

    def document(self, doc: str, what: str = "document", text: str | None = None) -> str:
        """A document as data, its title first."""
        whole = self.text(doc) if text is None else text
        if len(whole) > self.most_shown:
            self.cut.add(doc)
            whole = f"{whole[: self.most_shown]}\n[cut after {self.most_shown:,} characters]"
        return as_data(what, whole)

    def text(self, doc: str) -> str:
        """The words of a document: title, and its text, or what a result list shows of it."""
        row = self.material.row(doc)
        body = plain_text(row) or row.get("snippet") or ""
        whole = "\n\n".join(part for part in (row.get("title"), body) if part)
        if not whole.strip():
            raise NoText(f"the document {doc}: expected a text, found none in the documents' file")
        return whole

    def snippet(self, doc: str) -> str:
        """What a result list shows of a document, as data."""
        shown = self._result(self.material.front(doc))
        if not shown:
            raise NoText(f"the document {doc}: expected a title or a text, found none in the documents' file")
        return as_data("result", shown)

    def results(self, task: Task, side: str) -> str:
        """A list of results as data."""
        shown = self.material.results(task[side], task.get(f"{side}_query") or task["query"], task.get(f"{side}_docs"))
        if not shown:
            raise NoText(f"the list of {task[side]} for query {task['query']}: expected results, found none")
        rows = [f"{rank}. {self._result(one) or one['doc']}" for rank, one in enumerate(shown, start=1)]
        return as_data("list", "\n\n".join(rows))

    def _result(self, shown: Mapping[str, Any]) -> str:
        """A result as a list shows it: title, address, snippet or the beginning of the text."""
        row = self.material.row(shown["doc"])
        body = row.get("snippet") or plain_text(row)
        return "\n".join(part for part in (shown["title"], shown["url"], body[:MOST_OF_RESULT]) if part)


@cache
def _form(fields: tuple[Field, ...]) -> Form:
    """The form of these fields, the same one for all questions that have it."""
    return Form(fields)


class NoText(BadInput):
    """There is nothing to show of what is asked about."""
