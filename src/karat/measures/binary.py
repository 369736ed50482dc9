"""Measures of relevant or not: precision, recall, reciprocal rank, average precision and their kin.

All follow trec_eval: a document is relevant at or above grade `rel`, one without a label is not, and a query
without any relevant document scores 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from karat.errors import BadInput
from karat.measures.base import Linear, Mean, Measure, Ranked, measure, ranged, share
from karat.measures.rank_order import Profile
from karat.measures.rankings import Lists
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


#: trec_eval's way to say that a recall is reached: this share of a document is lent.
LENT = 0.9


@dataclass(frozen=True, kw_only=True, repr=False)
class Interpolated(Ranked):
    """A measure of the precision at a recall."""

    never_cut: ClassVar[bool] = True

    def at(self, lists: Lists, recall: float) -> Floats:
        """The highest precision from the document on that reaches the recall; 0 where it is never reached."""
        rows = self.view(lists)
        rows = rows.where(rows.label >= self.rel)
        found = rows.seen(np.ones(len(rows.rank), bool))
        wanted = np.floor(recall * lists.topics.relevant(self.rel)[lists.topic] + LENT)
        best = np.zeros(len(lists))
        reached = found >= wanted[rows.row_list]
        np.maximum.at(best, rows.row_list[reached], (found / rows.rank)[reached])
        return best


@measure
class IPrec(Interpolated):
    """The highest precision at this share of the relevant documents, or at any greater one.

    >>> str(IPrec @ 0.1), str(IPrec(rel=2) @ 0.5)
    ('IPrec@0.1', 'IPrec(rel=2)@0.5')

    What follows @ is a recall from 0 to 1, not a rank. Eleven of them draw the curve of precision by recall.
    Reference: trec_eval's `iprec_at_recall_0.10`; ir_measures' `IPrec@0.1`.
    """

    recall: float | None = ranged(None, 0, 1)
    needs_cutoff: ClassVar[bool] = True

    def __matmul__(self, cutoff: Any) -> Self:
        return self.varied(recall=cutoff)

    @property
    def depth(self) -> int:
        """How far down is looked: all of the list, once a recall is named."""
        if self.recall is None:
            raise BadInput.at("the measure", expected="a recall, such as IPrec@0.1", found=str(self))
        return 0

    def view(self, lists: Lists) -> Lists:
        """All of the lists."""
        return lists.condensed if self.judged_only else lists

    def score(self, lists: Lists) -> Floats:
        """The interpolated precision at the recall."""
        _ = self.depth
        return self.at(lists, float(self.recall or 0.0))

    def __str__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in ("judged_only", "rel") if name in self._given]
        text = "IPrec" + (f"({','.join(shown)})" if shown else "")
        return text if self.recall is None else f"{text}@{self.recall!r}"

    __repr__ = __str__


@measure
class IAP(Interpolated):
    """Interpolated precision, averaged over the recalls 0, 0.1, ... 1: 11-point average precision.

    >>> str(IAP())
    'IAP'

    For figures from before 2000; AP has taken its place.
    Reference: trec_eval's `11pt_avg`.
    """

    def score(self, lists: Lists) -> Floats:
        """Mean of the precision at eleven recalls."""
        return np.asarray(np.mean([self.at(lists, tenth / 10) for tenth in range(11)], axis=0))


@dataclass(frozen=True, kw_only=True, repr=False)
class OfSet(Ranked):
    """A measure of the documents retrieved, all of them or the first k."""

    def shares(self, lists: Lists) -> tuple[Floats, Floats]:
        """Of the documents retrieved, the share that is relevant; of the relevant ones, the share retrieved."""
        lists = self.view(lists)
        hits = lists.total(lists.label >= self.rel)
        retrieved = lists.size if self.cutoff is None else self.cutoff
        found = share(hits, lists.topics.relevant(self.rel)[lists.topic])
        return share(hits, hits * 0.0 + retrieved), found


@measure
class SetP(OfSet):
    """The share of all documents retrieved that are relevant.

    >>> str(SetP(rel=2))
    'SetP(rel=2)'

    For sets without an order, such as the documents that an answer cites. A query with nothing retrieved scores 0.
    Reference: trec_eval's `set_P`.
    """

    never_cut: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Relevant documents retrieved, by documents retrieved."""
        return self.shares(lists)[0]


@measure
class SetR(OfSet):
    """The share of a query's relevant documents that were retrieved at all.

    >>> str(SetR())
    'SetR'

    Reference: trec_eval's `set_recall`.
    """

    never_cut: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Relevant documents retrieved, by all relevant ones."""
        return self.shares(lists)[1]


@dataclass(frozen=True, kw_only=True, repr=False)
class Weighted(OfSet):
    """Precision and recall as one figure: their harmonic mean, recall weighted by the square of beta."""

    beta: float = ranged(1.0, 0, 1000)

    def score(self, lists: Lists) -> Floats:
        """(1 + beta^2) P R / (beta^2 P + R)."""
        precision, recall = self.shares(lists)
        weight = self.beta**2
        return share((1 + weight) * precision * recall, weight * precision + recall)


@measure
class SetF(Weighted):
    """The harmonic mean of precision and recall of all documents retrieved.

    >>> str(SetF(beta=2))
    'SetF(beta=2)'

    With `beta` recall counts beta^2 times as much as precision, as in textbooks. trec_eval's parameter, and so that of
    ir_measures, is the square: its `set_F.4` is `SetF(beta=2)`.
    Reference: van Rijsbergen (Information Retrieval, 1979); trec_eval's `set_F`.
    """

    never_cut: ClassVar[bool] = True


@measure
class F(Weighted):
    """The harmonic mean of precision and recall of the first k documents; F1 unless `beta` says otherwise.

    >>> str(F @ 10)
    'F@10'

    Reference: van Rijsbergen (Information Retrieval, 1979); ranx's `f1@k`.
    """

    needs_cutoff: ClassVar[bool] = True


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
