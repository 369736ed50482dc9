"""Gold labels as they come in, one after another, out of a sample that was drawn: what was there at a look."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.estimate.gold_sample import Gold
from karat.labels import select
from karat.labels.order import in_order
from karat.records import Judgments

PAIR = ["query", "doc"]
#: An order is taken for random unless the queries met are fewer than in all of so many random orders.
ORDERS = 999


@dataclass(frozen=True, eq=False)
class Arrived:
    """The documents of a draw, those with a gold label first, in the order in which they got it.

    >>> rows = [{"query": "q", "doc": d, "label": g, "probability": 0.5} for d, g in [("x", 1), ("y", None)]]
    >>> arrived = Arrived.of(Judgments.of(rows))
    >>> arrived.labels, arrived.asked, arrived.waiting
    (1, 2, 1)
    """

    judgments: Judgments
    docs: pl.DataFrame  # query, doc, round, labelled, silent: one row each

    @classmethod
    def of(cls, gold: Judgments) -> Arrived:
        """The documents of gold labels, rows without label being those that wait for one."""
        counted = select(gold, strict=True)
        frame = in_order(counted.frame)
        if "probability" not in frame.columns or frame["probability"].null_count() == frame.height:
            raise BadInput.at(
                "the gold labels",
                expected="the probability with which each document was drawn",
                found="none",
                remedy="draw the documents with karat plan gold, and load its file as the study's tasks",
            )
        number = pl.col("round").cast(pl.Int64, strict=False).fill_null(1) if "round" in frame.columns else pl.lit(1)
        who = pl.col("judge") if "judge" in frame.columns else pl.lit(None, pl.String)
        docs = (
            frame.with_row_index("at")
            .with_columns(number.alias("number"), said=pl.col("label").is_not_null(), silent=who.is_not_null())
            .group_by(PAIR, maintain_order=True)
            .agg(
                round=pl.col("number").first(),
                labelled=pl.col("said").any(),
                silent=pl.col("silent").any() & ~pl.col("said").any(),
                at=pl.col("at").filter(pl.col("said")).min(),
            )
            .sort("at", nulls_last=True, maintain_order=True)
        )
        return cls(replace(gold, frame=frame), docs.drop("at"))

    @property
    def asked(self) -> int:
        """How many documents were drawn."""
        return self.docs.height

    @cached_property
    def labels(self) -> int:
        """How many of them have a gold label."""
        return int(self.docs["labelled"].sum())

    @cached_property
    def silent(self) -> int:
        """Of how many somebody could not tell, and nobody else gave a label."""
        return int(self.docs["silent"].sum())

    @property
    def waiting(self) -> int:
        """How many labels are still to be expected."""
        return self.asked - self.labels - self.silent

    @cached_property
    def last_round(self) -> int:
        """The number of the latest round of the draw."""
        return int(self.docs["round"].max())  # type: ignore[arg-type]

    def in_the_latest(self, labels: int) -> tuple[int, int, int]:
        """Documents of the latest round: with a label at this look, with one when nobody waits any more, in all."""
        late = self.docs["round"] == self.last_round
        there = int(late.head(labels).sum())
        return there, int((late & ~self.docs["silent"]).sum()), int(late.sum())

    def gold(self, labels: int) -> Gold:
        """The gold labels of a look: the first so many, all other documents waiting."""
        if labels == self.labels:
            return Gold.of(self.judgments)
        first = self.docs.head(labels).select(PAIR)
        frame = self.judgments.frame.join(first.with_columns(first=True), on=PAIR, how="left", maintain_order="left")
        label = pl.when(pl.col("first")).then(pl.col("label"))
        return Gold.of(replace(self.judgments, frame=frame.with_columns(label=label).drop("first")))

    @cached_property
    def is_random(self) -> bool:
        """Whether labels came in random order, for all that shows: the first half is of as many queries as such are.

        Those that came query by query are no random part of the draw: what the gold labels of a query teach of its
        other documents, they teach of no other query's.
        """
        half = self.labels // 2
        sizes = self.docs.group_by("query").len()["len"].to_numpy()
        met = int(self.docs.head(half)["query"].n_unique())
        query = np.repeat(np.arange(len(sizes)), sizes)
        rng = np.random.default_rng(0)
        return any(len(np.unique(rng.permutation(query)[:half])) <= met for _ in range(ORDERS))
