"""A file of engines: in TOML, a part for each, named as the system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from karat.engines.engine import Engine, is_text
from karat.errors import BadInput
from karat.formats.open_files import File
from karat.formats.toml import parse_toml

#: What may stand for a name that is no text.
_KINDS: dict[str, tuple[type, ...]] = {"headers": (dict,), "columns": (dict,), "template": (str, dict)}


def read_engines(path: str | PathLike[str]) -> list[Engine]:
    """The engines in a file; templates and SQL are named as seen from the file.

    [bm25]
    url = "http://localhost:9200/docs/_search"
    template = "bm25.json"

    [hybrid]
    url = "https://search.example.com/v2?q={{query}}&n={{depth}}"
    headers = { Authorization = "Bearer env:SEARCH_TOKEN" }
    columns = { doc = "sku", title = "name" }
    """
    file = File(str(path))
    parts = parse_toml(file.text, file.name)
    if not parts:
        raise BadInput.at(file.name, expected="a part [NAME] for each engine", found="none")
    return [_engine(file.name, name, part, Path(path).parent) for name, part in parts.items()]


def _engine(place: str, name: str, part: Any, folder: Path) -> Engine:
    where = f"{place}, [{name}]"
    known = [one.name for one in fields(Engine) if one.name != "system"]
    if not isinstance(part, Mapping):
        raise BadInput.at(place, expected="a part [NAME] for each engine", found=f'"{name}" outside of one')
    strange = [key for key in part if key not in known]
    if strange:
        raise BadInput.at(where, expected=", ".join(known), found=", ".join(strange))
    if "url" not in part:
        raise BadInput.at(where, expected="url", found="none")
    made = dict(part)
    for key, value in part.items():
        kinds = _KINDS.get(key, (str,))
        flat = key == "template" or not isinstance(value, dict) or all(isinstance(one, str) for one in value.values())
        if not isinstance(value, kinds) or not flat:
            raise BadInput.at(
                f"{where}, {key}", expected="texts by name" if dict in kinds else "a text", found=str(value)
            )
        if key in ("template", "sql") and isinstance(value, str) and not is_text(value):
            made[key] = str(folder / value)
    if part.get("request", "GET") not in ("GET", "POST"):
        raise BadInput.at(f"{where}, request", expected="GET or POST", found=str(part["request"]))
    return Engine(system=name, **made)
