"""Which subtopics a list covers, and the best list there could be: the arithmetic under the diversity measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.measures.lists import Lists
from karat.measures.topics import Topics
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Coverage:
    """One row per document and subtopic it covers, all lists at once."""

    row_list: Ints
    rank: Ints
    subtopic: Ints
    seen: Ints  # how many documents above in the list cover the subtopic
    relevant: Ints  # how many documents of the query cover the subtopic
    worth: Floats  # what the subtopic counts
    lists: int

    def total(self, values: Floats) -> Floats:
        """The sum of the rows' values, for each list."""
        return totals(self.row_list, values, self.lists)


def coverage(lists: Lists, rel: float) -> Coverage:
    """The subtopics that the documents of each list cover."""
    pairs = lists.topics.pairs
    positive = pairs.label >= rel
    docs, subtopics = pairs.doc[positive], pairs.subtopic[positive]
    # The pairs are sorted by document, so those of one document are a slice.
    first = np.searchsorted(docs, lists.doc, side="left")
    many = np.searchsorted(docs, lists.doc, side="right") - first
    row = np.repeat(np.arange(len(lists.doc)), many)
    within = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    subtopic = subtopics[first[row] + within]
    row_list, rank = lists.row_list[row], lists.rank[row]
    return Coverage(
        row_list,
        rank,
        subtopic,
        _seen(row_list, subtopic),
        np.bincount(subtopics, minlength=len(pairs.topic))[subtopic],
        importance(lists.topics, rel)[subtopic],
        len(lists),
    )


def _seen(row_list: Ints, subtopic: Ints) -> Ints:
    """How many earlier rows have the same list and subtopic; rows come by list, then rank."""
    together = np.lexsort((np.arange(len(subtopic)), subtopic, row_list))
    new = np.ones(len(together), bool)
    new[1:] = (np.diff(row_list[together]) != 0) | (np.diff(subtopic[together]) != 0)
    start = np.maximum.accumulate(np.where(new, np.arange(len(together)), 0))
    seen = np.empty(len(together), np.int64)
    seen[together] = np.arange(len(together)) - start
    return seen


def open_subtopics(topics: Topics, rel: float) -> Floats:
    """How many subtopics of each topic have a relevant document."""
    return np.bincount(topics.pairs.topic[_is_open(topics, rel)], minlength=len(topics)).astype(np.float64)


def importance(topics: Topics, rel: float) -> Floats:
    """What each subtopic counts: 1, or its weight scaled so that a topic's open subtopics count 1 on average."""
    pairs = topics.pairs
    if np.isnan(pairs.weight).all():
        return np.ones(len(pairs.weight))
    weight = np.where(_is_open(topics, rel), pairs.weight, 0.0)
    of_topic = totals(pairs.topic, weight, len(topics))[pairs.topic]
    number = open_subtopics(topics, rel)[pairs.topic]
    return np.divide(weight * number, of_topic, out=np.zeros_like(weight), where=of_topic > 0)


def _is_open(topics: Topics, rel: float) -> Bools:
    covered = topics.pairs.subtopic[topics.pairs.label >= rel]
    return np.bincount(covered, minlength=len(topics.pairs.topic)) > 0


def ideal_gains(topics: Topics, alpha: float, rel: float, depth: int | None) -> Floats:
    """The gain at each rank of the greedy best list of each topic, the whole list where no depth is given."""
    pairs = topics.pairs
    positive = pairs.label >= rel
    ids, doc = np.unique(pairs.by_id[pairs.doc[positive]], return_inverse=True)  # in the order of doc ids
    docs = np.argsort(pairs.by_id)[ids]
    topic = topics.topic[docs]
    longest = int(np.bincount(topic, minlength=1).max()) if len(docs) else 0
    depth = longest if depth is None else min(depth, longest)
    return topics.memo(
        ("greedy", alpha, rel, depth),
        lambda: _greedy(len(topics), topic, doc, pairs.subtopic[positive], importance(topics, rel), alpha, depth),
    )


def _greedy(n_topics: int, topic: Ints, doc: Ints, subtopic: Ints, worth: Floats, alpha: float, depth: int) -> Floats:
    """Step by step, every topic's document of highest gain; of equal ones the last, whose id is the largest."""
    gains = np.zeros((n_topics, depth))
    left = worth.copy()  # what one more document on each subtopic is worth
    taken = np.zeros(len(topic), bool)
    for rank in range(depth):
        gain = totals(doc, left[subtopic], len(topic))
        gain[taken] = -1.0
        best = np.full(n_topics, -1.0)
        np.maximum.at(best, topic, gain)
        ties = np.flatnonzero((gain == best[topic]) & ~taken)
        chosen = np.full(n_topics, -1)
        chosen[topic[ties]] = ties  # the last assignment stays
        gains[:, rank] = np.maximum(best, 0.0)
        taken[chosen[chosen >= 0]] = True
        left[subtopic[chosen[topic[doc]] == doc]] *= 1.0 - alpha
    return gains
