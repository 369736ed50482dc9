"""The same pairs scored with labels in context from several sources: judged alone, backed off, predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from karat.context import label_in_context
from karat.context.labelling import source_named
from karat.errors import BadInput
from karat.records import Judgments, Runs
from karat.records.base import count
from karat.records.judgments import MADE

#: What labels are called that are taken as they were given.
GIVEN = "as given"


def labels_by_source(
    judged: Judgments, runs: Runs, sources: Sequence[str], *, depth: int, model: str, documents: Any, seed: int
) -> tuple[dict[str, Judgments], list[str]]:
    """Labels for each of the sources, the best that may stand in for a judge; as they are where none is named.

    >>> rows = [{"query": "q", "doc": doc, "label": 1} for doc in "ab"]
    >>> rows.append({"query": "q", "doc": "b", "label": 0, "context": "a"})
    >>> runs = Runs.of({"q": {"a": 2.0, "b": 1.0}})
    >>> how = {"depth": 5, "model": "grades", "documents": None, "seed": 0}
    >>> made, _ = labels_by_source(Judgments.of(rows), runs, ["judged"], **how)
    >>> made["judged"].frame.height
    3
    """
    if not sources:
        return {GIVEN: judged}, []
    if not judged.has("context"):
        raise BadInput.at(
            "the labels",
            expected="some in context, to compare their sources",
            found="no column context with a document in it",
            remedy="leave the sources out",
        )
    wanted = list(dict.fromkeys(source_named(name) for name in sources))
    notes = []
    if judged.has("source"):
        kept = judged.frame.filter(~pl.col("source").is_in(list(MADE)).fill_null(False))
        if kept.height < judged.frame.height:
            notes.append(f"{count(judged.frame.height - kept.height, 'label')} that no judge gave: made anew by source")
            judged = replace(judged, frame=kept)
    made = {
        name: label_in_context(judged, runs, depth=depth, model=model, source=name, documents=documents, seed=seed)
        for name in wanted
    }
    every = [set(labels.notes) for labels in made.values()]
    for name, labels in made.items():
        notes += [note if all(note in told for told in every) else f"{name}: {note}" for note in labels.notes]
    return made, list(dict.fromkeys(notes))
