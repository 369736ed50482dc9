"""How similar a ranking is to the ideal one that is most like it."""

from __future__ import annotations

import numpy as np

from karat.errors import BadInput
from karat.measures.base import Measure, measure, ranged, share
from karat.measures.lists import Lists
from karat.stats.arrays import Floats, Ints

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
