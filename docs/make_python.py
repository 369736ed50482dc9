"""Write docs/python-reference.md from the code itself: python docs/make_python.py."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import karat as kt
from karat.measures import Measure

HEAD = """# Python

<!-- Made from the docstrings by docs/make_python.py; a test holds it up to date. -->

`import karat as kt`. Arguments come in one order everywhere: preferences, clicks or ratings where there are any, then
**labels, runs, measures**; the rest by name. One name has one meaning: `gold` (labels to trust), `by` (a column to tell
apart by), `level` (of intervals), `draws` (resamples; 0 for none), `seed` (of all that is drawn).

- `LabelsLike`: a `kt.Judgments`; a Polars, pandas, Arrow or Hugging Face table, or rows, with `query`, `doc`, `label`,
  or a column for each judge; `{query: {doc: label}}`; ranx' `Qrels`.
- `RunsLike`: a `kt.Runs`; a table or rows with `query`, `doc`, and `score` or `rank`; `{query: {doc: score}}`; ranx'
  `Run`; a list of these, or a dictionary of them by the name of their system.
- `FrameLike`: a Polars, pandas or Arrow table, rows as dictionaries, or columns by name.
- `PathLike`: text or a `pathlib.Path`.

Every result has `finding` (a sentence), `notes`, `to_frame()` (Polars), `to_pandas()`, `to_dict()` (for JSON) and
`plot()` (an Altair chart, where a figure has an interval); a notebook shows the columns that matter. Errors are
`kt.KaratError`: `BadInput` (something to mend, with the place), `Undefined` (the data cannot answer), `NotConverged`,
`MissingExtra`. The measures have [a page of their own](measures.md).
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    functions = [name for name in dir(kt) if inspect.isfunction(getattr(kt, name))]
    parts += ["## Functions\n", *(function(f"kt.{name}", getattr(kt, name)) for name in functions)]
    for folder in (kt.comparison, kt.judges, kt.context, kt.users, kt.plan, kt.simulate):
        parts += list(of_folder(folder))
    classes = [getattr(kt, name) for name in dir(kt) if inspect.isclass(getattr(kt, name))]
    shown = [found for found in classes if not issubclass(found, Measure | Exception)]
    parts += ["## Classes\n", *(of_class(f"kt.{found.__name__}", found) for found in shown)]
    return "\n".join(parts)


def of_folder(folder: ModuleType) -> Iterator[str]:
    """The functions of one folder that are not among the first."""
    name = folder.__name__.removeprefix("karat.")
    yield f"## kt.{name}\n\n{inspect.getdoc(folder)}\n"
    for public in sorted(folder.__all__):
        found = getattr(folder, public)
        if inspect.isfunction(found) and not hasattr(kt, public):
            yield function(f"kt.{name}.{public}", found)


def function(name: str, found: Any) -> str:
    """One function: how it is called, and what it says of itself."""
    return f"### {name}\n\n```python\n{called(name, found)}\n```\n\n{told(found)}\n"


def of_class(name: str, found: type) -> str:
    """One class: what it says of itself, and its own public methods in a line each."""
    rows = [
        f"| `{member}` | {first_line(value)} |"
        for member, value in sorted(vars(found).items())
        if not member.startswith("_") and first_line(value)
    ]
    table = "\n".join(["| has | which is |", "|---|---|", *rows]) if rows else ""
    return "\n\n".join(part for part in (f"### {name}", told(found), table) if part).rstrip() + "\n"


def first_line(member: Any) -> str:
    """The first sentence of a method's or property's docstring."""
    ways = ("__func__", "fget", "func")  # of class methods, properties and cached properties
    inner = next((getattr(member, way) for way in ways if hasattr(member, way)), member)
    return (inspect.getdoc(inner) or "").partition("\n")[0] if inspect.isfunction(inner) else ""


def called(name: str, found: Any) -> str:
    """The call with its arguments, one to a line where they are many."""
    signature = inspect.signature(found)
    line = f"{name}({', '.join(arguments(signature))}) -> {signature.return_annotation}"
    if len(line) <= 100:
        return line
    listed = "".join(f"    {argument},\n" for argument in arguments(signature))
    return f"{name}(\n{listed}) -> {signature.return_annotation}"


def arguments(signature: inspect.Signature) -> Iterator[str]:
    """Each argument with its type and what it is unless given; a star before those that are given by name."""
    starred = False
    for given in signature.parameters.values():
        if given.kind is given.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        default = "" if given.default is given.empty else f" = {given.default!r}"
        yield f"{given.name}: {given.annotation}{default}"


def told(found: Any) -> str:
    """The docstring, its examples as code."""
    parts = re.split(r"\n\n", inspect.getdoc(found) or "")
    return "\n\n".join(f"```python\n{part}\n```" if part.startswith(">>>") else part for part in parts)


if __name__ == "__main__":
    (Path(__file__).parent / "python-reference.md").write_text(page(), encoding="utf-8")
