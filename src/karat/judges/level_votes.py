"""The labels of documents that several people judged, as votes: how many users gave each level."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.advice import advise
from karat.errors import BadInput, Undefined
from karat.labels import Panel
from karat.records import LabelsLike
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Bools, Floats, Ints, distinct, place_within, summed
from karat.stats.beta_binomial import hypergeometric_tail

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: A level with fewer labels than this is bracketed, as in the paper's Table 4.
FEW_LABELS = 50


def panel_of_users(labels: Panel | LabelsLike, count_repeats: bool, apart: Collection[str] = ()) -> Panel:
    """The labels of judges, who stand for users; with `count_repeats` a judge's repeated label is another user's.

    >>> rows = [{"query": "q", "doc": "d", "label": n, "judge": "ann"} for n in (1, 2)]
    >>> len(panel_of_users(rows, False).item), len(panel_of_users(rows, True).item)
    (1, 2)
    """
    if isinstance(labels, Panel):
        if count_repeats:
            raise BadInput('a panel has its policy for repeats already: make it by Panel.of(labels, repeats="all")')
        return labels.of_judges()
    panel = Panel.of(labels, apart=apart, repeats="all" if count_repeats else "first").of_judges()
    if not (count_repeats and panel.repeated):
        return panel
    return replace(panel, notes=(*panel.notes, "repeated labels of the same judge count as other users' labels"))


@dataclass(frozen=True, eq=False)
class Alike:
    """Documents with the same votes as one: what is worked out for a kind holds for all of them."""

    counts: Ints  # kinds x levels
    kind: Ints  # of each document
    n: Ints  # how many documents are of each kind

    @classmethod
    def of(cls, counts: Ints) -> Alike:
        """The different rows of votes.

        >>> Alike.of(np.array([[2, 0], [1, 1], [2, 0]])).n.tolist()
        [1, 2]
        """
        code, most = np.zeros(len(counts), np.int64), int(counts.max(initial=0)) + 1
        for level in counts.T:
            # Where a number could run over, what was seen so far is numbered anew: at most as many as documents.
            if code.max(initial=0) > np.iinfo(np.int64).max // most - most:
                code = np.unique(code, return_inverse=True)[1]
            code = code * most + level
        _, first, kind, n = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
        return cls(counts[first], kind, n)

    @cached_property
    def size(self) -> Ints:
        """How many labels a document of each kind has."""
        size: Ints = self.counts.sum(axis=1)
        return size

    def weight(self, level: int) -> Floats:
        """The chance that a label drawn from the document's is of this level."""
        weight: Floats = self.counts[:, level] / self.size
        return weight

    def others_top(self, level: int) -> Ints:
        """How many of the document's other labels are top, when one of this level was drawn."""
        top = self.counts.shape[1] - 1
        others: Ints = np.maximum(self.counts[:, top] - (level == top), 0)
        return others


@dataclass(frozen=True, eq=False)
class Votes:
    """The labels of every document with enough of them: how many of each level, by number."""

    panel: Panel
    levels: tuple[float, ...]  # lowest first; the last is the top level, with all grades above it
    counts: Ints  # documents x levels
    item: Ints  # the number of each document in the panel
    query: Ints  # of each document, numbered anew
    queries: Ints  # the number of each query in the panel

    @property
    def n_queries(self) -> int:
        """How many queries these documents are of."""
        return len(self.queries)

    @cached_property
    def size(self) -> Ints:
        """How many labels each document has."""
        size: Ints = self.counts.sum(axis=1)
        return size

    @cached_property
    def alike(self) -> Alike:
        """The documents put together by their votes: of a million labels there are some dozens of kinds."""
        return Alike.of(self.counts)

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Numerator and denominator of p(T|i) for each query and level: p is a ratio of sums over queries."""
        asked = self.alike.counts / self.alike.size[:, None]
        others = np.stack([self.alike.others_top(level) for level in range(len(self.levels))], axis=1)
        told = asked * others / (self.alike.size - 1)[:, None]
        return self._kinds_by_query(told), self._kinds_by_query(asked)

    def needed(self, at_least: int, of: int) -> Ints:
        """How many of the others must say top for M of N to, level by level: one less when the label seen is top."""
        if not 1 <= at_least <= of:
            raise BadInput.at("M of N users", expected="M from 1 to N", found=f"{at_least} of {of}")
        need: Ints = at_least - (np.arange(len(self.levels)) == len(self.levels) - 1)
        return need

    def counted(self, at_least: int, of: int) -> tuple[Floats, Floats]:
        """How often M of N labels drawn from a document's are top, one of them of this level, and of how many draws.

        For each query and level, as `sums` has it; documents with fewer than N labels say nothing.
        """
        kinds = self.alike
        told, asked = np.zeros((2, *kinds.counts.shape))
        for level, need in enumerate(self.needed(at_least, of)):
            shown = (kinds.size >= of) & (kinds.counts[:, level] > 0)
            asked[shown, level] = kinds.weight(level)[shown]
            tail = hypergeometric_tail(int(need), of - 1, kinds.others_top(level)[shown], kinds.size[shown] - 1)
            told[shown, level] = asked[shown, level] * tail
        return self._kinds_by_query(told), self._kinds_by_query(asked)

    def by_query(self, values: Floats) -> Floats:
        """Values of documents x levels summed up to queries x levels."""
        return summed(self.query, values, self.n_queries)

    def _kinds_by_query(self, values: Floats) -> Floats:
        """Values of kinds x levels summed up to queries x levels, each as often as a query has such documents."""
        return np.asarray(self._kinds_of_queries @ values)

    @cached_property
    def _kinds_of_queries(self) -> csr_array:
        """How many documents of each kind each query has."""
        from scipy.sparse import csr_array

        shape = (self.n_queries, len(self.alike.counts))
        return csr_array((np.ones(len(self.query)), (self.query, self.alike.kind)), shape=shape)

    def where(self, documents: Bools) -> Votes:
        """The votes on some documents alone."""
        kept, query, _ = distinct(self.query[documents])
        return replace(
            self,
            counts=self.counts[documents],
            item=self.item[documents],
            query=query,
            queries=self.queries[kept],
        )


def votes(panel: Panel, levels: Sequence[float] | Floats, min_labels: int = 2) -> Votes:
    """The votes on documents with at least `min_labels` labels; grades above the last level count as that."""
    need_labels(panel, min_labels)
    every = np.arange(panel.items.height)
    counts = label_counts(panel.item, level_of(panel, levels), len(every), len(levels)).astype(np.int64)
    found = Votes(panel, tuple(levels), counts, every, panel.query_of_item, np.arange(panel.n_queries))
    return found.where(found.size >= min_labels)


def need_labels(panel: Panel, min_labels: int = 2) -> None:
    """Refuse labels of which no document has so many."""
    if min_labels < 2:
        raise BadInput.at("min_labels", expected="2 or more: disagreement takes two", found=str(min_labels))
    if _most(panel) < min_labels:
        why = f" ({'; '.join(panel.notes)})" if panel.notes else ""
        raise Undefined(f"no document has {min_labels} labels: what another user would say cannot be told{why}")


def level_of(panel: Panel, levels: Sequence[float] | Floats) -> Ints:
    """The number of each row's level; grades above the last level count as that."""
    return np.minimum(np.searchsorted(levels, panel.value), len(levels) - 1)


