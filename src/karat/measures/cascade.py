"""Measures with a user who goes down the list and may stop: expected reciprocal rank, rank-biased precision."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from karat.errors import BadInput
from karat.measures.base import Linear, Measure, Ranked, measure, ranged, share
from karat.measures.gains import STEEPEST, Gains
from karat.measures.graded import GainsLike
from karat.measures.rank_order import Profile
from karat.measures.rankings import Lists
from karat.measures.topics import Topics
from karat.stats.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True, repr=False)
class Cascade(Measure):
    """A measure of when a user is content: a document of grade g contents with (2^g - 1) / 2^max_rel."""

    max_rel: float | None = ranged(None, 0, 1000)
    context: float = ranged(0.0, 0, 1)
    bounded: ClassVar[bool] = True

    @abstractmethod
    def worth(self, rank: Ints) -> Floats:
        """What it is worth to be content at each of these ranks."""

    def score(self, lists: Lists) -> Floats:
        """Sum over ranks of their worth times the chance to be content there and not before."""
        top = self.max_rel if self.max_rel is not None else lists.profile.max_rel
        top = lists.topics.top if top is None else top
        lists = self.view(lists)
        grade = lists.utility(self.context)
        if top is not None and (grade > top).any():
            raise BadInput.at(
                str(self), expected=f"grades up to {top:g}", found=f"{np.nanmax(grade):g}", remedy="set max_rel"
            )
        if (top or 0) > STEEPEST:
            raise BadInput.at(str(self), expected=f"a top grade up to {STEEPEST}", found=f"{top:g}")
        lists = lists.where(grade > 0)
        content = (np.exp2(grade[grade > 0]) - 1.0) / 2.0 ** (top or 0.0)
        return lists.total(content * _still_looking(lists, content) * self.worth(lists.rank))


@measure
class ERR(Cascade):
    """The expected value of 1 / rank at which a user is content, better documents contenting more.

    >>> str(ERR @ 20), str(ERR(max_rel=4) @ 20)
    ('ERR@20', 'ERR(max_rel=4)@20')

    A document of grade g contents with probability (2^g - 1) / 2^max_rel. `max_rel` is the highest grade there
    could be; by default the scale's, or the highest label seen (gdeval always takes 4).
    Reference: Chapelle, Metzler, Zhang and Grinspan (CIKM 2009).
    """

    def worth(self, rank: Ints) -> Floats:
        """One by the rank."""
        return 1.0 / rank


@measure
class iRBU(Cascade):
    """The expected value of p^rank at which a user is content: ERR for users with more patience.

    >>> str(iRBU @ 10), str(iRBU(p=0.9) @ 10)
    ('iRBU@10', 'iRBU(p=0.9)@10')

    A document contents as in ERR. With p near 1 it hardly matters at which rank, only whether.
    Reference: Sakai and Zeng (TOIS 2021), a part of the rank-biased utility of Amigo, Spina and Carrillo (SIGIR 2018).
    """

    p: float = ranged(0.99, 0, 1)

    def worth(self, rank: Ints) -> Floats:
        """P to the power of the rank."""
        return np.asarray(self.p ** rank.astype(np.float64), dtype=np.float64)


@measure
class RBP(Ranked, Linear):
    """Rank-biased precision: a user goes from each document to the next with probability p.

    >>> str(RBP(p=0.95))
    'RBP(p=0.95)'

    Relevance is at or above `rel`; with `gains` (values up to 1) it is graded. See RBP_residual for how much
    the unjudged documents could add.
    Reference: Moffat and Zobel (TOIS 2008).
    """

    p: float = ranged(0.8, 0, 1)
    gains: GainsLike = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_persistence(self)
        if self.gains is not None:
            object.__setattr__(self, "gains", Gains.of(self.gains))

    def weight(self, rank: Ints) -> Floats:
        """The share of users who stop at each rank: (1 - p) p^(rank - 1)."""
        return np.asarray((1 - self.p) * self.p ** (rank - 1.0), dtype=np.float64)

    def worth(self, labels: Floats, topics: Topics, profile: Profile) -> Floats:
        """The gain of each label; 1 for a relevant document and otherwise 0 where no gains are given."""
        if self.gains is None:
            return (labels >= self.rel).astype(np.float64)
        gain = topics.known(Gains.of(self.gains)).apply(labels)
        if len(gain) and gain.max() > 1:
            raise BadInput.at("gains of RBP", expected="values from 0 to 1", found=f"{gain.max():g}")
        return gain


@measure
class RBP_residual(Measure):
    """How much RBP could grow if every document without a judgment were relevant.

    >>> str(RBP_residual(p=0.95))
    'RBP_residual(p=0.95)'

    The true RBP lies between RBP and RBP + residual.
    Reference: Moffat and Zobel (TOIS 2008).
    """

    handles_unjudged: ClassVar[bool] = True
    p: float = ranged(0.8, 0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_persistence(self)

    def score(self, lists: Lists) -> Floats:
        """1 less the weight of all judged ranks."""
        lists = self.view(lists)
        return 1.0 - (1 - self.p) * lists.total((lists.label >= 0) * self.p ** (lists.rank - 1))


def _check_persistence(measure: RBP | RBP_residual) -> None:
    if measure.p == 1:
        raise BadInput.at(f"p of {type(measure).__name__}", expected="a number below 1", found="1")


def _still_looking(lists: Lists, content: Floats) -> Floats:
    """The chance that the user was content with none of the rows above, for each row of its list."""
    place = lists.seen(np.ones(len(content), bool)) - 1
    looking = np.ones(len(content))
    by_place = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place, minlength=1))
    # The first rows of all lists, then all second rows, and so on: each depends on the row just above it.
    for start, end in pairwise(ends):
        rows = by_place[start:end]
        looking[rows] = looking[rows - 1] * (1.0 - content[rows - 1])
    return looking


#: How far down rankings are compared unless a cutoff is named, as in the authors' program.
DEPTH = 1000


@measure
class Compat(Measure):
    """Rank-biased overlap with the ideal ranking that is nearest to this one.

    >>> str(Compat(p=0.8)), str(Compat @ 20)
    ('Compat(p=0.8)', 'Compat@20')

    An ideal ranking has the documents by grade, best first, and no others; within a grade any order is ideal, and this
    ranking's own is taken. No gain is given to a grade, so preferences alone will do as labels: 3 before 2 before 1.
    With `normalize` the most that an ideal ranking of so few documents can reach counts as 1. Rankings are compared
    down to rank 1,000, or k.
    Reference: Clarke, Vtyurina and Smucker (TOIS 2021), and their program `compatibility.py`.
    """

    p: float = ranged(0.95, 0, 1)
    normalize: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p == 1:
            raise BadInput.at("p of Compat", expected="a number below 1", found="1")
        if not isinstance(self.normalize, bool):
            raise BadInput.at("normalize of Compat", expected="True or False", found=str(self.normalize))

    def score(self, lists: Lists) -> Floats:
        """Overlap with the ideal at each depth, weighted by p^(depth - 1), by the same of the ideal with itself."""
        depth = self.cutoff or DEPTH
        ranks = np.arange(1, depth + 1)
        weight = self.p ** (ranks - 1.0)
        # A document counts in the overlap from the depth on at which both rankings have it.
        from_here = np.append(np.cumsum((weight / ranks)[::-1])[::-1], 0.0)
        rows = lists.where(lists.label > 0)
        both = np.minimum(np.maximum(rows.rank, _ideal_rank(rows)), depth + 1)
        overlap = rows.total(from_here[both - 1])
        if not self.normalize:
            return overlap / float(weight.sum())
        documents = _above(lists, np.zeros(len(lists)), np.arange(len(lists)))
        best = np.append(0.0, np.cumsum(from_here[:-1]))[np.minimum(documents, depth)]
        return share(overlap, best)


def _ideal_rank(rows: Lists) -> Ints:
    """Where each document stands in the ideal ranking: after the better ones, and those of its grade above it."""
    by_grade = np.lexsort((rows.rank, -rows.label, rows.row_list))
    new = np.ones(len(by_grade), bool)
    new[1:] = (np.diff(rows.row_list[by_grade]) != 0) | (np.diff(rows.label[by_grade]) != 0)
    start = np.maximum.accumulate(np.where(new, np.arange(len(by_grade)), 0))
    place = np.empty(len(by_grade), np.int64)
    place[by_grade] = np.arange(len(by_grade)) - start + 1
    return place + _above(rows, rows.label, rows.row_list)


def _above(lists: Lists, label: Floats, row_list: Ints) -> Ints:
    """How many documents of the list's query, retrieved or not, have a grade above this one."""
    topics = lists.topics
    grades, level = np.unique(np.maximum(np.nan_to_num(topics.label), 0.0), return_inverse=True)
    size = max(len(grades), 1)
    counted = np.bincount(topics.topic * size + level, minlength=len(topics) * size).reshape(-1, size)
    # The first column is for a grade below all of them: where no document has a 0, as in preferences, 0 is one.
    below = np.concatenate([np.zeros((len(topics), 1), np.int64), np.cumsum(counted, axis=1)], axis=1)
    if not len(grades):
        return np.zeros(len(label), np.int64)
    above: Ints = (below[:, -1:] - below)[lists.topic[row_list], np.searchsorted(grades, label, side="right")]
    return above
