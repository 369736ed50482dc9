"""Precision by recall, interpolated: the best precision that can still be had at a recall or beyond."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from karat.errors import BadInput
from karat.measures.base import Ranked, measure, ranged
from karat.measures.lists import Lists
from karat.stats.arrays import Floats

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
