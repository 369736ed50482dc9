"""The order of a ranked list: by score, then doc id, both descending (or by the rank column).

Most runs come in order already, so rows are sorted only in the lists that need it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.measures.profile import Profile
from karat.records import Runs

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ordered:
    """Documents in the order of their lists: `lists` counts the wanted lists from 0."""

    docs: pl.Series
    lists: npt.NDArray[np.int32]
    start: Ints  # the first row of each list
    size: Ints  # the number of documents of each list
    #: Where a document has the same score as the one before it: its list and its rank.
    tie_list: Ints
    tie_rank: Ints


def order(runs: Runs, wanted: Bools, profile: Profile) -> Ordered:
    """The wanted lists of these runs, each in its order."""
    blocks, frame = runs.blocks, runs.frame
    rows: Ints | None = None  # None: all rows as they stand
    if not wanted.all():
        rows = np.flatnonzero(wanted[blocks.row_list])
    if not blocks.together:
        held = np.arange(len(runs)) if rows is None else rows
        rows = held[np.argsort(blocks.row_list[held], kind="stable")]
    number = (np.cumsum(wanted) - 1).astype(np.int32)
    lists = blocks.row_list if rows is None else blocks.row_list[rows]
    lists = lists if wanted.all() else number[lists]
    key = _key(runs, profile)
    docs = frame["doc"]
    if rows is not None:
        key, docs = key[rows], docs[pl.Series(rows)]

    key, docs = _sort_where_needed(lists, key, docs, int(wanted.sum()))

    size = blocks.sizes[wanted]
    start = np.cumsum(size) - size
    tied = np.flatnonzero((lists[1:] == lists[:-1]) & (key[1:] == key[:-1])) + 1
    tie_list = lists[tied].astype(np.int64)
    return Ordered(docs, lists, start, size, tie_list, tied - start[tie_list] + 1)


def _key(runs: Runs, profile: Profile) -> npt.NDArray[np.floating]:
    """The number by which documents are ordered, higher first."""
    if profile.order == "rank":
        if not runs.has("rank"):
            raise BadInput.at(
                f"the profile {profile.name}",
                expected="a run with whole numbers as ranks",
                found="none",
                remedy="give ranks, or take the profile trec_eval, which orders by score",
            )
        return -runs.frame["rank"].cast(pl.Float64).to_numpy()
    score = runs.frame["score"].to_numpy()
    return score.astype(np.float32) if profile.single_precision else score


def _sort_where_needed(
    lists: npt.NDArray[np.int32], key: npt.NDArray[np.floating], docs: pl.Series, n_lists: int
) -> tuple[npt.NDArray[np.floating], pl.Series]:
    same = lists[1:] == lists[:-1]
    unsorted = np.zeros(n_lists, dtype=bool)
    unsorted[lists[1:][same & (key[1:] > key[:-1])]] = True
    tied = np.flatnonzero(same & (key[1:] == key[:-1])) + 1
    if len(tied):
        rising = (docs[pl.Series(tied)] > docs[pl.Series(tied - 1)]).to_numpy()
        unsorted[lists[tied[rising]]] = True
    if not unsorted.any():
        return key, docs
    rows = np.flatnonzero(unsorted[lists])
    part = pl.DataFrame({"list": lists[rows], "key": key[rows], "doc": docs[pl.Series(rows)]})
    best_first = part.select(pl.arg_sort_by("list", "key", "doc", descending=[False, True, True])).to_series()
    moved = np.arange(len(key))
    moved[rows] = rows[best_first.to_numpy()]
    return key[moved], docs[pl.Series(moved)]
