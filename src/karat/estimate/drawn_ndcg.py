"""nDCG under drawn grades, by counting: how many documents of each grade a query has is all that its best list asks.

A document whose grade becomes known moves one count down and one up, so that no list is scored anew for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.estimate.drawn import AT_ONCE, Drawn
from karat.estimate.evidence import Evidence
from karat.measures import nDCG
from karat.measures.graded import discount_named
from karat.records import Runs
from karat.scoring.scorer import Scorer
from karat.stats.arrays import Floats, Ints


def drawn_lists(runs: Runs, scorer: Scorer, evidence: Evidence, known: Ints, seed: int = 0) -> Drawn:
    """The lists of these runs under drawn grades, but for documents `known` by gold; counted where that will do."""
    measure = scorer.measures[0]
    counted = isinstance(measure, nDCG) and not measure.context and not measure.judged_only
    return (DrawnNdcg if counted else Drawn).of(runs, scorer, evidence, known, seed)


@dataclass(frozen=True, eq=False)
class DrawnNdcg(Drawn):
    """`Drawn` for nDCG without context."""

    def scores(self, fixed: Ints | None = None, places: Ints | None = None) -> Floats:
        """The scores, with the grades of some documents set."""
        draws = self.draws
        if fixed is not None and places is not None:
            draws = draws.copy()
            draws[fixed] = places[:, None]
        return _share(self._gained(draws), self._ideal(self._reached(draws))[self.lists.topic])

    def changes(self, base: Floats, documents: Ints, places: Ints) -> Floats:
        """What knowing one document's grade changes about the expected score (`base`) of each system."""
        topic, systems = self.lists.topics.topic[documents], int(self.system.max()) + 1
        list_of = np.full((len(self.lists.topics), systems), -1)
        list_of[self.lists.topic, self.system] = np.arange(len(self.lists))
        gained, reached = self._gained(self.draws), self._reached(self.draws)
        found = np.zeros((len(documents), systems))
        step = max(1, AT_ONCE // (self.draws.shape[1] * (systems + len(self.grades))))
        for first in range(0, len(documents), step):
            mine = slice(first, first + step)
            of, old, new = topic[mine], self.draws[documents[mine]], places[mine, None]
            levels = np.arange(len(self.grades))
            moved = (self._level[new][..., None] <= levels).astype(np.int8) - (self._level[old][..., None] <= levels)
            ideal = self._ideal(reached[of] + moved)
            more = self._gains[new] - self._gains[old]
            for system in range(systems):
                lists = list_of[of, system]
                there = gained[lists] + self._weight_of(documents[mine], system)[:, None] * more
                score = _share(there, ideal).mean(axis=1)
                found[mine, system] = np.where(lists >= 0, score - base[lists], 0.0)
        return found

    @cached_property
    def _gains(self) -> Floats:
        """The gain of each grade."""
        measure, lists = self.measure, self.lists
        assert isinstance(measure, nDCG)
        return measure.gains_in(lists.topics, lists.profile).apply(self.grades)

    @cached_property
    def _level(self) -> Ints:
        """The place of each grade among the gains, the highest first."""
        level = np.empty(len(self.grades), np.int64)
        level[np.argsort(-self._gains, kind="stable")] = np.arange(len(self.grades))
        return level

    @cached_property
    def _discount(self) -> Floats:
        """The discount of each row of the lists."""
        assert isinstance(self.measure, nDCG)
        return discount_named(self.measure.discount)(self.lists.rank)

    def _gained(self, draws: Ints) -> Floats:
        """The discounted gain of each list under each draw."""
        from scipy.sparse import csr_array

        lists, size = self.lists, (len(self.lists), len(draws))
        return np.asarray(csr_array((self._discount, (lists.row_list, lists.doc)), size) @ self._gains[draws])

    def _weight_of(self, documents: Ints, system: int) -> Floats:
        """The discount of each of these documents in a system's list, 0 where it is not there."""
        weight, mine = np.zeros(len(self.draws)), self.system[self.lists.row_list] == system
        weight[self.lists.doc[mine]] = self._discount[mine]
        return weight[documents]

    def _reached(self, draws: Ints) -> Ints:
        """By topic, draw and gain: how many documents gain at least as much."""
        topics, number, levels = len(self.lists.topics), draws.shape[1], len(self.grades)
        cell = (self.lists.topics.topic[:, None] * number + np.arange(number)) * levels + self._level[draws]
        counts = np.bincount(cell.ravel(), minlength=topics * number * levels)
        return counts.reshape(topics, number, levels).cumsum(axis=2)

    def _ideal(self, reached: Ints) -> Floats:
        """The discounted gain of the best list, from how many documents reach each gain."""
        assert isinstance(self.measure, nDCG)
        longest = int(reached.max(initial=0))
        longest = longest if self.measure.cutoff is None else min(longest, self.measure.cutoff)
        up_to = np.concatenate([[0.0], np.cumsum(discount_named(self.measure.discount)(np.arange(1, longest + 1)))])
        steps = -np.diff(np.append(np.sort(self._gains)[::-1], 0.0))
        return np.asarray(up_to[np.minimum(reached, longest)] @ steps)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)
