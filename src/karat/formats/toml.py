"""TOML, with words for what is wrong with it."""

from __future__ import annotations

import tomllib
from typing import Any

from karat.errors import BadInput


def parse_toml(text: str, place: str) -> dict[str, Any]:
    r"""What a TOML text says.

    >>> parse_toml('[bm25]\nurl = "http://localhost"', "engines.toml")
    {'bm25': {'url': 'http://localhost'}}
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        found = "brackets within brackets without end"
    except ValueError as error:  # a slip of TOML, or a number of thousands of digits
        found = str(error)
    raise BadInput.at(place, expected="TOML", found=found)
