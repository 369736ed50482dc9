"""The pool: every document that some system shows, with its weight for each system, its label and its gold label.

A measure that is a sum over documents is a product of two tables, weights and gains. Whatever is estimated of the
gains, by a judge, from a gold sample, or by both, then gives every system's score at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from karat.correction.gold_sample import Gold
from karat.errors import BadInput
from karat.measures import DCG, ERR, RBP, RR, Linear, Measure, Profile, Topics, is_linear, nDCG
from karat.measures.graded import discount_named
from karat.measures.rank_order import order
from karat.measures.scorer import Scorer
from karat.records import Runs
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints

#: The rank of a document that no list shows.
NOT_SHOWN = 10**9
#: Documents that together are worth less than this share of a list do not count: RBP looks at a thousand of them.
NEGLIGIBLE = 0.001


@dataclass(frozen=True, eq=False)
class Pool:
    """Documents of the compared lists, one row for each query and document, sorted by query.

    `weight` has a column per system: what the document counts for in its list (0 where it is not shown). `predicted`
    is the gain that the labels promise, `gold` the gain by the gold label, NaN where there is none, and `probability`
    the chance with which a gold document was drawn.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    docs: pl.DataFrame  # query, doc, label
    query: Ints  # the number of each document's query
    weight: Floats  # documents x systems
    rank: Ints  # the best rank of each document in any list
    predicted: Floats
    gold: Floats
    probability: Floats
    #: Whether the gold labels do not say how they were drawn and are taken for drawn uniformly.
    assumed_uniform: bool = False
    #: Documents at one and the same rank in all lists: gold labels drawn to tell the lists apart leave them out.
    same_place: Bools | None = None
    #: Whether the gold labels say that they were drawn to tell systems apart, and not for a score by itself.
    for_differences: bool = False

    @classmethod
    def of(
        cls,
        runs: Runs,
        queries: list[str],
        measure: Linear,
        topics: Topics,
        profile: Profile,
        gold: Gold | None = None,
        beside: pl.DataFrame | None = None,
    ) -> Pool:
        """The pool of these runs for these queries, with the judge's label of each document and the gold one.

        `beside` has further documents (query, doc), which no list need show.
        """
        systems = runs.systems
        seen = shown(runs, queries, profile, measure.cutoff)
        rank, size = (seen[name].to_numpy().astype(np.int64) for name in ("rank", "size"))
        seen = seen.with_columns(pl.Series("weight", measure.weight(rank) / measure.shared_by(size)))
        everywhere = (pl.col("rank").n_unique() == 1) & (pl.len() == len(systems))
        docs = seen.group_by("query", "doc").agg(pl.col("rank").min(), everywhere.alias("same_place"))
        if beside is not None:
            docs = docs.join(
                beside.filter(pl.col("query").is_in(queries)), on=["query", "doc"], how="full", coalesce=True
            )
            docs = docs.with_columns(pl.col("rank").fill_null(NOT_SHOWN), pl.col("same_place").fill_null(False))
        docs = docs.sort("query", "doc")
        docs = docs.join(topics.judged, on=["query", "doc"], how="left", maintain_order="left")
        label = docs["label"].fill_null(np.nan).to_numpy().astype(np.float64)
        weight = np.zeros((docs.height, len(systems)))
        placed = seen.join(docs.select("query", "doc").with_row_index("row"), on=["query", "doc"]).join(
            pl.DataFrame({"system": systems}).with_row_index("column"), on="system"
        )
        weight[placed["row"].to_numpy(), placed["column"].to_numpy()] = placed["weight"].to_numpy()
        number = {name: place for place, name in enumerate(queries)}
        pool = cls(
            systems=tuple(systems),
            queries=tuple(queries),
            docs=docs.select("query", "doc", "label"),
            query=docs["query"].replace_strict(number, return_dtype=pl.Int64).to_numpy().astype(np.int64),
            weight=weight,
            rank=docs["rank"].to_numpy().astype(np.int64),
            predicted=measure.worth(label, topics, profile),
            gold=np.full(docs.height, np.nan),
            probability=np.full(docs.height, np.nan),
            same_place=docs["same_place"].to_numpy(),
        )
        if gold is None:
            return pool
        known = docs.select("query", "doc").join(gold.frame, on=["query", "doc"], how="left", maintain_order="left")
        grade = known["label"].fill_null(np.nan).to_numpy().astype(np.float64)
        drawn = ~np.isnan(grade)
        probability = known["probability"].fill_null(np.nan).to_numpy().astype(np.float64)
        if not gold.has_probability and drawn.any():
            # Drawn uniformly, for all that is known: each as likely as the share that was drawn.
            probability = np.where(drawn, drawn.mean(), np.nan)
        return replace(
            pool,
            gold=np.where(drawn, measure.worth(grade, topics, profile), np.nan),
            probability=probability,
            assumed_uniform=not gold.has_probability,
            for_differences=gold.for_differences,
        )

    @cached_property
    def drawn(self) -> Bools:
        """Which documents have a gold label."""
        return ~np.isnan(self.gold)

    @cached_property
    def inverse(self) -> Floats:
        """For how many documents each gold label stands: 1 by its chance to be drawn; 0 for the others."""
        return np.divide(1.0, self.probability, out=np.zeros(len(self.gold)), where=self.drawn)

    @cached_property
    def truth(self) -> Floats:
        """The gold gain, 0 where it is not known: for products with `inverse`."""
        return np.where(self.drawn, self.gold, 0.0)

    @cached_property
    def matters(self) -> Bools:
        """Which documents count for some system more than for another."""
        if len(self.systems) == 1:
            return self.counts
        return self.counting(self.weight.max(axis=1) - self.weight.min(axis=1))

    @cached_property
    def counts(self) -> Bools:
        """Which documents count for some system."""
        return self.counting(np.abs(self.weight).max(axis=1))

    def counting(self, size: Floats) -> Bools:
        """Which documents are not negligible, of so much size each: the smallest of a query together are."""
        weight = np.abs(self.weight)
        of_list = np.max([totals(self.query, column, len(self.queries)) for column in weight.T], axis=0)
        order = np.lexsort((size, self.query))
        total = size[order].cumsum()
        before = np.concatenate([[0.0], total])[np.searchsorted(self.query[order], np.arange(len(self.queries)))]
        found = np.empty(len(size), bool)
        found[order] = total - before[self.query[order]] > NEGLIGIBLE * of_list[self.query[order]]
        return found & (size > 0)

    def by_query(self, gains: Floats) -> Floats:
        """Each system's sum over documents of weight times gain, a row per query."""
        columns = [totals(self.query, gains * self.weight[:, s], len(self.queries)) for s in range(len(self.systems))]
        return np.column_stack(columns)

    def with_predicted(self, predicted: Floats) -> Pool:
        """The same pool with another prediction of the gains."""
        return replace(self, predicted=predicted)


def shown(runs: Runs, queries: list[str], profile: Profile, cutoff: int | None) -> pl.DataFrame:
    """The documents of these queries that a measure looks at, with their rank in each list and its size."""
    ordered = order(runs, profile)
    rows = np.arange(len(runs))
    rank = ordered.place(rows) - ordered.start[ordered.row_list] + 1
    frame = runs.frame.select("system", "query", "doc").with_columns(pl.Series("rank", rank))
    if cutoff is not None:
        frame = frame.filter(pl.col("rank") <= cutoff)
    frame = frame.filter(pl.col("query").is_in(queries)).with_columns(size=pl.len().over("system", "query"))
    if not frame.height:
        raise BadInput.at("the runs", expected="documents for the judged queries", found="none")
    return frame


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
