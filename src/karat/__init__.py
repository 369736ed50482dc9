"""karat: how much gold is in your relevance labels, and which search engine is better once you know.

>>> import karat as kt
>>> kt.nDCG @ 10
nDCG@10

The public names stand in `karat.api`, which is loaded when the first of them is used: `import karat` costs next to
nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.api import *  # noqa: F403

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        api = import_module("karat.api")
        if hasattr(api, name):
            return getattr(api, name)
        # A measure needs no line in karat.api: it is registered where it is defined.
        measures = import_module("karat.measures").MEASURES
        if name in measures:
            return measures[name]
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    api = import_module("karat.api")
    public = {name for name in vars(api) if not name.startswith("_")}
    return sorted({"__version__", *public, *import_module("karat.measures").MEASURES.own})
