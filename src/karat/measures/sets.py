"""Measures of a set: what was retrieved, whatever its order; and precision and recall in one figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from karat.measures.base import Ranked, measure, ranged, share
from karat.measures.lists import Lists
from karat.stats.arrays import Floats


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
