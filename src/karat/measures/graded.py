"""Measures of graded gain: cumulated, discounted, normalised; and graded average precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from karat.errors import BadInput
from karat.measures.base import Linear, Listed, Measure, measure, ranged, share
from karat.measures.gains import Gains
from karat.measures.rank_order import Profile
from karat.measures.rankings import Lists
from karat.measures.topics import Topics
from karat.stats.arrays import Floats, Ints

#: How a user may write gains: a name, a value per grade, or the values of grades 0, 1, 2, ...; none: the profile's.
GainsLike = str | Mapping[float, float] | Sequence[float] | Callable[[float], float] | Gains | None


def log2(rank: Ints) -> Floats:
    """One by the logarithm of rank + 1."""
    weight: Floats = 1.0 / np.log2(rank + 1.0)
    return weight


def zipf(rank: Ints) -> Floats:
    """One by the rank."""
    return 1.0 / rank


DISCOUNTS: dict[str, Callable[[Ints], Floats]] = {"log2": log2, "zipf": zipf}
#: How a user may write a discount: a name, or the power of the rank to divide by.
DiscountLike = Literal["log2", "zipf"] | float
#: A higher power would leave nothing but the first rank.
STEEPEST_DISCOUNT = 20


@cache
def discount_named(discount: DiscountLike) -> Callable[[Ints], Floats]:
    """The weight of each rank: by name, or one by a power of the rank.

    >>> discount_named(0.5)(np.array([1, 4])).tolist()
    [1.0, 0.5]
    """
    if isinstance(discount, str):
        return DISCOUNTS[discount]

    def power(rank: Ints) -> Floats:
        return rank.astype(np.float64) ** -discount

    return power


def check_discount(discount: object) -> None:
    """Refuse a discount that is neither a known name nor a power of the rank.

    >>> check_discount("zipf")
    """
    number = isinstance(discount, int | float) and not isinstance(discount, bool) and 0 <= discount <= STEEPEST_DISCOUNT
    if not number and not (isinstance(discount, str) and discount in DISCOUNTS):
        expected = f"{' or '.join(DISCOUNTS)}, or a power of the rank from 0 to {STEEPEST_DISCOUNT}"
        raise BadInput.at("the discount", expected=expected, found=repr(discount))


@dataclass(frozen=True, kw_only=True, repr=False)
class Gained(Listed):
    """A measure that adds up gains: the grade (identity), 2^grade - 1 (exp), or a value per grade."""

    gains: GainsLike = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gains is not None:
            object.__setattr__(self, "gains", Gains.of(self.gains))

    def worth(self, labels: Floats, topics: Topics, profile: Profile) -> Floats:
        """The gain of each label."""
        return self.gains_in(topics, profile).apply(labels)

    def gains_in(self, topics: Topics, profile: Profile) -> Gains:
        """The measure's gains, or the profile's where it names none."""
        return topics.known(Gains.of(profile.gains if self.gains is None else self.gains))


@dataclass(frozen=True, kw_only=True, repr=False)
class Contextual(Gained):
    """A measure for which a document is worth (1 - context) g(d) + context g(d | the one above it)."""

    context: float = ranged(0.0, 0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.context and self.judged_only:
            raise BadInput(f"{type(self).__name__} takes context or judged_only: a list with gaps has no context")


@dataclass(frozen=True, kw_only=True, repr=False)
class Discounted(Contextual):
    """A measure in which a document counts the less, the further down it stands."""

    discount: DiscountLike = "log2"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_discount(self.discount)


@measure
class CG(Contextual, Linear):
    """The sum of the gains of the first k documents, whatever their order.

    >>> str(CG @ 5)
    'CG@5'

    With `context` the gain of a document is (1 - context) g(d) + context g(d | the one above it).
    Reference: Jarvelin and Kekalainen (TOIS 2002).
    """

    def weight(self, rank: Ints) -> Floats:
        """1 at every rank."""
        return np.ones(len(rank))


@measure
class DCG(Discounted, CG):
    """The sum of gains, each divided by log2(rank + 1), the rank (`discount='zipf'`) or a power of it (`discount=0.5`).

    >>> str(DCG(gains='exp', discount='zipf') @ 10)
    "DCG(gains='exp',discount='zipf')@10"

    Not comparable between queries with few and with many good documents: nDCG is.
    Reference: Jarvelin and Kekalainen (TOIS 2002); `gains='exp'`: Burges et al. (ICML 2005).
    """

    def weight(self, rank: Ints) -> Floats:
        """The discount at each rank."""
        return discount_named(self.discount)(rank)


@measure
class nDCG(Discounted):
    """Discounted gain of a ranking, as a share of the best ranking's.

    >>> str(nDCG @ 10)
    'nDCG@10'
    >>> str(nDCG(gains={0: 0, 1: 0.5, 2: 1}) @ 10)
    'nDCG(gains={0:0,1:0.5,2:1})@10'

    The best ranking holds all judged documents of the query, down to the cutoff. The measure to start with when
    labels are graded and users read from the top. With `context`, every document of the best ranking counts as the
    most that it is known to be worth, alone or after any other: no ranking is above 1, and often none can reach it.
    Reference: Jarvelin and Kekalainen (TOIS 2002); trec_eval's `ndcg` and `ndcg_cut_k`.
    """

    bounded: ClassVar[bool] = True

    @property
    def numerator(self) -> DCG:
        """What the ideal divides: discounted gain, a sum over documents."""
        return DCG(gains=self.gains, discount=self.discount, cutoff=self.cutoff)

    def score(self, lists: Lists) -> Floats:
        """Sum of discounted gains, by the ideal sum."""
        lists = self.view(lists)
        gains, discount = self.gains_in(lists.topics, lists.profile), discount_named(self.discount)
        gained = lists.total(gains.apply(lists.utility(self.context)) * discount(lists.rank))
        ideal = lists.topics.ideal(gains, discount, self.cutoff, self.context)
        return share(gained, ideal[lists.topic])


@measure
class GAP(Gained):
    """Graded average precision: average precision for users who differ in what they call relevant.

    >>> str(GAP(gains={0: 0, 1: 0.3, 2: 1}))
    'GAP(gains={0:0,1:0.3,2:1})'

    The gain of a grade is the share of users content with it; by default grade / highest grade. With the gains
    0 and 1 it is AP. `within='list'` counts only the relevant documents retrieved, as in user disagreement studies.
    Reference: Robertson, Kanoulas and Yilmaz (SIGIR 2010).
    """

    within: Literal["judged", "list"] = "judged"
    bounded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.within not in ("judged", "list"):
            raise BadInput.at("within of GAP", expected="'judged' or 'list'", found=repr(self.within))

    def score(self, lists: Lists) -> Floats:
        """A mean of average precisions, one for each grade as threshold."""
        lists = self.view(lists)
        topics = lists.topics
        grades = np.unique(topics.label[topics.label > 0])
        if not len(grades):
            return np.zeros(len(lists))
        content = grades / (topics.top or grades[-1])
        if self.gains is not None:
            content = self.gains_in(topics, lists.profile).apply(grades)
        # q(min(a, b)) is a sum of steps over the grades up to both, so the double sum over pairs of documents
        # becomes one average precision per step.
        step = np.diff(content, prepend=0.0)
        if (step < 0).any() or content[-1] > 1:
            raise BadInput.at(
                "gains of GAP", expected="values from 0 to 1 that rise with the grade", found=str(self.gains)
            )
        found, best = np.zeros(len(lists)), np.zeros(len(lists))
        for grade, more in zip(grades, step, strict=True):
            hits = lists.where(lists.label >= grade)
            found += more * hits.total(hits.seen(np.ones(len(hits.rank), bool)) / hits.rank)
            every = topics.relevant(grade)[lists.topic]
            best += more * (hits.total(hits.label >= grade) if self.within == "list" else every)
        return share(found, best)


@measure
class CCG(Measure):
    """Cumulated contextual gain: each document's worth after the one above it, summed for every stopping rank.

    >>> str(CCG(context=0.5) @ 5)
    'CCG(context=0.5)@5'

    With u(1) = g(d1) and u(i) = (1 - context) g(di) + context g(di | di-1): the sum over i up to k of
    (u(1) + ... + u(i)) / log2(i + 1). A document without a conditional label keeps its own.
    """

    context: float = ranged(0.5, 0, 1)
    needs_cutoff: ClassVar[bool] = True

    def weights(self) -> Floats:
        """The weight of the document at each rank: it is counted at its own rank and at all below."""
        discounts = log2(np.arange(1, self.depth + 1))
        return np.cumsum(discounts[::-1])[::-1]

    def score(self, lists: Lists) -> Floats:
        """Sum of utilities, each with the weight of its rank."""
        lists = self.view(lists)
        gain = Gains("identity").apply(lists.utility(self.context))
        return lists.total(gain * self.weights()[lists.rank - 1])


@measure
class CCG_single(CCG):
    """The single sum that is printed as equal to CCG but is not: (k - i + 1) u(i) / log2(i + 1).

    >>> str(CCG_single(context=0.3) @ 5)
    'CCG_single(context=0.3)@5'

    For comparison with figures computed that way; use CCG otherwise.
    """

    def weights(self) -> Floats:
        """(k - i + 1) / log2(i + 1)."""
        rank = np.arange(1, self.depth + 1)
        return (self.depth - rank + 1) * log2(rank)


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
