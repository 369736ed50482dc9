"""Two search systems whose true difference is known, seen by a judge who errs, with a gold sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Judgments, Runs
from karat.stats.arrays import Bools, Floats, Ints

#: How a judge may err: alike on all documents of a grade; better disposed to what only B shows; more on some documents.
JudgeKind = Literal["fair", "lenient", "by document"]
#: How often a judge calls relevant what is, and not relevant what is not, where nothing else is said.
RIGHT = (0.85, 0.85)
#: The share of relevant documents of the poorest and the richest query, and how far apart two systems may be then.
RELEVANT, MOST = (0.15, 0.65), 0.3


@dataclass(frozen=True, eq=False)
class TwoSystems:
    """A simulated comparison by P@k: a row per document, `depth` of them for each query and system.

    `rank` has a column per system (A, B), 0 where the document is not shown; `difference` is the true mean of
    P@k of B less A over all queries that might have been asked.
    """

    query: Ints
    rank: Ints
    truth: Floats
    label: Floats
    depth: int
    difference: float

    @property
    def queries(self) -> int:
        """How many queries were asked."""
        return int(self.query[-1]) + 1

    def draw_gold(self, size: int, seed: int) -> Bools:
        """So many documents drawn for gold labels, each as likely as any other."""
        drawn = np.zeros(len(self.truth), bool)
        drawn[np.random.default_rng(seed).choice(len(self.truth), size, replace=False)] = True
        return drawn

    def judgments(self) -> Judgments:
        """The judge's labels."""
        return Judgments.of(self._names().with_columns(pl.Series("label", self.label)))

    def gold(self, drawn: Bools, probability: Floats | float) -> Judgments:
        """Gold labels of the drawn documents, with the chance that each had."""
        frame = self._names().with_columns(pl.Series("label", self.truth))
        chance = np.broadcast_to(np.asarray(probability, dtype=np.float64), len(self.truth))
        return Judgments.of(frame.with_columns(pl.Series("probability", chance)).filter(pl.Series(drawn)))

    def runs(self) -> list[Runs]:
        """The two systems' lists."""
        names = self._names()
        shown = [names.with_columns(pl.Series("rank", self.rank[:, s])).filter(pl.col("rank") > 0) for s in range(2)]
        return [Runs.check(frame, system=name) for frame, name in zip(shown, "AB", strict=True)]

    def _names(self) -> pl.DataFrame:
        # Zeros in front, so that the order of the names is the order of the numbers.
        return pl.DataFrame(
            {
                "query": pl.Series(self.query).cast(pl.String).str.zfill(6),
                "doc": pl.int_range(len(self.truth), eager=True).cast(pl.String).str.zfill(8),
            }
        )


def two_systems(
    queries: int = 100,
    *,
    difference: float = 0.0,
    judge: JudgeKind = "fair",
    right: tuple[float, float] = RIGHT,
    leniency: float = 0.1,
    depth: int = 10,
    shared: int = 6,
    seed: int = 0,
) -> TwoSystems:
    """Two lists per query with `shared` of `depth` documents in common, and a judge's labels of all of them.

    >>> study = two_systems(50, difference=0.1, seed=1)
    >>> len(study.truth), study.depth, study.difference
    (700, 10, 0.1)

    Queries differ in how many relevant documents there are. The documents that only B shows are relevant more often
    than those that only A shows, so that P@k differs by `difference` on average. A `lenient` judge calls more of B's
    own documents relevant, by `leniency`, whatever they are; one who errs `by document` errs seldom on some and often
    on others, more so on some queries, and more on what looks relevant.
    """
    if not 0 <= shared < depth:
        raise BadInput.at("the documents in common", expected=f"0 to {depth - 1}", found=str(shared))
    own = depth - shared
    step = difference * depth / own
    if abs(step) > MOST:
        raise BadInput.at(
            "the difference", expected=f"at most {MOST * own / depth:g} either way", found=str(difference)
        )
    rng = np.random.default_rng(seed)
    size = shared + 2 * own
    query = np.repeat(np.arange(queries), size)
    place = np.tile(np.arange(size), queries)
    only = np.where(place < shared, -1, (place - shared) // own)  # 0: A's own documents, 1: B's, -1: both show it
    likely = np.repeat(rng.uniform(*RELEVANT, queries), size) + step / 2 * np.where(only < 0, 0, 2 * only - 1)
    truth = (rng.random(len(query)) < likely).astype(np.float64)
    label = _labels(rng, truth, likely, only, query, judge, right, leniency)
    rank = np.zeros((len(query), 2), np.int64)
    for s in range(2):
        mine = np.flatnonzero((only == s) | (only < 0))
        rank[mine, s] = np.tile(np.arange(1, depth + 1), queries)
    return TwoSystems(query, rank, truth, label, depth, difference)


def _labels(
    rng: np.random.Generator,
    truth: Floats,
    likely: Floats,
    only: Ints,
    query: Ints,
    judge: JudgeKind,
    right: tuple[float, float],
    leniency: float,
) -> Floats:
    """What the judge says of each document."""
    chance = np.where(truth == 1, right[0], 1 - right[1])
    if judge == "lenient":
        chance = chance + leniency * (only == 1)
    elif judge == "by document":
        mood = rng.beta(1.0, 4.0, int(query[-1]) + 1)[query]
        error = np.clip(mood + 0.3 * (likely - 0.5) + 0.1 * (only == 1), 0.01, 0.6)
        chance = np.where(truth == 1, 1 - error, error)
    elif judge != "fair":
        raise BadInput.at("the judge", expected="fair, lenient or by document", found=repr(judge))
    return (rng.random(len(truth)) < chance).astype(np.float64)
