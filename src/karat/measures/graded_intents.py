"""Measures of diversity with grades: what a document is worth to all the things a query may mean."""

from __future__ import annotations

from typing import ClassVar

from karat.measures.base import measure, ranged, share
from karat.measures.diverse import Diverse, StRecall
from karat.measures.gains import Gains
from karat.measures.graded import GainsLike, log2
from karat.measures.lists import Lists
from karat.measures.subtopics import importance, open_subtopics
from karat.stats import totals
from karat.stats.arrays import Floats


@measure
class D_nDCG(Diverse):
    """nDCG of global gain: a document's gain is the mean of its gains for the subtopics, weighted as they are.

    >>> str(D_nDCG @ 10)
    'D_nDCG@10'

    For graded labels of subtopics, which ndeval's measures take for yes or no. `rel` says which subtopics count: those
    with a document at or above it.
    Reference: Sakai and Song (SIGIR 2011), NTCIR's D-nDCG.
    """

    gains: GainsLike = None
    needs_cutoff: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gains is not None:
            object.__setattr__(self, "gains", Gains.of(self.gains))

    def score(self, lists: Lists) -> Floats:
        """Sum of discounted global gains, by the best order's."""
        gains = lists.topics.known(Gains.of(lists.profile.gains if self.gains is None else self.gains))
        worth, ideal = lists.topics.memo(
            ("global gain", gains, self.rel, self.depth), lambda: self._worth(lists, gains)
        )
        lists = self.view(lists)
        return share(lists.total(worth[lists.doc] * log2(lists.rank)), ideal[lists.topic])

    def _worth(self, lists: Lists, gains: Gains) -> tuple[Floats, Floats]:
        """The global gain of each document, and the discounted sum of each topic's best."""
        topics, pairs = lists.topics, lists.topics.pairs
        number = open_subtopics(topics, self.rel)[pairs.topic]
        weight = share(importance(topics, self.rel), number)
        worth = totals(pairs.doc, weight[pairs.subtopic] * gains.apply(pairs.label), len(topics.label))
        return worth, topics.best_order(worth, log2, self.depth)


@measure
class Dsharp_nDCG(D_nDCG):
    """D#-nDCG: the mean of D-nDCG and of the share of the subtopics that the first k documents cover.

    >>> str(Dsharp_nDCG @ 10), str(Dsharp_nDCG(gamma=0.3) @ 10)
    ('Dsharp_nDCG@10', 'Dsharp_nDCG(gamma=0.3)@10')

    `gamma` is the weight of the coverage, I-rec in NTCIR's words and StRecall here. Also understood as `D#-nDCG@10`.
    Reference: Sakai and Song (SIGIR 2011).
    """

    gamma: float = ranged(0.5, 0, 1)

    def score(self, lists: Lists) -> Floats:
        """Gamma I-rec + (1 - gamma) D-nDCG."""
        covered = StRecall(rel=self.rel, cutoff=self.depth).score(lists)
        return self.gamma * covered + (1 - self.gamma) * super().score(lists)
