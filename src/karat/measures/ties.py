"""nDCG that does not care how ties in score are broken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.measures.base import Measure, measure, share
from karat.measures.gains import Gains
from karat.measures.graded import DiscountLike, GainsLike, check_discount, discount_named
from karat.measures.lists import Lists
from karat.stats.arrays import Floats, Ints


@measure
class tie_nDCG(Measure):
    """nDCG, averaged over all orders of the documents that have the same score.

    >>> str(tie_nDCG @ 10)
    'tie_nDCG@10'

    For systems that give few different scores, where doc ids would decide. Without ties it is nDCG.
    Reference: McSherry and Najork (ECIR 2008); scikit-learn's `ndcg_score`.
    """

    gains: GainsLike = None
    discount: DiscountLike = "log2"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_discount(self.discount)
        if self.gains is not None:
            object.__setattr__(self, "gains", Gains.of(self.gains))

    def score(self, lists: Lists) -> Floats:
        """Sum of gains, each with the mean discount of the ranks that its score shares, by the ideal sum."""
        gains = lists.topics.known(Gains.of(lists.profile.gains if self.gains is None else self.gains))
        group, discount = _tied(lists), discount_named(self.discount)
        ranks = np.arange(1, int(group.last.max(initial=1)) + 1)
        counted = discount(ranks) * (ranks <= (self.cutoff or ranks[-1]))
        before = np.append(0.0, np.cumsum(counted))
        shared = (before[group.last] - before[group.first - 1]) / (group.last - group.first + 1)
        gained = lists.total(gains.apply(lists.label) * shared)
        return share(gained, lists.topics.ideal(gains, discount, self.cutoff)[lists.topic])


@dataclass(frozen=True, eq=False)
class _Group:
    """The ranks that the score of each row's document shares."""

    first: Ints
    last: Ints


def _tied(lists: Lists) -> _Group:
    """The first and the last rank with the score of each row."""
    first, last = lists.rank.copy(), lists.rank.copy()
    if not len(lists.tie_list):
        return _Group(first, last)
    # A tie is a rank with the score of the rank before it: ties without a gap are one group, which begins one earlier.
    longest = int(max(lists.size.max(initial=0), lists.tie_rank.max())) + 2
    ties = np.unique(lists.tie_list * longest + lists.tie_rank)
    starts = np.flatnonzero(np.diff(ties, prepend=-2) != 1)
    begin = ties[starts] - 1
    end = ties[np.append(starts[1:], len(ties)) - 1]
    here = lists.row_list * longest + lists.rank
    group = np.searchsorted(begin, here, side="right") - 1
    inside = (group >= 0) & (here <= end[group])
    own_list = lists.row_list[inside] * longest
    first[inside], last[inside] = begin[group[inside]] - own_list, end[group[inside]] - own_list
    return _Group(first, last)
