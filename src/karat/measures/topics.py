"""Topics: the labels of every query, laid out so that all queries are worked on at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.measures.gains import Gains
from karat.records import Judgments, Queries
from karat.records.base import count

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Topics:
    """One label per document of each query (and per subtopic), by number instead of by name.

    Documents are numbered by query, then id, so that "the larger doc id" is "the larger number".
    """

    queries: pl.DataFrame  # query, topic
    docs: pl.DataFrame  # topic, doc, number
    topic: Ints  # of each document
    label: Floats  # of each document; NaN where it was never judged alone
    subtopic_topic: Ints  # of each subtopic
    subtopic_weight: Floats  # of each subtopic; NaN where the user gave none
    pair_doc: Ints  # (document, subtopic) pairs with ...
    pair_subtopic: Ints
    pair_label: Floats  # ... their labels
    conditional: pl.DataFrame | None  # topic, doc, context, conditional
    top: float | None
    notes: tuple[str, ...] = ()
    _memo: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, labels: Judgments, weights: Queries | None = None) -> Topics:
        """Topics from labels with one label for a document, and the subtopics' weights if they are known."""
        frame = labels.frame.drop_nulls("label")
        queries = labels.frame.select(pl.col("query").unique(maintain_order=True)).with_row_index("topic")
        frame = frame.join(queries, on="query", how="left")
        for column in ("subtopic", "context"):
            if column not in frame.columns:
                frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(column))
        alone = pl.when(pl.col("context").is_null()).then(pl.col("label"))
        docs = frame.group_by("topic", "doc").agg(alone.max().alias("label")).sort("topic", "doc")
        docs = docs.with_row_index("number")
        numbered = docs.select("topic", "doc", "number")
        pairs = (
            frame.filter(pl.col("context").is_null())
            .with_columns(pl.col("subtopic").fill_null("0"))
            .join(numbered, on=["topic", "doc"])
        )
        subtopics = pairs.select("query", "topic", "subtopic").unique().sort("topic", "subtopic")
        subtopics = subtopics.with_row_index("place")
        pairs = pairs.join(subtopics, on=["topic", "subtopic"]).sort("number", "place")
        given = frame.filter(pl.col("context").is_not_null())
        notes = []
        if frame["subtopic"].null_count() < frame.height:
            notes.append("measures without subtopics take a document's highest label over the subtopics")
        return cls(
            queries=queries,
            docs=numbered,
            topic=docs["topic"].to_numpy().astype(np.int64),
            label=docs["label"].to_numpy().astype(np.float64),
            subtopic_topic=subtopics["topic"].to_numpy().astype(np.int64),
            subtopic_weight=_weights(subtopics, weights),
            pair_doc=pairs["number"].to_numpy().astype(np.int64),
            pair_subtopic=pairs["place"].to_numpy().astype(np.int64),
            pair_label=pairs["label"].to_numpy().astype(np.float64),
            conditional=given.select("topic", "doc", "context", pl.col("label").alias("conditional"))
            if given.height
            else None,
            top=labels.top,
            notes=tuple(notes),
        )

    def __len__(self) -> int:
        return self.queries.height

    def memo(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once per key: many runs are scored against the same topics."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def relevant(self, rel: float) -> Floats:
        """How many documents of each topic are at or above a grade."""
        found: Floats = self.memo(("relevant", rel), lambda: self._count(self.label >= rel))
        return found

    def nonrelevant(self, rel: float) -> Floats:
        """How many documents of each topic were judged and are below a grade."""
        found: Floats = self.memo(
            ("nonrelevant", rel), lambda: self._count((self.label >= 0) & (self.label < rel))
        )
        return found

    def ideal(self, gains: Gains, discount: Callable[[Ints], Floats], cutoff: int | None) -> Floats:
        """The discounted gain of each topic's best possible list."""
        found: Floats = self.memo(
            ("ideal", gains, discount, cutoff), lambda: self._ideal(gains, discount, cutoff)
        )
        return found

    def _ideal(self, gains: Gains, discount: Callable[[Ints], Floats], cutoff: int | None) -> Floats:
        gain = gains.apply(self.label)
        best = np.lexsort((-gain, self.topic))
        rank = np.arange(len(gain)) - self.start[self.topic] + 1  # the topics stay together in this order
        kept = slice(None) if cutoff is None else rank <= cutoff
        worth = (gain[best] * discount(rank))[kept]
        return np.bincount(self.topic[kept], weights=worth, minlength=len(self))

    @cached_property
    def start(self) -> Ints:
        """The number of each topic's first document."""
        return np.searchsorted(self.topic, np.arange(len(self)))

    def _count(self, which: npt.NDArray[np.bool_]) -> Floats:
        return np.bincount(self.topic[which], minlength=len(self)).astype(np.float64)


def _weights(subtopics: pl.DataFrame, queries: Queries | None) -> Floats:
    """The users' weights of the subtopics; NaN for all where none are given."""
    if queries is None or "weight" not in queries.subtopics.columns:
        return np.full(subtopics.height, np.nan)
    given = queries.subtopics.select("query", "subtopic", "weight")
    joined = subtopics.join(given, on=["query", "subtopic"], how="left", maintain_order="left")
    missing = joined.filter(pl.col("weight").is_null())
    if 0 < missing.height < joined.height:
        row = missing.row(0, named=True)
        raise BadInput.at(
            "the subtopics' weights",
            expected=f"a weight for subtopic {row['subtopic']} of query {row['query']}",
            found=f"none ({count(missing.height, 'subtopic')} without)",
        )
    return joined["weight"].cast(pl.Float64).to_numpy().astype(np.float64)
