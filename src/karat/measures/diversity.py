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
from karat.measures.gains import Gains
from karat.measures.graded import GainsLike, log2, zipf
from karat.measures.rankings import Lists
from karat.measures.topics import Topics
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Coverage:
    """One row per document and subtopic it covers, all lists at once."""

    row_list: Ints
    rank: Ints
    subtopic: Ints
    seen: Ints  # how many documents above in the list cover the subtopic
    relevant: Ints  # how many documents of the query cover the subtopic
    worth: Floats  # what the subtopic counts
    lists: int

    def total(self, values: Floats) -> Floats:
        """The sum of the rows' values, for each list."""
        return totals(self.row_list, values, self.lists)


def coverage(lists: Lists, rel: float) -> Coverage:
    """The subtopics that the documents of each list cover."""
    pairs = lists.topics.pairs
    positive = pairs.label >= rel
    docs, subtopics = pairs.doc[positive], pairs.subtopic[positive]
    # The pairs are sorted by document, so those of one document are a slice.
    first = np.searchsorted(docs, lists.doc, side="left")
    many = np.searchsorted(docs, lists.doc, side="right") - first
    row = np.repeat(np.arange(len(lists.doc)), many)
    within = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    subtopic = subtopics[first[row] + within]
    row_list, rank = lists.row_list[row], lists.rank[row]
    return Coverage(
        row_list,
        rank,
        subtopic,
        _seen(row_list, subtopic),
        np.bincount(subtopics, minlength=len(pairs.topic))[subtopic],
        importance(lists.topics, rel)[subtopic],
        len(lists),
    )


def _seen(row_list: Ints, subtopic: Ints) -> Ints:
    """How many earlier rows have the same list and subtopic; rows come by list, then rank."""
    together = np.lexsort((np.arange(len(subtopic)), subtopic, row_list))
    new = np.ones(len(together), bool)
    new[1:] = (np.diff(row_list[together]) != 0) | (np.diff(subtopic[together]) != 0)
    start = np.maximum.accumulate(np.where(new, np.arange(len(together)), 0))
    seen = np.empty(len(together), np.int64)
    seen[together] = np.arange(len(together)) - start
    return seen


def open_subtopics(topics: Topics, rel: float) -> Floats:
    """How many subtopics of each topic have a relevant document."""
    return np.bincount(topics.pairs.topic[_is_open(topics, rel)], minlength=len(topics)).astype(np.float64)


def importance(topics: Topics, rel: float) -> Floats:
    """What each subtopic counts: 1, or its weight scaled so that a topic's open subtopics count 1 on average."""
    pairs = topics.pairs
    if np.isnan(pairs.weight).all():
        return np.ones(len(pairs.weight))
    weight = np.where(_is_open(topics, rel), pairs.weight, 0.0)
    of_topic = totals(pairs.topic, weight, len(topics))[pairs.topic]
    number = open_subtopics(topics, rel)[pairs.topic]
    return np.divide(weight * number, of_topic, out=np.zeros_like(weight), where=of_topic > 0)


def _is_open(topics: Topics, rel: float) -> Bools:
    covered = topics.pairs.subtopic[topics.pairs.label >= rel]
    return np.bincount(covered, minlength=len(topics.pairs.topic)) > 0


def ideal_gains(topics: Topics, alpha: float, rel: float, depth: int | None) -> Floats:
    """The gain at each rank of the greedy best list of each topic, the whole list where no depth is given."""
    pairs = topics.pairs
    positive = pairs.label >= rel
    ids, doc = np.unique(pairs.by_id[pairs.doc[positive]], return_inverse=True)  # in the order of doc ids
    docs = np.argsort(pairs.by_id)[ids]
    topic = topics.topic[docs]
    longest = int(np.bincount(topic, minlength=1).max()) if len(docs) else 0
    depth = longest if depth is None else min(depth, longest)
    return topics.memo(
        ("greedy", alpha, rel, depth),
        lambda: _greedy(len(topics), topic, doc, pairs.subtopic[positive], importance(topics, rel), alpha, depth),
    )


def _greedy(n_topics: int, topic: Ints, doc: Ints, subtopic: Ints, worth: Floats, alpha: float, depth: int) -> Floats:
    """Step by step, every topic's document of highest gain; of equal ones the last, whose id is the largest."""
    gains = np.zeros((n_topics, depth))
    left = worth.copy()  # what one more document on each subtopic is worth
    taken = np.zeros(len(topic), bool)
    for rank in range(depth):
        gain = totals(doc, left[subtopic], len(topic))
        gain[taken] = -1.0
        best = np.full(n_topics, -1.0)
        np.maximum.at(best, topic, gain)
        ties = np.flatnonzero((gain == best[topic]) & ~taken)
        chosen = np.full(n_topics, -1)
        chosen[topic[ties]] = ties  # the last assignment stays
        gains[:, rank] = np.maximum(best, 0.0)
        taken[chosen[chosen >= 0]] = True
        left[subtopic[chosen[topic[doc]] == doc]] *= 1.0 - alpha
    return gains


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
