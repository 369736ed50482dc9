"""Whether the model that answered is the one that was asked, by the names in the request and in the reply."""

from __future__ import annotations

import re
from collections.abc import Collection

_YEAR, _MONTH, _DAY = r"20\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
#: What providers put after the name of a model to tell its version: 2024-08-06, 20240806, 05-20, 0613, 2411 or 002.
_VERSION = re.compile(
    rf"[-@:_](?:{_YEAR}[-_.]?{_MONTH}[-_.]?{_DAY}|{_MONTH}-{_DAY}|{_MONTH}{_DAY}|2\d{_MONTH}|00\d|latest)"
)
#: What names the newest version, whichever that is.
_LATEST = re.compile(r"[-@:_]latest$")


def is_same_model(asked: str, replied: str | None, allowed: Collection[str] = ()) -> bool:
    """Whether a reply is by the model that was asked, or by one of the `allowed`.

    A reply may name a dated version of the model, leave out or add the provider before a slash, or give the path of the
    model's file. A reply without a name is accepted.

    >>> is_same_model("gpt-4o", "gpt-4o-2024-08-06"), is_same_model("openai/gpt-4o", "gpt-4o")
    (True, True)
    >>> is_same_model("gpt-4o", "gpt-4o-mini"), is_same_model("gpt-4o-2024-05-13", "gpt-4o-2024-08-06")
    (False, False)
    >>> is_same_model("gpt-3.5-turbo", "/models/llama.gguf", allowed=["llama"])
    True
    """
    if replied is None or not replied.strip():
        return True
    return any(_is_version(_path(replied), _path(name)) for name in (asked, *allowed))


def _path(name: str) -> list[str]:
    """The parts of a name: providers or folders, and last the model, without the ending of a file."""
    *before, model = name.strip().casefold().replace("\\", "/").strip("/").split("/")
    return [*before, _LATEST.sub("", model.removesuffix(".gguf"))]


def _is_version(replied: list[str], asked: list[str]) -> bool:
    """Whether one name is the other, or a dated version of it; either may have more before its slashes."""
    depth = min(len(replied), len(asked)) - 1
    if depth and replied[-1 - depth : -1] != asked[-1 - depth : -1]:
        return False
    model, version = asked[-1], replied[-1]
    return version == model or (version.startswith(model) and bool(_VERSION.fullmatch(version[len(model) :])))
