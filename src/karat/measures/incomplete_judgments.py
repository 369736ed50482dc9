"""Measures for incomplete judgments: they skip what nobody judged instead of calling it non-relevant."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat.measures.base import Mean, Measure, measure, ranged, share
from karat.measures.binary import AP
from karat.measures.rankings import Lists
from karat.stats.arrays import Floats

#: trec_eval's smoothing of infAP, which keeps 0/0 at a half.
EPSILON = 0.00001


@measure
class Bpref(Measure):
    """How rarely judged non-relevant documents stand above relevant ones.

    >>> str(Bpref(rel=2))
    'Bpref(rel=2)'

    For test collections with many unjudged documents, which it ignores.
    Reference: Buckley and Voorhees (SIGIR 2004); trec_eval's `bpref`.
    """

    handles_unjudged: ClassVar[bool] = True
    rel: float = ranged(1, -1e9, 1e9)
    never_cut: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Mean over relevant documents of 1 - (non-relevant above) / min(R, N)."""
        lists = lists.where(lists.label >= 0)
        relevant = lists.label >= self.rel
        above = lists.seen(~relevant)
        every = lists.topics.relevant(self.rel)[lists.topic]
        bound = np.minimum(every, lists.topics.nonrelevant(self.rel)[lists.topic])[lists.row_list]
        lost = share(np.minimum(above, every[lists.row_list]), bound)
        return share(lists.total(np.where(relevant, 1.0 - lost, 0.0)), every)


@measure
class infAP(Measure):
    """Average precision as estimated from a random sample of the pool.

    >>> str(infAP())
    'infAP'

    For collections where a sample of the pool was judged and the rest is marked with a label below 0.
    Reference: Yilmaz and Aslam (CIKM 2006); trec_eval's `infAP`.
    """

    handles_unjudged: ClassVar[bool] = True
    rel: float = ranged(1, -1e9, 1e9)
    never_cut: ClassVar[bool] = True

    def score(self, lists: Lists) -> Floats:
        """Expected precision at each relevant document, by all relevant ones."""
        lists = lists.where(~np.isnan(lists.label))
        relevant = lists.label >= self.rel
        earlier = (lists.seen(relevant) - 1).astype(np.float64)
        nonrelevant = lists.seen((lists.label >= 0) & ~relevant)
        pooled = earlier + nonrelevant + lists.seen(lists.label < 0)
        above = (lists.rank - 1).astype(np.float64)
        rate = (earlier + EPSILON) / (earlier + nonrelevant + 2 * EPSILON)
        expected = (1.0 + above * share(pooled, above) * rate) / (above + 1.0)
        return share(lists.total(np.where(relevant, expected, 0.0)), lists.topics.relevant(self.rel)[lists.topic])


#: trec_eval's least value: the logarithm of 0 is none.
LEAST = 0.00001


def _log(values: Floats) -> Floats:
    logarithm: Floats = np.log(np.maximum(values, LEAST))
    return logarithm


@measure
class GMAP(AP):
    """The geometric mean of AP over queries; a query's own value is the logarithm of its AP.

    >>> str(GMAP())
    'GMAP'

    For users who mind a search that fails more than they enjoy one that is very good: from 0.05 to 0.10 counts as much
    as from 0.40 to 0.80. An AP below 0.00001 counts as that.
    Reference: Robertson (CIKM 2006); trec_eval's `gm_map`.
    """

    mean: ClassVar[Mean] = "geometric"
    bounded: ClassVar[bool] = False

    def score(self, lists: Lists) -> Floats:
        """The logarithm of AP."""
        return _log(super().score(lists))


@measure
class gm_Bpref(Bpref):
    """The geometric mean of Bpref over queries; a query's own value is the logarithm of its Bpref.

    >>> str(gm_Bpref())
    'gm_Bpref'

    Reference: trec_eval's `gm_bpref`.
    """

    mean: ClassVar[Mean] = "geometric"

    def score(self, lists: Lists) -> Floats:
        """The logarithm of Bpref."""
        return _log(super().score(lists))
