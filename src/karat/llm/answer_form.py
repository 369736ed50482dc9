"""The form of an answer: its fields and what may stand in them, as a JSON schema, and read back from what was said."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

#: What a model says that cannot tell; never a grade.
CANT_TELL = "can't tell"
#: A text that a model writes is cut here: it is shown to people.
MOST_TEXT = 2_000


def clean(text: str) -> str:
    """A model's words without halves of letters and zero bytes, which neither files nor databases hold."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


class NotAnswered(ValueError):
    """What was said is no answer in this form."""


@dataclass(frozen=True)
class Field:
    """One thing to answer: one of the `choices`, several of them, or without any a text."""

    name: str
    choices: tuple[str, ...] = ()
    many: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The field's part of the JSON schema."""
        one: dict[str, Any] = {"type": "string"} | ({"enum": list(self.choices)} if self.choices else {})
        return {"type": "array", "items": one} if self.many else one

    def read(self, value: Any) -> Any:
        """The value that stands for this field; `NotAnswered` where it is none of the choices."""
        if self.many:
            if not isinstance(value, list) or not value:
                raise NotAnswered(f"{self.name}: expected a list of choices, found {_short(value)}")
            return list(dict.fromkeys(Field(self.name, self.choices).read(one) for one in value))
        if not self.choices:
            return clean(value[:MOST_TEXT]) if isinstance(value, str) else ""
        text = value
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value) + 0.0 if abs(value) < 1e9 else math.nan  # no grade is as large; -0 is 0
            text = f"{number:g}" if float(f"{number:g}") == number else ""
        if not isinstance(text, str) or text.strip() not in self.choices:
            raise NotAnswered(f"{self.name}: expected one of {', '.join(self.choices)}, found {_short(value)}")
        return text.strip()


@dataclass(frozen=True)
class Form:
    """The fields of an answer, in the order in which they are to be written.

    >>> form = Form((Field("grade", ("0", "1", CANT_TELL)), Field("reason")))
    >>> form.read('{"grade": "1", "reason": "it says so"}')
    {'grade': '1', 'reason': 'it says so'}
    >>> form.read('{"grade": 7}')
    Traceback (most recent call last):
    karat.llm.answer_form.NotAnswered: grade: expected one of 0, 1, can't tell, found 7
    """

    fields: tuple[Field, ...]

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema that servers hold a model to."""
        return {
            "type": "object",
            "properties": {field.name: field.schema for field in self.fields},
            "required": [field.name for field in self.fields],
            "additionalProperties": False,
        }

    @cached_property
    def as_json(self) -> str:
        """The schema as JSON, its names in order."""
        return json.dumps(self.schema, sort_keys=True)

    @cached_property
    def in_words(self) -> str:
        """The form for models whose server knows no schemas, or takes one and does not keep to it.

        >>> print(Form((Field("grade", ("0", "1")),)).in_words)
        Answer with one JSON object and nothing else: {"grade": one of "0", "1"}
        """
        parts = []
        for field in self.fields:
            choices = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in field.choices)
            what = f"a list of some of {choices}" if field.many else f"one of {choices}" if choices else "a short text"
            parts.append(f"{json.dumps(field.name, ensure_ascii=False)}: {what}")
        return "Answer with one JSON object and nothing else: {" + ", ".join(parts) + "}"

    def read(self, text: str) -> dict[str, Any]:
        """The values of the fields; a text field that is missing is empty.

        The whole reply has to be one JSON object. Only white space, one code fence around the object and one closed
        think block before it are allowed: an object inside prose may be a quotation from the document.
        """
        values = _object(text)
        missing = [field.name for field in self.fields if field.choices and field.name not in values]
        if missing:
            raise NotAnswered(f"expected {', '.join(missing)}, found {_short(list(values))}")
        names = {field.name for field in self.fields}
        alike = {name.casefold(): name for name in names}
        for name in values:
            if name not in names and (meant := alike.get(name.strip().casefold())) is not None:
                raise NotAnswered(f"{_short(meant)}: expected one value, found another under {_short(repr(name))}")
        return {field.name: field.read(values.get(field.name)) for field in self.fields}


def answer_start(text: str) -> int:
    """The place where the answer begins: after a closed think block at the start of the reply.

    >>> answer_start("<think>1 or 2?</think>{}"), answer_start("<think>1 or 2?")
    (22, 0)
    """
    found = _THOUGHT.match(text)
    return found.end() if found else 0


_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s(.*)```", re.DOTALL | re.IGNORECASE)


def _object(text: str) -> Mapping[str, Any]:
    """The JSON object that a reply consists of."""
    answer = text[answer_start(text) :].strip()
    fenced = _FENCED.fullmatch(answer)
    try:
        found = json.loads(fenced[1] if fenced else answer, object_pairs_hook=_unique)
    except NotAnswered:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        raise NotAnswered(f"expected one JSON object and nothing else, found {_short(text.strip())}")
    for name, value in found.items():
        if any(isinstance(part, Mapping | list) for part in (value if isinstance(value, list) else [value])):
            raise NotAnswered(f"{_short(name)}: expected a value, found {_short(value)}")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which every name has one value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise NotAnswered(f"{_short(twice)}: expected one value, found several")
    return found


def _short(value: Any) -> str:
    text = clean(value[:100] if isinstance(value, str) else json.dumps(value, default=str)[:100])
    return "nothing" if not text.strip() else text if len(text) <= 80 else f"{text[:80]} ..."
