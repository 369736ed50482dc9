"""Lists under grades that the calibrated model draws: what they score, and what one document changes about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from karat.correction.calibration import Evidence
from karat.measures import Lists, Measure, Topics, match, nDCG
from karat.measures.graded import discount_named
from karat.measures.scorer import Scorer
from karat.records import Judgments, Runs
from karat.stats.arrays import Bools, Floats, Ints

#: Draws of the grades: what chance they leave is small beside what the gold sample leaves.
DRAWS = 64
#: So many rows of lists are scored at once.
AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """Scores of all lists under grades that are drawn: a row for each list, a column for each draw."""

    lists: Lists
    measure: Measure
    grades: Floats
    draws: Ints  # documents x draws: places of grades; documents numbered as in the lists' topics

    @classmethod
    def of(cls, runs: Runs, scorer: Scorer, evidence: Evidence, known: Ints, seed: int = 0) -> Drawn:
        """The lists of these runs, with grades drawn for all documents of the evidence but those `known` by gold."""
        draws = evidence.draws(DRAWS, seed).copy()
        draws[known] = evidence.places(known)[:, None]
        return cls(lists_of(runs, scorer, evidence), scorer.measures[0], evidence.calibration.grades, draws)

    def scores(self, fixed: Ints | None = None, places: Ints | None = None) -> Floats:
        """The scores, with the grades of some documents set."""
        number = self.draws.shape[1]
        step = max(1, AT_ONCE // max(len(self.lists.rank), 1))
        found = np.empty((len(self.lists), number))
        for first in range(0, number, step):
            drawn = self.draws[:, first : first + step]
            if fixed is not None and places is not None:
                drawn = drawn.copy()
                drawn[fixed] = places[:, None]
            found[:, first : first + step] = self._scored(self.grades[drawn])
        return found

    def _scored(self, labels: Floats) -> Floats:
        """One column for each column of labels: the lists and their topics laid out once for each."""
        lists, topics, copies = self.lists, self.lists.topics, labels.shape[1]
        of_copy = np.arange(copies)[:, None]
        label = labels.T.ravel()
        many = replace(
            topics,
            queries=pl.DataFrame({"topic": np.arange(len(topics) * copies)}),
            topic=(topics.topic + len(topics) * of_copy).ravel(),
            label=label,
            _memo={},
        )
        doc = (lists.doc + len(topics.label) * of_copy).ravel()
        copied = replace(
            lists,
            topic=(lists.topic + len(topics) * of_copy).ravel(),
            size=np.tile(lists.size, copies),
            row_list=(lists.row_list + len(lists) * of_copy).ravel(),
            rank=np.tile(lists.rank, copies),
            doc=doc,
            label=label[doc],
            topics=many,
            _cuts={},
        )
        return self.measure.score(copied).reshape(copies, len(lists)).T

    @cached_property
    def system(self) -> Ints:
        """The number of each list's system."""
        names = self.lists.keys["system"].unique(maintain_order=True)
        return self.lists.keys["system"].replace_strict(names, np.arange(len(names))).to_numpy().astype(np.int64)

    def by_query(self, scores: Floats, queries: Sequence[str]) -> Floats:
        """A list's score each, as a row for each of these queries and a column for each system; 0 for no list.

        Where lists have several scores, these come first, as a dimension of their own.
        """
        place = {name: number for number, name in enumerate(queries)}
        found = np.zeros((*scores.shape[1:], len(queries), int(self.system.max()) + 1))
        found[..., [place[name] for name in self.lists.keys["query"].to_list()], self.system] = scores.T
        return found

    def by_unreached(self, reached: Ints, places: Ints, queries: Sequence[str]) -> Floats:
        """How far the systems' scores vary with all grades but those of documents `reached`: their covariance."""
        scores = self.scores(reached, places)
        return np.atleast_2d(np.cov(self.by_query(scores, queries).mean(axis=1), rowvar=False))

    def changes(self, base: Floats, documents: Ints, places: Ints) -> Floats:
        """What knowing one document's grade changes about the expected score (`base`) of each system.

        A row for each of the documents, the place of whose grade is given, and a column for each system.
        """
        topic, systems = self.lists.topics.topic[documents], int(self.system.max()) + 1
        list_of = np.full((len(self.lists.topics), systems), -1)
        list_of[self.lists.topic, self.system] = np.arange(len(self.lists))
        found = np.zeros((len(documents), systems))
        # One document of each query at a time, all queries that have one at once: they do not touch each other.
        order = np.argsort(topic, kind="stable")
        turn = np.empty(len(documents), np.int64)
        turn[order] = np.arange(len(documents)) - np.searchsorted(topic[order], topic[order])
        for number in range(int(turn.max(initial=-1)) + 1):
            mine = np.flatnonzero(turn == number)
            some, lists, number_of = self.only(topic[mine])
            moved = np.zeros(len(self.lists))
            moved[lists] = some.scores(number_of[documents[mine]], places[mine]).mean(axis=1) - base[lists]
            rows = list_of[topic[mine]]
            found[mine] = np.where(rows >= 0, moved[rows], 0.0)
        return found

    def only(self, some: Ints) -> tuple[Drawn, Bools, Ints]:
        """The lists of some topics alone; which lists these are, and the new number of each of their documents."""
        lists, topics = self.lists, self.lists.topics
        kept = np.zeros(len(topics), bool)
        kept[some] = True
        of_list, of_doc = kept[lists.topic], kept[topics.topic]
        topic, number, doc = (np.cumsum(which) - 1 for which in (kept, of_list, of_doc))
        few = lists.where(of_list[lists.row_list])
        few = replace(
            few,
            keys=lists.keys.filter(pl.Series(of_list)),
            topic=topic[lists.topic[of_list]],
            size=lists.size[of_list],
            row_list=number[few.row_list],
            doc=doc[few.doc],
            topics=replace(
                topics,
                queries=pl.DataFrame({"topic": np.arange(int(kept.sum()))}),
                topic=topic[topics.topic[of_doc]],
                label=topics.label[of_doc],
                _memo={},
            ),
        )
        return replace(self, lists=few, draws=self.draws[of_doc]), of_list, doc


def lists_of(runs: Runs, scorer: Scorer, evidence: Evidence) -> Lists:
    """The lists of these runs as far as the measure looks, documents numbered as the rows of the evidence."""
    lists = match(runs, _topics(evidence, scorer.topics), scorer.profile, scorer.complete)
    cutoff = scorer.measures[0].cutoff
    return lists if cutoff is None else lists.cut(cutoff)


def _topics(evidence: Evidence, topics: Topics) -> Topics:
    """The documents of the evidence as topics, numbered as its rows; grades are drawn for them later."""
    label = np.where(np.isnan(evidence.label), 0.0, evidence.label)
    laid = Topics.of(Judgments(evidence.docs.with_columns(label=pl.Series(label))), None, topics._user_weights)
    highest = [topics.top or 0.0, float(np.nanmax(evidence.grade))]
    return replace(laid, top=max(highest))


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
