"""One look at a difference while its gold labels come in: the estimate, how it narrows, an interval for every look."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from karat.comparison.prepared import Prepared
from karat.correction.calibration import FEWEST
from karat.correction.estimate import Difference, Estimate
from karat.correction.gold_sample import Gold
from karat.correction.pool import Pool
from karat.errors import BadInput, Undefined
from karat.labels import select
from karat.labels.order import in_order
from karat.records import Judgments
from karat.stats.arrays import Bools
from karat.stats.confidence_sequences import FIRST, best_r, reach_to_the_end, reaches


@dataclass(frozen=True)
class Look:
    """The level of the intervals, and the number of queries planned where results are peeked at on the way.

    >>> values = np.random.default_rng(3).normal([0.4, 0.5], 0.1, size=(100, 2))
    >>> estimate = Estimate.of_values("plain", ("a", "b"), values)
    >>> once, always = Look().at(estimate, 0, 1), Look(planned=100).at(estimate, 0, 1)
    >>> bool(always.high - always.low > once.high - once.low)
    True

    An interval for peeking holds at all looks together, so one may stop as soon as 0 is outside of it.
    """

    level: float = 0.95
    planned: int | None = None

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise BadInput.at("the interval's level", expected="a share from 0.5, such as 0.95", found=str(self.level))
        if self.planned is not None and self.planned < FIRST:
            raise BadInput.at("the queries planned", expected=f"{FIRST} or more", found=str(self.planned))

    @property
    def peeking(self) -> bool:
        """Whether results are looked at more than once."""
        return self.planned is not None

    @property
    def alpha(self) -> float:
        """The share of false alarms that is put up with."""
        return 1 - self.level

    def at(self, estimate: Estimate, a: int, b: int) -> Difference:
        """System b less system a."""
        once = estimate.difference(a, b, self.level)
        if self.planned is None or np.isnan(once.low):
            return once
        n = estimate.n_queries
        if n < FIRST:
            raise Undefined(f"an interval for peeking needs {FIRST} queries or more, and there are {n}")
        r = best_r(self.planned, self.alpha)
        half = once.standard_error * np.sqrt(n) * float(reaches(float(n), r, alpha=self.alpha))
        # The smallest alpha whose sequence leaves 0 outside.
        z = once.difference / once.standard_error
        p = min(1.0, float(np.sqrt(n * r + 1) * np.exp(-(z**2) * n * r / (2 * (n * r + 1)))))
        wide = once._replace(low=once.difference - half, high=once.difference + half, p=p)
        return wide.within(estimate.score_range)


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


#: Gold labels at the first look: before, nothing is learned about the judge.
FIRST_LOOK = FEWEST
#: An estimate of the variance to come is not taken to be less than this share of what more labels alone would leave.
LEAST = 0.01

Clear = Literal["better", "worse", "equivalent"]


@dataclass(frozen=True)
class OnTheWay:
    """The difference at one look, and what further labels of the same draw will do to its variance."""

    labels: int
    once: Difference  # with the interval for this look alone
    df: float
    #: Whether every document that counts has a gold label, so that nothing is left to chance.
    known: bool
    #: The part of the variance that is due to the labels of the latest round.
    moving: float
    #: What would be left of it if every document had a gold label: queries are a sample.
    queries: float
    #: Documents of the latest round: with a label, with one at the end of the plan, and in all.
    there: int
    most: int
    asked: int
    later: bool
    alpha: float
    notes: tuple[str, ...] = ()
    score_range: tuple[float, float] | None = None

    def variance(self, there: int) -> float:
        """The variance of the difference when so many documents of the latest round have a label."""
        now, share = self.once.standard_error**2, self.there / there
        return max(now - self.moving * (1 - share), LEAST * now * share)

    def reach(self, more: int = 0) -> float:
        """How far the interval goes to each side after so many more labels."""
        from scipy.special import ndtri, stdtrit

        if self.known:
            return 0.0
        tail = 1 - self.alpha / 4
        few = float(stdtrit(self.df, tail) / ndtri(tail)) if self.df >= 1 else math.nan
        middle = max(self.most // 2, 1)
        now, end, half_way = (self.variance(there) for there in (self.there + more, self.most, middle))
        return few * reach_to_the_end(now, end, half_way, alpha=self.alpha, later=self.later)

    @property
    def low(self) -> float:
        """The lower end of the interval that holds at every look."""
        return self._interval.low

    @property
    def high(self) -> float:
        """The upper end."""
        return self._interval.high

    @property
    def _interval(self) -> Difference:
        half = self.reach()
        wide = self.once._replace(low=self.once.difference - half, high=self.once.difference + half)
        return wide.within(self.score_range)

    def clear(self, margin: float | None = None, more: int = 0) -> Clear | None:
        """What the interval shows, now or after so many `more` labels if the difference stays as it is."""
        low, high = (self.once.difference + side * self.reach(more) for side in (-1, 1))
        if low > 0 or high < 0:
            return "better" if low > 0 else "worse"
        return "equivalent" if margin is not None and low > -margin and high < margin else None

    def until_clear(self, margin: float | None = None) -> tuple[int, Clear] | None:
        """How many more labels it should take, and what they should show; none where those planned do not do."""
        for more in range(self.most - self.there + 1):
            shown = self.clear(margin, more)
            if shown is not None:
                return more, shown
        return None


def look(ready: Prepared, arrived: Arrived, labels: int, level: float = 0.95) -> OnTheWay:
    """The look after so many gold labels; `Undefined` where these cannot say anything."""
    found = ready.corrected(arrived.gold(labels))
    estimate = found.estimates.get("ppi")
    if estimate is None:
        raise Undefined(found.refused["ppi"])
    if estimate.parts is None or found.pool is None:
        raise Undefined(
            f"{ready.scorer.measures[0]} needs gold labels of whole queries, whose figure is not followed on the way: "
            "nDCG, P, DCG, RBP, RR and ERR can be"
        )
    estimate = replace(estimate, score_range=ready.scorer.measures[0].score_range)
    late = found.pool.docs.filter(pl.Series(found.pool.drawn)).join(
        arrived.docs.select(*PAIR, "round"), on=PAIR, how="left", maintain_order="left"
    )
    made = on_the_way(
        estimate,
        found.pool,
        (late["round"] == arrived.last_round).to_numpy(),
        arrived.in_the_latest(labels),
        fixed=ready.fixed,
        later=arrived.last_round > 1,
        level=level,
    )
    return replace(made, labels=labels, notes=(*estimate.notes, *found.notes))


def on_the_way(
    estimate: Estimate,
    pool: Pool,
    late: Bools,
    documents: tuple[int, int, int],
    *,
    fixed: bool,
    later: bool = False,
    level: float = 0.95,
) -> OnTheWay:
    """The look from an estimate and the pool it rests on.

    `late` are the pool's gold documents of the latest round; so many `documents` of that round have a label now, will
    have one at the end of the plan, and were drawn in all.
    """
    assert estimate.parts is not None
    once = estimate.difference(0, 1, level)
    known = estimate.is_known(0, 1)
    if not known and not once.standard_error > 0:
        raise Undefined("too few gold labels or queries to tell how far off")
    part = (estimate.parts[:, 1] - estimate.parts[:, 0]) ** 2
    there, most, asked = documents
    share, probability = there / asked, pool.probability[pool.drawn]
    chance = np.where(late, probability / share, probability)
    drawing = float((part * np.where(late, share, 1.0) * (1 - np.minimum(chance, 1.0))).sum())
    made = OnTheWay(
        labels=there,
        once=once,
        df=float(estimate.df[0, 1]),
        known=known,
        moving=float(part[late].sum()),
        queries=0.0,
        there=there,
        most=most,
        asked=asked,
        later=later,
        alpha=1 - level,
        score_range=estimate.score_range,
    )
    return made if fixed or known else replace(made, queries=max(made.variance(asked) - drawing, 0.0))
