"""Measures of generated answers: how much of what an answer should say it says, and of what it says its sources bear.

A list is an answer here, and its documents the parts that were judged: the nuggets that it may cover, or its sentences
with what they cite. Labels are 2 for support, 1 for partial support and 0 for none. All but `CitationPrecision` are
sums over the documents, so that gold labels correct them as they correct P@10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karat.errors import BadInput
from karat.measures.base import Linear, Listed, measure, share
from karat.measures.rank_order import Profile
from karat.measures.rankings import Lists
from karat.measures.topics import Topics
from karat.stats.arrays import Floats, Ints

#: The labels of support and of partial support, and what the latter is worth.
SUPPORT, PARTIAL, HALF = 2.0, 1.0, 0.5


@dataclass(frozen=True, kw_only=True, repr=False)
class OfAnswer(Listed):
    """A measure of support; with `strict`, partial support is none."""

    handles_unjudged: ClassVar[bool] = True
    strict: bool = False
    bounded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.strict, bool):
            raise BadInput.at("strict", expected="True or False", found=str(self.strict))

    def worth(self, labels: Floats, topics: Topics, profile: Profile) -> Floats:
        """1 for support, half or nothing for partial support."""
        return np.where(labels >= SUPPORT, 1.0, np.where(labels >= PARTIAL, 0.0 if self.strict else HALF, 0.0))


@dataclass(frozen=True, kw_only=True, repr=False)
class Supported(OfAnswer, Linear):
    """The mean support of all parts of an answer."""

    def weight(self, rank: Ints) -> Floats:
        """Every part counts alike."""
        return np.ones(len(rank))

    def shared_by(self, size: Ints) -> Floats:
        """The sum is shared by all parts."""
        return size.astype(np.float64)


@measure
class NuggetRecall(Supported):
    """The share of the nuggets that an answer supports; partial support counts half.

    >>> str(NuggetRecall(strict=True))
    'NuggetRecall(strict=True)'

    The lists are answers, their documents the nuggets of the query: all of them (`all_score`), or the vital ones
    (`vital_score`), as the format nuggetizer-vital reads them. Nuggets without a label count as not supported.
    Reference: Pradeep et al. (The Great Nugget Recall, SIGIR 2025, arXiv 2504.15068); nuggetizer's
    `calculate_nugget_scores`.
    """


@measure
class CitationRecall(Supported):
    """The share of an answer's sentences that their citations support; a sentence without a label counts 0.

    >>> str(CitationRecall())
    'CitationRecall'

    The lists are answers, their documents the sentences, uncited ones too, which need no label. Partial support counts
    half. Reference: weighted recall of Thakur et al. (Support Evaluation for the TREC 2024 RAG Track,
    SIGIR 2025, arXiv 2504.15205).
    """


@measure
class CitationPrecision(OfAnswer):
    """The share of an answer's citations that support their sentence: those with a label.

    >>> str(CitationPrecision(strict=True))
    'CitationPrecision(strict=True)'

    As `CitationRecall`, over the judged sentences only; an answer without a judged citation has no value. Gold labels
    do not correct it. Reference: weighted precision of Thakur et al. (SIGIR 2025).
    """

    def score(self, lists: Lists) -> Floats:
        """Mean worth of the judged rows."""
        lists = super().view(lists).condensed
        total = lists.total(self.worth(lists.label, lists.topics, lists.profile))
        return np.where(lists.size > 0, share(total, lists.size.astype(np.float64)), np.nan)
