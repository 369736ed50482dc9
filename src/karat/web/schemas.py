"""What judges see of queries and documents, for the description of the interface."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from karat.study.event_log import Answer


class Reply(BaseModel):
    """An answer of the server; nothing else is in it."""

    model_config = ConfigDict(extra="forbid")


class QueryShown(Reply):
    """A query as it is shown."""

    query: str = Field(description="the id")
    text: str
    description: str = Field(description="what is needed")
    subtopic: str = Field(description="what the subtopic means, if one is asked about")


class DocumentShown(Reply):
    """What a result list shows of a document."""

    doc: str = Field(description="the id")
    title: str
    snippet: str
    url: str
    page: bool = Field(description="whether there is a page to open: GET /api/task/{task_id}/text")


def _clean(text: str) -> str:
    """A text that every database holds: without NUL and without half a character (a lone surrogate)."""
    if "\0" in text:
        raise ValueError("a text without the character NUL")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("a text of whole characters, no lone surrogate")
    return text


Text = Annotated[str, Field(max_length=20_000), AfterValidator(_clean)]
Name = Annotated[str, Field(max_length=200), AfterValidator(_clean)]
Key = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_clean)]
Seconds = Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False)]
Grade = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]


class Body(BaseModel):
    """A request's body; names that are not known are refused, so that a slip is seen."""

    model_config = ConfigDict(extra="forbid")


class AnswerBody(Body):
    """An answer: `label` (and `aspects`) for a document, `choice` with `reason` or `chips` for lists, `classes`."""

    label: Grade | None = Field(None, description="a grade of the study's scale; null is N/A, where the study has it")
    aspects: dict[Name, Grade | None] = Field(
        default_factory=dict, max_length=50, description="a grade for each aspect; null is N/A"
    )
    snippet: Grade | None = Field(None, description="where the snippet is graded first: its grade, of its own scale")
    choice: Name | None = Field(None, description="left, equal, right or none")
    strength: Grade | None = Field(None, description="from 1, how clear the preference is")
    reason: Text | None = None
    chips: list[Name] = Field(default_factory=list, max_length=50)
    classes: list[Name] = Field(default_factory=list, max_length=50)
    comment: Text | None = None
    surface: Name | None = Field(None, pattern="^(page|snippet)$", description="what was looked at: page or snippet")
    seconds: Seconds | None = Field(None, description="time at work")
    away: Seconds | None = Field(None, description="time away")
    key: Key | None = Field(None, description="the same key sent again counts once")

    def answer(self) -> Answer:
        """The same for the store; nothing written is no text, and a class named twice is one."""
        said = {name: getattr(self, name) for name in type(self).model_fields}
        said |= {name: said[name] or None for name in ("reason", "comment")}
        return Answer(**said | {"chips": tuple(self.chips), "classes": tuple(dict.fromkeys(self.classes))})


class PutOffBody(Body):
    """Why a task is given back, and how long it took."""

    reason: Text | None = None
    comment: Text | None = None
    seconds: Seconds | None = None
    away: Seconds | None = None
    key: Key | None = None


class KeyBody(Body):
    """The sender's key, if any."""

    key: Key | None = None


class OpenedBody(Body):
    """What was opened: the page, the context, or the look-up panel."""

    what: str = Field(pattern="^(page|context|lookup)$")
