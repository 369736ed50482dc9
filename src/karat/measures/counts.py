"""How many: queries, documents retrieved, relevant documents. Added up over queries, as trec_eval does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karat.measures.base import Mean, Measure, measure, ranged
from karat.measures.lists import Lists
from karat.stats.arrays import Floats


@dataclass(frozen=True, kw_only=True, repr=False)
class Number(Measure):
    """A count: it is added up over queries, and is what it is, so that it has no interval."""

    handles_unjudged: ClassVar[bool] = True
    mean: ClassVar[Mean] = "sum"
    never_cut: ClassVar[bool] = True


@measure
class NumQ(Number):
    """How many queries are scored.

    >>> str(NumQ())
    'NumQ'

    Reference: trec_eval's `num_q`.
    """

    def score(self, lists: Lists) -> Floats:
        """1 for each list."""
        return np.ones(len(lists))


@measure
class NumRet(Number):
    """How many documents were retrieved; with `rel`, how many at or above that grade.

    >>> str(NumRet()), str(NumRet(rel=1))
    ('NumRet', 'NumRet(rel=1)')

    Reference: trec_eval's `num_ret`.
    """

    rel: float | None = ranged(None, -1e9, 1e9)

    def score(self, lists: Lists) -> Floats:
        """The length of each list, or the relevant documents in it."""
        return lists.size.astype(np.float64) if self.rel is None else lists.total(lists.label >= self.rel)


@measure
class NumRel(Number):
    """How many relevant documents there are, retrieved or not.

    >>> str(NumRel(rel=2))
    'NumRel(rel=2)'

    Reference: trec_eval's `num_rel`.
    """

    rel: float = ranged(1, -1e9, 1e9)

    def score(self, lists: Lists) -> Floats:
        """The relevant documents of each list's query."""
        return lists.topics.relevant(self.rel)[lists.topic]


@measure
class NumRelRet(Number):
    """How many relevant documents were retrieved.

    >>> str(NumRelRet())
    'NumRelRet'

    Reference: trec_eval's `num_rel_ret`.
    """

    rel: float = ranged(1, -1e9, 1e9)

    def score(self, lists: Lists) -> Floats:
        """The relevant documents in each list."""
        return lists.total(lists.label >= self.rel)
