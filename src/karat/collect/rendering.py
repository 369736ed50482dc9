"""Pages from templates: every text is escaped, and every page knows its session's token."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse

from karat.collect.app_state import VERSION, AppState
from karat.collect.people import csrf_token
from karat.records.scale import Scale

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("karat.collect"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(running: AppState, name: str, *, session: str | None = None, code: int = 200, **values: Any) -> HTMLResponse:
    """A page of a study from a template; `session` is the token of the session whose changes it may send."""
    csrf = csrf_token(session) if session else ""
    text = _environment().get_template(name).render(study=running.study, csrf=csrf, version=VERSION, **values)
    return HTMLResponse(text, code)


def paragraphs(text: str) -> list[dict[str, Any]]:
    r"""Guidelines as headings, lists and paragraphs, from text with `#` and `-` as in Markdown.

    >>> paragraphs("# Grades\nRead first.\n\n- one\n- two")
    [{'heading': 'Grades'}, {'text': 'Read first.'}, {'points': ['one', 'two']}]
    """
    parts: list[dict[str, Any]] = []
    for line in [*text.splitlines(), ""]:
        said = line.strip()
        last = parts[-1] if parts else {}
        if not said:
            parts.append({})
        elif said.startswith("#"):
            parts.append({"heading": said.lstrip("# ")})
        elif said.startswith(("- ", "* ")):
            point = said[2:].strip()
            if "points" in last:
                last["points"].append(point)
            else:
                parts.append({"points": [point]})
        elif "text" in last:
            last["text"] += f" {said}"
        elif "points" in last:
            last["points"][-1] += f" {said}"
        else:
            parts.append({"text": said})
    return [part for part in parts if part]


def keyed_levels(scale: Scale) -> list[dict[str, Any]]:
    """The levels with the key that chooses each: the grade itself where all are digits, else the place.

    >>> [level["key"] for level in keyed_levels(Scale.parse("0..2"))]
    ['0', '1', '2']
    >>> [level["key"] for level in keyed_levels(Scale.parse("-2=junk, 0=not, 1=good"))]
    ['1', '2', '3']
    """
    digits = all(grade in range(10) for grade in scale.grades)
    return [
        {
            "grade": level.grade,
            "name": level.name,
            "definition": level.definition,
            "key": f"{level.grade:.0f}" if digits else str(place) if place < 10 else "",
        }
        for place, level in enumerate(scale, 1)
    ]
