"""Measures that add up: what each document is worth, times a weight that its rank alone decides.

What holds for sums of labels holds for them: a document's label changes the value by its own part only, so that the
labels of a sample of documents can stand for all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from karat.measures.base import Listed, Measure, share
from karat.measures.profile import Profile
from karat.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    from karat.measures.lists import Lists
    from karat.measures.topics import Topics


@dataclass(frozen=True, kw_only=True, repr=False)
class Linear(Listed):
    """A measure whose value is a sum over the documents of the list: weight of the rank times worth of the label."""

    @abstractmethod
    def weight(self, rank: Ints) -> Floats:
        """How much a document counts at each of these ranks, all of them within the cutoff."""

    def shared_by(self, size: Ints) -> Floats:
        """By what the sum over a list of so many documents is divided: nothing but by the weights, for most."""
        return np.ones(len(size))

    @abstractmethod
    def worth(self, labels: Floats, topics: Topics, profile: Profile) -> Floats:
        """What documents with these labels are worth; no label (NaN) is worth nothing."""

    def score(self, lists: Lists) -> Floats:
        """Sum of weight times worth."""
        lists = self.view(lists)
        label = lists.utility(_context(self))
        total = lists.total(self.worth(label, lists.topics, lists.profile) * self.weight(lists.rank))
        return share(total, self.shared_by(lists.size))


def _context(measure: Measure) -> float:
    return float(getattr(measure, "context", 0.0))


def is_linear(measure: Measure) -> TypeGuard[Linear]:
    """Whether the measure, as it is set, is a sum over documents.

    >>> from karat.measures import parse_measure
    >>> [is_linear(parse_measure(name)) for name in ("P@10", "DCG(gains='exp')@10", "RBP", "nDCG@10", "RR")]
    [True, True, True, False, False]

    With `judged_only` the rank of a document depends on which others were judged; with `context` its worth on the one
    above it.
    """
    return isinstance(measure, Linear) and not measure.judged_only and not _context(measure)
