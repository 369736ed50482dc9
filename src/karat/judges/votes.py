"""The labels of documents that several people judged, as votes, and which of them may be used to tell of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.stop_rule import without_rule
from karat.records import Judgments
from karat.records.blocks import Blocks

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Votes:
    """The labels of every document with enough of them: how many of each level, by number."""

    levels: tuple[float, ...]  # lowest first; the last is the top level, with all grades above it
    counts: Ints  # documents x levels
    query: Ints  # of each document
    n_queries: int

    @property
    def size(self) -> Ints:
        """How many labels each document has."""
        size: Ints = self.counts.sum(axis=1)
        return size

    def weight(self, level: int) -> Floats:
        """The chance that a label drawn from the document's is of this level."""
        weight: Floats = self.counts[:, level] / self.size
        return weight

    def others_top(self, level: int) -> Ints:
        """How many of the document's other labels are top, when one of this level was drawn."""
        top = len(self.levels) - 1
        others: Ints = np.maximum(self.counts[:, top] - (level == top), 0)
        return others


def votes(
    judgments: Judgments,
    top: float | None = None,
    min_labels: int = 2,
    levels: Sequence[float] = (),
    most_labels: int | None = None,
) -> Votes:
    """The votes on documents with at least `min_labels` labels; grades above `top` count as top.

    `levels`, the last of them the top, are given for a part of some judgments that should be told like the whole;
    `most_labels` takes only the first so many labels of each document, by time where it is known, else by row.
    """
    if min_labels < 2:
        raise BadInput.at("min_labels", expected="2 or more: disagreement takes two", found=str(min_labels))
    frame = judgments.frame.drop_nulls("label")
    if not frame.height:
        raise Undefined("there is no label: what another user would say cannot be told")
    if _most(judgments) < min_labels:
        raise Undefined(f"no document has {min_labels} labels: what another user would say cannot be told")
    levels = list(levels) or levels_of(judgments, top)
    if most_labels is not None:
        if most_labels < min_labels:
            raise BadInput.at("most_labels", expected=f"{min_labels} or more", found=str(most_labels))
        frame = frame.with_row_index("row")
        given = frame.sort("time", nulls_last=True, maintain_order=True) if "time" in frame.columns else frame
        first = given.filter(pl.int_range(pl.len()).over("query", "doc") < most_labels)
        frame = frame.join(first, on="row", how="semi", maintain_order="left")
    documents = Blocks.of(frame, ["query", "doc"])
    level = np.minimum(np.searchsorted(levels, frame["label"].to_numpy()), len(levels) - 1)
    cell = documents.of_row * len(levels) + level
    counts = np.bincount(cell, minlength=documents.keys.height * len(levels)).reshape(-1, len(levels))
    enough = counts.sum(axis=1) >= min_labels
    if not enough.any():
        raise Undefined(f"no document has {min_labels} labels: what another user would say cannot be told")
    keys = documents.keys.filter(pl.Series(enough))
    query = Blocks.of(keys, ["query"])
    return Votes(tuple(levels), counts[enough], query.of_row.astype(np.int64), query.keys.height)


def levels_of(judgments: Judgments, top: float | None = None) -> list[float]:
    """The levels of these judgments, lowest first, up to the top one."""
    grades: list[float] = judgments.frame["label"].drop_nulls().unique().sort().to_list()
    top = (grades[-1] if grades else 0.0) if top is None else float(top)
    if top not in grades:
        seen = ", ".join(f"{grade:g}" for grade in grades) or "none"
        raise BadInput.at("the top level", expected=f"a label of these judgments ({seen})", found=f"{top:g}")
    levels = [grade for grade in grades if grade < top] + [top]
    if len(levels) < 2:
        raise Undefined("every label is at the top level: nothing is known of what others say about lower ones")
    return levels


def used(
    judgments: Judgments, min_labels: int = 2, most_labels: int | None = None, all_labels: bool = False
) -> tuple[Judgments, list[str]]:
    """The judgments that tell of users, and what a reader should know of those left aside.

    Where a further label was asked only when the first two differed, these are the first two of each document; with
    `all_labels`, or a number of labels asked for (`most_labels`), they are all, with a warning.
    """
    if all_labels and most_labels is not None:
        raise BadInput.at("the labels to use", expected="all of them or the first so many", found="both")
    kept, note = without_rule(judgments)
    if not note:
        return judgments, []
    if all_labels or (most_labels is not None and most_labels > 2):
        return judgments, [
            "more than two labels only where the first two differed, and all are used: contested documents count for "
            "too much, and no figure here speaks for users"
        ]
    if most_labels is not None:
        return judgments, []
    if min_labels > 2 and _most(kept) < min_labels <= _most(judgments):
        raise Undefined(
            f"no document has {min_labels} labels that were asked whatever the others said: a third was asked only "
            "where the first two differed, and contested documents do not speak for all (--all-labels takes them in)"
        )
    return kept, [note]


def _most(judgments: Judgments) -> int:
    """The most labels of any document."""
    sizes = judgments.frame.drop_nulls("label").group_by("query", "doc").len()["len"]
    return int(sizes.to_numpy().max(initial=0))
