"""One question to a model, and the key of its answer: everything that can change what it says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from karat.llm.answer_form import Form


@dataclass(frozen=True)
class Model:
    """A model at a server, and how it is asked."""

    name: str
    dialect: str = "openai"
    url: str = ""
    temperature: float = 0.0
    max_tokens: int = 400
    seed: int | None = 0
    #: Whether log-probabilities are asked for, of which expected grades are made.
    logprobs: bool = False
    #: Other models whose answers are accepted (`is_same_model`).
    allowed: tuple[str, ...] = ()

    @cached_property
    def content(self) -> dict[str, Any]:
        """What can change an answer, by its names.

        Not how long it may get: that changes none that is whole, and what was cut off is asked again by --retry. Nor
        which models are allowed: that changes which stored answers count, not what they say.
        """
        return {name: value for name, value in asdict(self).items() if name not in ("max_tokens", "allowed")}

    @cached_property
    def as_json(self) -> str:
        """The content as JSON, its names in order."""
        return json.dumps(self.content, sort_keys=True)


@dataclass(frozen=True)
class Request:
    """What is sent: who is asked, the two messages, the form of the answer, and the how manieth time it is asked.

    >>> form = Form(())
    >>> one = Request(Model("small"), "Judge.", "Horse hooves?", form)
    >>> one.key == Request(Model("small"), "Judge.", "Horse hooves?", form).key
    True
    >>> one.key == Request(Model("large"), "Judge.", "Horse hooves?", form).key or one.key == one.again().key
    False
    """

    model: Model
    system: str
    user: str
    form: Form
    repeat: int = 0

    def again(self, repeat: int = 1) -> Request:
        """The same question once more, which has an answer of its own."""
        return replace(self, repeat=repeat)

    @property
    def content(self) -> dict[str, Any]:
        """All that can change the answer."""
        return {
            "model": self.model.content,
            "system": self.system,
            "user": self.user,
            "schema": self.form.schema,
            "repeat": self.repeat,
        }

    @cached_property
    def as_json(self) -> str:
        """The content as JSON, its names in order; model and form, which many questions share, are written once.

        >>> one = Request(Model("small"), "Judge.", "Horse hooves?", Form(()))
        >>> one.as_json == json.dumps(one.content, sort_keys=True)
        True
        """
        system, user = json.dumps(self.system), json.dumps(self.user)
        shared = f'"model": {self.model.as_json}, "repeat": {self.repeat}, "schema": {self.form.as_json}'
        return f'{{{shared}, "system": {system}, "user": {user}}}'

    @cached_property
    def key(self) -> str:
        """A short name of the content."""
        return hashlib.sha256(self.as_json.encode()).hexdigest()
