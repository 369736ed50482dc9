"""The order of a ranked list: by score, then doc id, both descending (or by the rank column).

Most runs come in order already, so rows are sorted only in the lists that need it, and moved never: what counts is
the place of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.records import Runs
from karat.stats.arrays import Bools, Ints


@dataclass(frozen=True)
class Profile:
    """What a tool does where tools differ."""

    name: str
    order: Literal["score", "rank"] = "score"
    #: trec_eval before 10, and pytrec_eval, hold scores in 32 bits: close scores become ties.
    single_precision: bool = False
    gains: Literal["identity", "exp"] = "identity"
    max_rel: float | None = None
    #: Whether queries without any relevant document stay out of the mean.
    leaves_out_empty: bool = False
    #: ndeval divides alpha-DCG and ERR-IA by the best possible list's, but forgets to at cutoff 1.
    first_rank_not_divided: bool = False


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("trec_eval"),
        Profile("trec_eval9", single_precision=True),
        Profile("ndeval", order="rank", first_rank_not_divided=True),
        Profile("gdeval", gains="exp", max_rel=4.0, leaves_out_empty=True),
    )
}


def profile_named(name: str | Profile) -> Profile:
    """The profile of a tool.

    >>> profile_named("gdeval").gains
    'exp'
    """
    if isinstance(name, Profile):
        return name
    if name not in PROFILES:
        raise BadInput.at("the profile", expected=" or ".join(PROFILES), found=f'"{name}"')
    return PROFILES[name]


Keys = npt.NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Ordered:
    """Where the rows of a run stand, list after list, best document first."""

    docs: pl.Series
    doc_hashes: npt.NDArray[np.uint64]
    row_list: npt.NDArray[np.int32]  # of each row
    rows: Ints | None  # the row at each place; None: each row stands where it is
    start: Ints  # the place of each list's first document
    size: Ints  # the number of documents of each list
    #: Where a document has the same score as the one before it: its list and its rank.
    tie_list: Ints
    tie_rank: Ints

    def place(self, rows: Ints) -> Ints:
        """The places of these rows."""
        if self.rows is None:
            return rows
        place = np.empty(len(self.rows), np.int64)
        place[self.rows] = np.arange(len(place))
        return place[rows]

    def row(self, place: Ints) -> Ints:
        """The rows at these places."""
        return place if self.rows is None else self.rows[place]


def order(runs: Runs, profile: Profile) -> Ordered:
    """Each list of these runs in its order."""
    blocks, docs = runs.blocks, runs.frame["doc"]
    key = _key(runs, profile)
    rows = None if blocks.together else np.argsort(blocks.of_row, kind="stable")
    lists = blocks.of_row if rows is None else blocks.of_row[rows]
    key = key if rows is None else key[rows]
    moved = _sorted_where_needed(lists, key, docs, rows, blocks.keys.height)
    if moved is not None:
        key = key[moved]
        rows = moved if rows is None else rows[moved]
    start = np.cumsum(blocks.sizes) - blocks.sizes
    tied = _where(key[1:] == key[:-1], lists)
    tie_list = lists[tied].astype(np.int64)
    return Ordered(
        docs, runs.doc_hashes, blocks.of_row, rows, start, blocks.sizes, tie_list, tied - start[tie_list] + 1
    )


def _key(runs: Runs, profile: Profile) -> Keys:
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
    if not profile.single_precision:
        return score
    with np.errstate(over="ignore"):  # what is too large for 32 bits is infinite there, as in trec_eval
        return score.astype(np.float32)


def _where(no_better: Bools, lists: npt.NDArray[np.int32]) -> Ints:
    """The places of which this is said, seen from the place before, within their lists."""
    places: Ints = np.flatnonzero(no_better) + 1
    within: Ints = places[lists[places] == lists[places - 1]]
    return within


def _sorted_where_needed(
    lists: npt.NDArray[np.int32], key: Keys, docs: pl.Series, rows: Ints | None, n_lists: int
) -> Ints | None:
    """The places in their right order; None where all are right already."""

    def docs_at(places: Ints) -> pl.Series:
        return docs[pl.Series(places if rows is None else rows[places])]

    rising, tied = _where(key[1:] > key[:-1], lists), _where(key[1:] == key[:-1], lists)
    unsorted = np.zeros(n_lists, dtype=bool)
    unsorted[lists[rising]] = True
    if len(tied):
        wrong = (docs_at(tied) > docs_at(tied - 1)).to_numpy()
        unsorted[lists[tied[wrong]]] = True
    if not unsorted.any():
        return None
    # Lists stand one after another: those to sort are stretches.
    which = np.flatnonzero(unsorted)
    ends = zip(*(np.searchsorted(lists, which, side).tolist() for side in ("left", "right")), strict=True)
    places = np.concatenate([np.arange(first, last) for first, last in ends])
    part = pl.DataFrame({"list": lists[places], "key": key[places], "doc": docs_at(places)})
    best_first = part.select(pl.arg_sort_by("list", "key", "doc", descending=[False, True, True])).to_series()
    moved = np.arange(len(key))
    moved[places] = places[best_first.to_numpy()]
    return moved