def top_level(panel: Panel, top: float | None = None) -> float:
    """The top level: `top`, or the highest grade of the scale; without a scale, of the labels.

    With a scale, any of its grades may be the top level, whether or not a judge used it.
    """
    known: list[float] = (panel.grades[np.unique(panel.grade)] if panel.scale is None else panel.grades).tolist()
    top = known[-1] if top is None else float(top)
    if top not in known:
        names = ", ".join(panel.said(grade) for grade in known)
        source = "label of these judgments" if panel.scale is None else "level of the scale"
        raise BadInput.at("the top level", expected=f"a {source} ({names})", found=panel.said(top))
    return top


def levels_of(panel: Panel, top: float | None = None) -> list[float]:
    """The levels below the top one that somebody gave, lowest first, and the top level."""
    top = top_level(panel, top)
    given: list[float] = panel.grades[np.unique(panel.grade)].tolist()
    levels = [grade for grade in given if grade < top] + [top]
    if len(levels) < 2:
        raise Undefined("every label is at the top level: nothing is known of what others say about lower ones")
    return levels


def top_level_notes(panel: Panel, top: float) -> list[str]:
    """Notes on labels above the top level, which count as top, and on a top level that nobody gave."""
    above = panel.grades[np.unique(panel.grade[panel.value > top])]
    names = ", ".join(panel.said(grade) for grade in above)
    notes = [f"labels above {panel.said(top)} ({names}) count as {panel.said(top)}"] if len(above) else []
    if not (panel.value >= top).any():
        highest = panel.said(float(panel.value.max()))
        notes.append(f"no judge gave {panel.said(top)}, the top level; the highest label given is {highest}")
    return notes


def used(panel: Panel, min_labels: int = 2, most_labels: int | None = None, all_labels: bool = False) -> Panel:
    """The labels that tell of users, with notes of those left aside.

    Where a further label was asked only when the first two were apart, these are the first two of each document; with
    `all_labels`, or a number of labels asked for (`most_labels`), they are all, or the first so many, with a warning.
    """
    if most_labels is not None:
        if all_labels:
            raise BadInput.at("the labels to use", expected="all of them or the first so many", found="both")
        if most_labels < max(min_labels, 2):
            raise BadInput.at("most_labels", expected=f"{max(min_labels, 2)} or more", found=str(most_labels))
        ruled = [rule for rule in panel.third_rules if rule.labels < most_labels]
        return panel.kept(place_within(panel.item) < most_labels, *([_contested(ruled[0].differed)] if ruled else []))
    if not panel.third_rules:
        return panel
    differed = panel.third_rules[0].differed
    if all_labels:
        return replace(panel, notes=(*panel.notes, _contested(differed)))
    asked = panel.asked_of_all()
    if min_labels > 2 and _most(asked) < min_labels <= _most(panel):
        raise Undefined(
            f"no document has {min_labels} labels that were asked whatever the others said: more were asked only "
            f"where the first two {differed}, and contested documents do not speak for all "
            f"({advise('--all-labels', 'all_labels=True')} takes them in)"
        )
    return asked


def with_names(panel: Panel, what: str) -> Panel:
    """The labels of judges who have a name: without one nobody is known again."""
    nameless = panel.nameless[panel.judge]
    if nameless.all():
        raise BadInput.at("the judgments", expected=f"the column judge for {what}", found="labels without judges")
    if not nameless.any():
        return panel
    return panel.kept(~nameless, f"labels without a judge's name left aside for {what}")


def _contested(differed: str) -> str:
    return (
        f"more than two labels only where the first two {differed}, and all are used: contested documents count for "
        "too much, and no figure here speaks for users"
    )


def _most(panel: Panel) -> int:
    """The most labels of any document."""
    return int(panel.counts().sum(axis=1).max())
