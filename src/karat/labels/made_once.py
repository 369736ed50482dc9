"""What was made of labels, for as long as they are there: the parts of an analysis begin with the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from karat.records import Judgments

Made = TypeVar("Made")
#: So many things are kept of the same labels, the latest ones: they take as much memory as the labels do.
MOST_KEPT = 4

_KEPT: WeakKeyDictionary[Judgments, dict[Hashable, Any]] = WeakKeyDictionary()


def made_once(labels: Judgments, key: Hashable, make: Callable[[], Made]) -> Made:
    """What `make` makes of these labels, made only if it was not yet under this key.

    >>> labels, asked = Judgments.of({"q": {"d": 1}}), []
    >>> [made_once(labels, "asked", lambda: asked.append(1) or len(asked)) for _ in range(3)]
    [1, 1, 1]
    """
    kept = _KEPT.setdefault(labels, {})
    if key not in kept:
        made = make()
        while len(kept) >= MOST_KEPT:
            del kept[next(iter(kept))]
        kept[key] = made
    found: Made = kept[key]
    return found
