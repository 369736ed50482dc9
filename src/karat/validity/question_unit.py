"""What users were asked about, the query or one of its subtopics, and how much of a list they saw."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.errors import BadInput
from karat.measures import Measure
from karat.records import Judgments, Preferences
from karat.records.base import count

#: How many results of a list users see where nothing says otherwise.
SHOWN = 10
#: The columns of a task file that have the lists as they were shown.
LISTS = ("left_docs", "right_docs")


def asked_by(
    preferences: Preferences, labels: Judgments, measures: Sequence[Measure], by: str | None
) -> tuple[str, list[str]]:
    """Whether a pair is of a query or of a subtopic, and a note that says so where both could be.

    >>> from karat.measures import as_measures
    >>> said = Preferences.of([{"query": "q", "subtopic": "1", "left": "a", "right": "b", "choice": "left"}])
    >>> labels = Judgments.of([{"query": "q", "subtopic": "1", "doc": "d", "label": 1}])
    >>> [asked_by(said, labels, as_measures(measure), None)[0] for measure in ("nDCG@10", "alpha_nDCG@10")]
    ['subtopic', 'query']

    A user who was asked about one subtopic has no use for what serves another: by default each subtopic then is a query
    with its own labels. Measures of diversity look at all subtopics of a query and are compared with its mean vote.
    """
    if not preferences.has("subtopic") or not labels.has("subtopic"):
        return by or "query", []
    plain = [str(measure) for measure in measures if not measure.diverse]
    diverse = [str(measure) for measure in measures if measure.diverse]
    if by is None and not diverse:
        return "subtopic", ["users were asked about subtopics: each is compared with its own labels (by subtopic)"]
    if by == "subtopic" or not plain:
        return by or "query", []
    why = "" if by else f", as {', '.join(diverse)} {'is' if len(diverse) == 1 else 'are'} of whole queries"
    return "query", [
        f"{', '.join(plain)}: a document has its highest label for any subtopic (by query{why}), though users were "
        "asked about one; by subtopic each has its own labels"
    ]


def shown_depth(preferences: Preferences, depth: int | None) -> int:
    """How many results of a list users saw: as said, or as the lists that were shown have, or ten.

    >>> row = {"query": "q", "left": "a", "right": "b", "choice": "left", "left_docs": "d1 d2 d3", "right_docs": "d4"}
    >>> shown_depth(Preferences.of([row]), None), shown_depth(Preferences.of([row]), 5)
    (3, 5)
    """
    if depth is not None:
        if depth < 1:
            raise BadInput.at("the depth", expected="1 result of a list or more", found=str(depth))
        return depth
    lists = [preferences.frame[name] for name in LISTS if preferences.has(name)]
    # In a table of text the ids of a list stand in one cell.
    apart = [docs if docs.dtype == pl.List else docs.cast(pl.String).str.split(" ") for docs in lists]
    return max((int(docs.list.len().max() or 0) for docs in apart), default=0) or SHOWN  # type: ignore[arg-type]


def too_deep(measures: Sequence[Measure], lists: pl.DataFrame, depth: int) -> list[str]:
    """A note on the measures that look at results below those that users saw."""
    if not lists.height or int(lists.group_by("system", "query").len()["len"].max()) <= depth:  # type: ignore[arg-type]
        return []
    deep = [measure for measure in measures if measure.cutoff is None or measure.cutoff > depth]
    if not deep:
        return []
    names = ", ".join(str(measure) for measure in deep[:4]) + (", ..." if len(deep) > 4 else "")
    saw = f"users saw {count(depth, 'result')} of a list"
    return [f"{saw}, and {names} look further down: what stands below counts for none"]
