"""Measures of relevant or not: precision, recall, reciprocal rank, average precision and their kin.

All follow trec_eval: a document is relevant at or above grade `rel`, one without a label is not, and a query
without any relevant document scores 0.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat.measures.base import Measure, Ranked, measure, share
from karat.measures.linear import Linear
from karat.measures.lists import Lists
from karat.measures.profile import Profile
from karat.measures.topics import Topics
from karat.stats.arrays import Floats, Ints


@measure
class P(Ranked, Linear):
    """The share of the first k documents that are relevant; a list shorter than k is not let off.

    >>> str(P(rel=2) @ 5)
    'P(rel=2)@5'

    For users who look at a page of results whatever their order on it.
    Reference: trec_eval's `P_k`.
    """

    needs_cutoff: ClassVar[bool] = True

    def weight(self, rank: Ints) -> Floats:
        """One by k, at every rank."""
        return np.full(len(rank), 1.0 / self.depth)

    def worth(self, labels: Floats, topics: Topics, profile: Profile) -> Floats:
        """1 for a relevant document, otherwise 0."""
        return (labels >= self.rel).astype(np.float64)

    def score(self, lists: Lists) -> Floats:
        """Relevant documents in the top k, by k: counted, because ten times 0.1 is not quite 1."""
        lists = self.view(lists)
        return lists.total(lists.label >= self.rel) / self.depth


@measure
class R(Ranked):
    """The share of a query's relevant documents that stand in the first k.

    >>> str(R @ 100)
    'R@100'

    Only as good as the pool: documents nobody judged cannot be missed.
    Reference: trec_eval's `recall_k`.
    """

    needs_cutoff: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Relevant documents in the top k, by all relevant ones."""
        lists = self.view(lists)
        return share(lists.total(lists.label >= self.rel), lists.topics.relevant(self.rel)[lists.topic])


@measure
class Success(Ranked):
    """Whether any relevant document stands in the first k: 1 or 0.

    >>> str(Success @ 1)
    'Success@1'

    Reference: trec_eval's `success_k`.
    """

    needs_cutoff: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """1 with a relevant document in the top k, otherwise 0."""
        lists = self.view(lists)
        return (lists.total(lists.label >= self.rel) > 0).astype(np.float64)


@measure
class RR(Ranked):
    """One by the rank of the first relevant document, 0 if there is none (by rank k).

    >>> str(RR()), str(RR @ 10)
    ('RR', 'RR@10')

    For users who want one answer. Its mean is called MRR.
    Reference: trec_eval's `recip_rank`.
    """

    def score(self, lists: Lists) -> Floats:
        """1 / rank of the first relevant document."""
        lists = self.view(lists)
        lists = lists.where(lists.label >= self.rel)
        first = np.flatnonzero(np.diff(lists.row_list, prepend=-1))
        values = np.zeros(len(lists))
        values[lists.row_list[first]] = 1.0 / lists.rank[first]
        return values


@measure
class AP(Ranked):
    """The mean, over all relevant documents, of the precision at the rank where each was found.

    >>> str(AP(rel=2) @ 100)
    'AP(rel=2)@100'

    For users who want many relevant documents, the first ones first. Its mean is called MAP.
    Reference: trec_eval's `map` and `map_cut_k`.
    """

    def score(self, lists: Lists) -> Floats:
        """Sum of precision at each relevant document, by all relevant ones."""
        lists = self.view(lists)
        lists = lists.where(lists.label >= self.rel)
        found = lists.seen(np.ones(len(lists.rank), bool))
        return share(lists.total(found / lists.rank), lists.topics.relevant(self.rel)[lists.topic])


@measure
class Rprec(Ranked):
    """Precision at rank R, where R is the number of the query's relevant documents.

    >>> str(Rprec())
    'Rprec'

    Reference: trec_eval's `Rprec`.
    """

    never_cut: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Relevant documents in the top R, by R."""
        lists = self.view(lists)
        relevant = lists.topics.relevant(self.rel)[lists.topic]
        hit = (lists.label >= self.rel) & (lists.rank <= relevant[lists.row_list])
        return share(lists.total(hit), relevant)


@measure
class Judged(Measure):
    """The share of the first k documents retrieved that have a judgment; labels below 0 are not judgments.

    >>> str(Judged @ 10)
    'Judged@10'

    Look at it beside every other measure: where it is low, they say little.
    Reference: ir_measures' `Judged`.
    """

    handles_unjudged: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Judged documents in the top k, by the documents there; undefined for an empty list."""
        lists = self.view(lists)
        return share(lists.total(lists.label >= 0), lists.size.astype(np.float64), undefined=np.nan)
