"""Which documents count for a measure, and how much: gold labels are drawn by it, and estimates checked against it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.estimate.gold_sample import Gold
from karat.estimate.pool import Pool
from karat.measures import DCG, ERR, RBP, RR, Linear, Measure, is_linear, nDCG
from karat.measures.graded import discount_named
from karat.records import Runs
from karat.scoring.scorer import Scorer
from karat.stats.arrays import Floats


def stand_in(measure: Measure) -> Linear | None:
    """The sum over documents that says which of them count for this measure; none where gold documents cannot do.

    Reciprocal ranks and expected reciprocal ranks weigh a document by its rank, too, and less the better those above.
    Average precision divides by all relevant documents, of which the lists show a small part: gold labels of single
    documents do not tell how many there are.
    """
    if isinstance(measure, nDCG) and not measure.context and not measure.judged_only:
        return measure.numerator
    if isinstance(measure, ERR) and not measure.context:
        return DCG(gains="exp", discount="zipf", cutoff=measure.cutoff)
    if isinstance(measure, RR) and not measure.judged_only:
        return RBP(rel=measure.rel, cutoff=measure.cutoff)
    return None


def pool_for(
    runs: Runs, queries: list[str], scorer: Scorer, gold: Gold | None = None, *, ideal: bool = False
) -> Pool | None:
    """The pool for the scorer's measure; none where gold labels of single documents cannot correct it.

    For nDCG a document weighs the more the less there is to be found for its query, by the judge's labels. With
    `ideal`, labelled documents that no list shows are there, too, with a weight of 0: the best list may hold them.
    """
    measure = scorer.measures[0]
    sums = measure if is_linear(measure) else stand_in(measure)
    if measure.diverse or sums is None:
        return None
    if not isinstance(measure, nDCG):
        return Pool.of(runs, queries, sums, scorer.topics, scorer.profile, gold)
    labelled = scorer.topics.judged.select("query", "doc") if ideal else None
    pool = Pool.of(runs, queries, sums, scorer.topics, scorer.profile, gold, labelled)
    topics = scorer.topics
    divisor = topics.ideal(measure.gains_in(topics, scorer.profile), discount_named(measure.discount), measure.cutoff)
    found = dict(zip(topics.queries["query"], divisor, strict=True))
    best = np.array([found.get(query, 0.0) for query in queries])
    # A query without anything relevant, as the judge has it, is taken for a middling one.
    best = np.where(best > 0, best, np.median(best[best > 0]) if (best > 0).any() else 1.0)
    return replace(pool, weight=pool.weight / best[pool.query, None])


def in_the_best_list(pool: Pool, measure: nDCG) -> Floats:
    """How much each document counts for what nDCG divides by: the discount at its place in the best list by the labels.

    Documents whose labels leave them out of it count a tenth of the last place: the labels may be wrong.
    """
    discount = discount_named(measure.discount)
    order = np.lexsort((-pool.predicted, pool.query))
    place = np.empty(len(order), np.int64)
    first = np.searchsorted(pool.query[order], np.arange(len(pool.queries)))
    place[order] = np.arange(len(order)) - first[pool.query[order]] + 1
    last = measure.cutoff or int(place.max())
    counts = discount(np.minimum(place, last)) * np.where(place <= last, 1.0, 0.1)
    top = np.zeros(len(pool.queries))  # the first rank weighs 1 by the ideal: the scale of the query's weights
    np.maximum.at(top, pool.query, pool.weight.max(axis=1))
    return np.asarray(counts * top[pool.query], dtype=np.float64)
