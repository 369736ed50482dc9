"""Topics: the labels of every query, laid out so that all queries are worked on at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.measures.gains import Gains
from karat.records import Judgments, Queries, Runs
from karat.records.judgments import paths
from karat.records.runs import SPREAD
from karat.records.scale import nothing_below
from karat.records.swapped import refuse_swapped_rows
from karat.records.table import Blocks, count
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints

#: The worth of each grade when at least M of N users should call it top.
UserWeights = Callable[[int, int], Mapping[float, float]]

Made = TypeVar("Made")

#: The best list is counted out, rank by rank, where that takes no more steps than this for each document.
MANY = 16


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which document was judged for which subtopic: one row for each, sorted by document."""

    doc: Ints
    subtopic: Ints
    label: Floats
    topic: Ints  # of each subtopic
    weight: Floats  # of each subtopic; NaN where the user gave none
    by_id: Ints  # each document's place by topic, then doc id


@dataclass(frozen=True, eq=False)
class Topics:
    """One label per document of each query, by number instead of by name; documents are numbered by query."""

    queries: pl.DataFrame  # topic, query
    docs: pl.DataFrame  # topic, doc, number, key
    topic: Ints  # of each document
    label: Floats  # of each document; NaN where it was never judged alone
    conditional: pl.DataFrame | None  # topic, doc, context (a path of documents), conditional, read (how many)
    top: float | None
    notes: tuple[str, ...]
    _labels: pl.DataFrame
    _weights: Queries | None
    _user_weights: UserWeights | None
    _is_unnamed: bool = False
    _memo: dict[Any, Any] = field(default_factory=dict)

    def docs_of(self, some: Ints) -> pl.DataFrame:
        """The labelled documents of some topics: a batch of a run is not joined with those of all the others.

        >>> topics = Topics.of(Judgments.of({"a": {"d": 1}, "b": {"d": 0, "e": 2}, "c": {"d": 1}, "f": {"d": 0}}))
        >>> topics.docs_of(np.array([1]))["doc"].to_list(), topics.docs_of(np.array([2, 0]))["topic"].to_list()
        (['d', 'e'], [0, 2])
        """
        some = np.unique(some)
        start, end = (np.searchsorted(self.topic, some, side) for side in ("left", "right"))
        if len(some) and some[-1] - some[0] == len(some) - 1:
            return self.docs[int(start[0]) : int(end[-1])]
        if 2 * len(some) > self.queries.height:
            return self.docs
        size = end - start
        return self.docs[np.repeat(start - (np.cumsum(size) - size), size) + np.arange(size.sum())]

    @classmethod
    def of(cls, labels: Judgments, weights: Queries | None = None, user_weights: UserWeights | None = None) -> Topics:
        """Topics from labels with one label for a document, and the subtopics' weights if they are known.

        `user_weights` gives the worth of each grade for M of N users, which measures with udm gains ask for.
        """
        blocks = Blocks.of(labels.frame, ["query"])
        queries = blocks.keys.with_row_index("topic")
        frame = labels.frame.with_columns(topic=pl.Series(blocks.of_row)).drop_nulls("label")
        given, notes = None, []
        docs = frame
        if labels.has("context"):
            docs = frame.with_columns(pl.when(pl.col("context").is_null()).then("label").alias("label"))
            given = frame.filter(pl.col("context").is_not_null())
            given = given.with_columns(paths(given["context"]).rename({"path": "_path"}).drop("last"))
            given = given.group_by("topic", "doc", context="_path").agg(
                pl.col("label").max().alias("conditional"), pl.col("read").first()
            )
        if labels.has("subtopic"):
            whole = pl.col("subtopic").is_null()
            asked = (whole & pl.col("label").is_not_null()).any().over("topic")
            some, every = docs.select(some=asked.any(), every=asked.all()).row(0)
            docs = docs.with_columns(pl.when(whole | ~asked).then("label").alias("label"))
            if some:
                notes.append("measures without subtopics take the labels for whole queries where there are some")
            if not every:
                notes.append("measures without subtopics take a document's highest label over the subtopics")
        docs = docs.select("topic", "doc", "label")
        if labels.has("context") or labels.has("subtopic"):
            docs = docs.group_by("topic", "doc", maintain_order=True).agg(pl.col("label").max())
        if not docs["topic"].is_sorted():
            docs = docs.sort("topic", maintain_order=True)
        topic = docs["topic"].to_numpy().astype(np.int64)
        return cls(
            queries=queries,
            docs=docs.select(
                "topic",
                "doc",
                number=pl.int_range(pl.len()),
                key=pl.Series(pair_keys(topic, docs["doc"].hash().to_numpy())),
            ),
            topic=topic,
            label=docs["label"].to_numpy().astype(np.float64),
            conditional=given,
            top=None if labels.top is None else max(labels.top, 0.0),
            notes=tuple(notes),
            _labels=frame,
            _weights=weights,
            _user_weights=user_weights,
            _is_unnamed=labels.is_unnamed,
        )

    @property
    def has_subtopics(self) -> bool:
        """Whether some label is of a subtopic."""
        return "subtopic" in self._labels.columns and self._labels["subtopic"].is_not_null().any()

    def refuse_swapped(self, runs: Runs) -> None:
        """Refuse labels that are scores beside runs that are labels, where no column says which is which."""
        if self._is_unnamed:
            refuse_swapped_rows(self._labels, runs)

    def known(self, gains: Gains) -> Gains:
        """The gains as a table where they are estimated from how users disagree."""
        estimate = self._user_weights
        if gains.name != "udm" or estimate is None:
            return gains
        return self.memo(gains, lambda: Gains.of(self._worth(gains, estimate)))

    def _worth(self, gains: Gains, estimate: UserWeights) -> dict[float, float]:
        """The worth of each grade; those above the highest that has a weight are worth as much as that."""
        worth = dict(estimate(gains.at_least, gains.of_users))
        top = max(worth)
        worth |= {float(grade): worth[top] for grade in np.unique(self.label[self.label > top])}
        return nothing_below(worth) if gains.zero else worth

    @cached_property
    def judged(self) -> pl.DataFrame:
        """The one label of each document, alone and for the whole query: query, doc, label."""
        docs = self.docs.select("topic", "doc", label=pl.Series(self.label)).join(self.queries, on="topic")
        return docs.filter(pl.col("label").is_not_nan()).select("query", "doc", "label")

    @cached_property
    def pairs(self) -> Pairs:
        """The judgments of subtopics; where there are none, all labels are of one nameless subtopic."""
        frame = self._labels
        for column in ("subtopic", "context"):
            if column not in frame.columns:
                frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(column))
        frame = frame.filter(pl.col("context").is_null())
        if frame["subtopic"].null_count() == frame.height:
            frame = frame.with_columns(subtopic=pl.lit("0"))
        frame = frame.drop_nulls("subtopic").join(self.docs, on=["topic", "doc"])
        number = pl.col("subtopic").cast(pl.Int64, strict=False)
        subtopics = frame.select("query", "topic", "subtopic").unique().sort("topic", number, "subtopic")
        subtopics = subtopics.with_row_index("place")
        pairs = frame.join(subtopics, on=["topic", "subtopic"]).sort("number", "place")
        by_id = np.empty(len(self.label), np.int64)
        by_id[self.docs.select(pl.arg_sort_by("topic", "doc")).to_series().to_numpy()] = np.arange(len(by_id))
        return Pairs(
            doc=pairs["number"].to_numpy().astype(np.int64),
            subtopic=pairs["place"].to_numpy().astype(np.int64),
            label=pairs["label"].to_numpy().astype(np.float64),
            topic=subtopics["topic"].to_numpy().astype(np.int64),
            weight=_weights(subtopics, self._weights),
            by_id=by_id,
        )

    def __len__(self) -> int:
        return self.queries.height

    def memo(self, key: Any, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once per key: many runs are scored against the same topics."""
        if key not in self._memo:
            self._memo[key] = make()
        made: Made = self._memo[key]
        return made

    def relevant(self, rel: float) -> Floats:
        """How many documents of each topic are at or above a grade."""
        return self.memo(("relevant", rel), lambda: self._count(self.label >= rel))

    def nonrelevant(self, rel: float) -> Floats:
        """How many documents of each topic were judged and are below a grade."""
        return self.memo(("nonrelevant", rel), lambda: self._count((self.label >= 0) & (self.label < rel)))

    def ideal(
        self, gains: Gains, discount: Callable[[Ints], Floats], cutoff: int | None, context: float = 0.0
    ) -> Floats:
        """The discounted gain of each topic's best possible list.

        With `context`, every document counts as the most that it is known to be worth, alone or after another.
        """
        key = ("ideal", gains, discount, cutoff, context)
        return self.memo(key, lambda: self.best_order(self._most(gains, context), discount, cutoff))

    def _most(self, gains: Gains, context: float) -> Floats:
        """The highest gain of each document, over everything that it is known to be worth."""
        gain = gains.apply(self.label)
        if not context or self.conditional is None:
            return gain
        given = self.conditional.join(self.docs, on=["topic", "doc"])
        doc = given["number"].to_numpy().astype(np.int64)
        alone, after = (np.where(label > 0, label, 0.0) for label in (self.label[doc], given["conditional"].to_numpy()))
        np.maximum.at(gain, doc, gains.apply((1 - context) * alone + context * after))
        return gain

    def best_order(self, gain: Floats, discount: Callable[[Ints], Floats], cutoff: int | None) -> Floats:
        """The discounted sum of each topic's gains, one for each document, in their best order."""
        # Gains are few: counting how many documents of each topic have each, best first, spares sorting them.
        levels = pl.Series(gain).unique().sort(descending=True).to_numpy()
        place = np.searchsorted(-levels, -gain)
        if cutoff is not None and cutoff * len(levels) * len(self) <= MANY * len(gain):
            counts = np.bincount(self.topic * len(levels) + place, minlength=len(self) * len(levels))
            reached = counts.reshape(len(self), len(levels)).cumsum(axis=1)
            best_at, found = np.append(levels, 0.0), np.zeros(len(self))
            for above, weight in enumerate(discount(np.arange(1, cutoff + 1))):
                found += best_at[(reached <= above).sum(axis=1)] * weight
            return found
        best = levels[np.sort(self.topic * len(levels) + place) % max(len(levels), 1)]
        rank = np.arange(len(gain)) - self.start[self.topic] + 1  # the topics stay together in this order
        kept = slice(None) if cutoff is None else rank <= cutoff
        worth = best[kept] * discount(rank[kept])
        return totals(self.topic[kept], worth, len(self))

    @cached_property
    def start(self) -> Ints:
        """The number of each topic's first document."""
        return np.searchsorted(self.topic, np.arange(len(self)))

    def _count(self, which: Bools) -> Floats:
        return np.bincount(self.topic[which], minlength=len(self)).astype(np.float64)


def pair_keys(topic: Ints, doc_hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A number for each topic and document: equal pairs have equal numbers, others hardly ever."""
    keys = topic.astype(np.uint64)
    keys *= SPREAD
    keys ^= doc_hashes
    return keys


def _weights(subtopics: pl.DataFrame, queries: Queries | None) -> Floats:
    """The users' weights of the subtopics; NaN for all where none are given."""
    if queries is None:
        return np.full(subtopics.height, np.nan)
    if "weight" not in queries.subtopics.columns:
        raise BadInput.at("the subtopics", expected="a column weight", found=", ".join(queries.subtopics.columns))
    given = queries.subtopics.select("query", "subtopic", "weight")
    joined = subtopics.join(given, on=["query", "subtopic"], how="left", maintain_order="left")
    missing = joined.filter(pl.col("weight").is_null())
    if missing.height:
        expected = f"a weight for subtopic {missing['subtopic'][0]} of query {missing['query'][0]}"
        found = f"none ({count(missing.height, 'subtopic')} without)"
        raise BadInput.at("the subtopics' weights", expected=expected, found=found)
    if (joined["weight"] == 0).all():
        raise BadInput.at("the subtopics' weights", expected="some above 0", found="all 0")
    return joined["weight"].cast(pl.Float64).to_numpy().astype(np.float64)
