"""Paths in an answer: names with dots between them, a number for a place in a list, `*` for the first one there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def at(value: Any, path: str) -> Any:
    """What stands at a path; None where nothing does. A name may have dots in it, and `.` is the whole.

    >>> hit = {"_source": {"name": ["Horse"]}, "@search.score": 1.5, "highlight": {"body": ["a <em>hoof</em>"]}}
    >>> at(hit, "_source.name.0"), at(hit, "@search.score"), at(hit, "highlight.*.0"), at(hit, "_source.title")
    ('Horse', 1.5, 'a <em>hoof</em>', None)
    """
    return value if path == "." else _at(value, path.split("."))


def _at(value: Any, steps: list[str]) -> Any:
    if not steps:
        return value
    if isinstance(value, list):
        if steps[0] == "*":
            return _at(value[0], steps[1:]) if value else None
        place = int(steps[0]) if steps[0].isdecimal() and len(steps[0]) < 10 else len(value)
        return _at(value[place], steps[1:]) if place < len(value) else None
    if not isinstance(value, Mapping):
        return None
    if steps[0] == "*" and value and "*" not in value:
        return _at(next(iter(value.values())), steps[1:])
    for end in range(len(steps), 0, -1):
        name = ".".join(steps[:end])
        if name in value:
            return _at(value[name], steps[end:])
    return None
