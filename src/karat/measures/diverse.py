"""Measures of diversity: how well a list serves the several things a query may mean.

All follow ndeval, the Web Track's tool: a document covers a subtopic or not (grade at or above `rel`), only subtopics
with at least one relevant document count, and they count alike unless weights are given. A query where none has one
scores 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karat.measures.base import Measure, measure, ranged, share
from karat.measures.graded import log2, zipf
from karat.measures.lists import Lists
from karat.measures.subtopics import Coverage, coverage, ideal_gains, open_subtopics
from karat.stats.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True, repr=False)
class Diverse(Measure):
    """A measure over subtopics."""

    rel: float = ranged(1, -1e9, 1e9)
    diverse: ClassVar[bool] = True

    def covered(self, lists: Lists) -> Coverage:
        """The subtopics that the documents of the lists cover, down to the cutoff."""
        return coverage(self.view(lists), self.rel)

    def wanted(self, lists: Lists) -> Floats:
        """How many subtopics of each list's query have a relevant document."""
        return open_subtopics(lists.topics, self.rel)[lists.topic]


@measure
class StRecall(Diverse):
    """The share of the subtopics that the first k documents cover (subtopic or cluster recall).

    >>> str(StRecall @ 10)
    'StRecall@10'

    Reference: Zhai, Cohen and Lafferty (SIGIR 2003); ndeval's `strec`.
    """

    needs_cutoff: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Subtopics covered, by subtopics that can be."""
        rows = self.covered(lists)
        return share(rows.total(rows.worth * (rows.seen == 0)), self.wanted(lists))


@measure
class P_IA(Diverse):
    """Intent-aware precision: the mean over subtopics of P at k.

    >>> str(P_IA @ 10)
    'P_IA@10'

    Reference: Agrawal et al. (WSDM 2009); ndeval's `P-IA`.
    """

    needs_cutoff: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Pairs of document and subtopic in the top k, by k times the subtopics."""
        rows = self.covered(lists)
        return share(rows.total(rows.worth), self.depth * self.wanted(lists))


@measure
class AP_IA(Diverse):
    """Intent-aware average precision: the mean over subtopics of AP.

    >>> str(AP_IA())
    'AP_IA'

    Reference: Agrawal et al. (WSDM 2009); ndeval's `MAP-IA`.
    """

    def score(self, lists: Lists) -> Floats:
        """Mean over subtopics of the mean precision at their documents."""
        rows = self.covered(lists)
        precision = (rows.seen + 1) / rows.rank
        return share(rows.total(rows.worth / rows.relevant * precision), self.wanted(lists))


@dataclass(frozen=True, kw_only=True, repr=False)
class Novel(Diverse):
    """A measure in which each further document on a subtopic is worth 1 - alpha of the one before."""

    alpha: float = ranged(0.5, 0, 1)

    def discount(self, rank: Ints) -> Floats:
        """How much each rank counts."""
        return log2(rank)

    def gained(self, lists: Lists) -> Floats:
        """The discounted gain of each list, repeated subtopics worth less and less."""
        rows = self.covered(lists)
        return rows.total(rows.worth * (1.0 - self.alpha) ** rows.seen * self.discount(rows.rank))

    def best(self, lists: Lists) -> Floats:
        """The same for the best list that a greedy choice finds."""
        gains = ideal_gains(lists.topics, self.alpha, self.rel, self.cutoff)
        return (gains @ self.discount(np.arange(1, gains.shape[1] + 1)))[lists.topic]


@measure
class alpha_DCG(Novel):
    """Discounted gain over subtopics, by that of a list whose documents all cover everything.

    >>> str(alpha_DCG(alpha=0.3) @ 10)
    'alpha_DCG(alpha=0.3)@10'

    Reference: Clarke et al. (SIGIR 2008); ndeval's `alpha-DCG`.
    """

    needs_cutoff: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Discounted novel gain, by that of documents that all cover all subtopics."""
        if self.depth == 1 and lists.profile.first_rank_not_divided:
            return self.gained(lists)
        ranks = np.arange(1, self.depth + 1)
        ceiling = float((1.0 - self.alpha) ** (ranks - 1.0) @ self.discount(ranks))
        return share(self.gained(lists), self.wanted(lists) * ceiling)


@measure
class alpha_nDCG(Novel):
    """Discounted gain over subtopics, as a share of the best ranking's.

    >>> str(alpha_nDCG @ 10), str(alpha_nDCG(alpha=0.5) @ 10)
    ('alpha_nDCG@10', 'alpha_nDCG(alpha=0.5)@10')

    The best ranking is chosen greedily, ties to the larger doc id: finding the true best is intractable.
    Reference: Clarke et al. (SIGIR 2008); ndeval's `alpha-nDCG`.
    """

    needs_cutoff: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Discounted novel gain, by the greedy ideal."""
        return share(self.gained(lists), self.best(lists))


@measure
class ERR_IA(alpha_DCG):
    """Intent-aware expected reciprocal rank, by that of a list whose documents all cover everything.

    >>> str(ERR_IA @ 20)
    'ERR_IA@20'

    Reference: Chapelle et al. (CIKM 2009); ndeval's `ERR-IA`.
    """

    def discount(self, rank: Ints) -> Floats:
        """One by the rank."""
        return zipf(rank)


@measure
class nERR_IA(alpha_nDCG):
    """Intent-aware expected reciprocal rank, as a share of the best ranking's.

    >>> str(nERR_IA @ 20)
    'nERR_IA@20'

    Reference: Clarke et al. (WSDM 2011); ndeval's `nERR-IA`.
    """

    def discount(self, rank: Ints) -> Floats:
        """One by the rank."""
        return zipf(rank)


@measure
class NRBP(Novel):
    """Novelty- and rank-biased precision: the user goes on with probability beta.

    >>> str(NRBP(beta=0.8)), str(NRBP @ 20)
    ('NRBP(beta=0.8)', 'NRBP@20')

    The whole list counts, or its first k documents.
    Reference: Clarke, Kolla and Vechtomova (ICTIR 2009); ndeval's `NRBP`.
    """

    beta: float = ranged(0.5, 0, 1)

    def discount(self, rank: Ints) -> Floats:
        """beta^(rank - 1)."""
        weight: Floats = np.power(self.beta, rank - 1.0)
        return weight

    def score(self, lists: Lists) -> Floats:
        """(1 - (1 - alpha) beta) / subtopics times the novel gain."""
        scale = 1.0 - (1.0 - self.alpha) * self.beta
        return scale * share(self.gained(lists), self.wanted(lists))


@measure
class nNRBP(NRBP):
    """NRBP as a share of the best ranking's; undefined where no subtopic has a relevant document.

    >>> str(nNRBP())
    'nNRBP'

    Reference: ndeval's `nNRBP`.
    """

    def score(self, lists: Lists) -> Floats:
        """Novel gain by patience, by the greedy ideal's."""
        return share(self.gained(lists), self.best(lists), undefined=np.nan)
