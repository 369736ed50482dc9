"""What may be said of a task: the bodies of requests, checked against the study's scale and rules."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from karat.errors import BadInput
from karat.records.design import StudyDesign
from karat.records.preferences import CHOICES
from karat.store import Answer


def _clean(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text without the character NUL")
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

    label: Grade | None = Field(None, description="a grade of the study's scale")
    aspects: dict[Name, Grade | None] = Field(
        default_factory=dict, max_length=50, description="a grade for each aspect; null is N/A"
    )
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


def checked(study: StudyDesign, task: dict[str, Any], body: AnswerBody) -> Answer:
    """The answer, if it fits the task and the study."""
    if task["kind"] == "judge":
        _check_grades(study, body)
    elif task["kind"] == "pair":
        _check_choice(study, body, practice=bool(task["practice"]))
    else:
        _check_classes(study, body)
    return Answer(
        label=body.label,
        aspects=dict(body.aspects),
        choice=body.choice,
        strength=body.strength,
        reason=body.reason or None,
        chips=tuple(body.chips),
        classes=tuple(dict.fromkeys(body.classes)),
        comment=body.comment or None,
        surface=body.surface,
        seconds=body.seconds,
        away=body.away,
        key=body.key,
    )


def _check_grades(study: StudyDesign, body: AnswerBody) -> None:
    grades = set(study.scale.grades)
    if body.choice is not None or body.classes:
        raise BadInput.at("the answer", expected="a label for a document", found="a choice or classes")
    if body.label not in grades:
        raise BadInput.at("label", expected=f"a grade of the scale {study.scale}", found=str(body.label))
    names = {aspect.name for aspect in study.aspects}
    for name, grade in body.aspects.items():
        if name not in names:
            raise BadInput.at("aspects", expected=f"aspects of {', '.join(sorted(names)) or 'none'}", found=f'"{name}"')
        if grade is not None and grade not in grades:
            raise BadInput.at(f"the aspect {name}", expected=f"a grade of the scale {study.scale}", found=str(grade))
    missing = sorted(names - body.aspects.keys())
    if missing:
        raise BadInput.at("aspects", expected=f"a grade or null (N/A) for {', '.join(missing)}", found="nothing")


def _check_classes(study: StudyDesign, body: AnswerBody) -> None:
    if body.label is not None or body.aspects or body.choice is not None:
        raise BadInput.at("the answer", expected="classes of a reason", found="a label, aspects or a choice")
    if not body.classes or not {*body.classes} <= {*study.classes}:
        raise BadInput.at("classes", expected=f"some of {', '.join(study.classes)}", found=str(body.classes)[:200])


def _check_choice(study: StudyDesign, body: AnswerBody, *, practice: bool) -> None:
    if body.label is not None or body.aspects or body.classes:
        raise BadInput.at("the answer", expected="a choice between lists", found="a label, aspects or classes")
    if body.choice not in CHOICES:
        raise BadInput.at("choice", expected=" or ".join(CHOICES), found=str(body.choice))
    if body.strength is not None and body.strength not in range(1, study.strengths + 1):
        raise BadInput.at("strength", expected=f"a whole number from 1 to {study.strengths}", found=str(body.strength))
    if not practice and not (body.reason or "").strip() and not body.chips:
        raise BadInput.at("reason", expected="a reason in words or a chip", found="nothing")
