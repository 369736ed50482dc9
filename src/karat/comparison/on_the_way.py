"""One look at a difference while its gold labels come in: the estimate, how it narrows, an interval for every look."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from karat.comparison.arrived import PAIR, Arrived
from karat.comparison.prepared import Prepared
from karat.errors import Undefined
from karat.estimate.calibration import FEWEST
from karat.estimate.estimate import Difference, Estimate
from karat.estimate.pool import Pool
from karat.stats.arrays import Bools
from karat.stats.sequences import reach_to_the_end

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
