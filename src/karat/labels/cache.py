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
    try:
        found: Made = kept[key]
    except KeyError:
        found = make()
        # Another thread may have taken some of them away already.
        for oldest in list(kept)[: len(kept) + 1 - MOST_KEPT]:
            kept.pop(oldest, None)
        kept[key] = found
    return found
