"""How lenient is a judge, and does it change? Errors in one direction, with queries as what is independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.judges.others import Others
from karat.labels import Panel
from karat.stats import FEWEST, totals
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.correction import half_width, two_sided
from karat.stats.distinct import distinct
from karat.stats.totals import centred, place_within


@dataclass(frozen=True, eq=False)
class Leniency:
    """Leniency and drift of each judge with what queries say about their certainty."""

    mean: Floats
    low: Floats
    high: Floats
    #: Which judges were held against gold, and which against nothing.
    by_gold: Bools
    drift: Floats
    drift_p: Floats

    def columns(self) -> list[pl.Series]:
        """Leniency with its interval and what it is against, for a table."""
        against = np.where(self.by_gold, "gold", "others")
        return [
            pl.Series("leniency", self.mean),
            pl.Series("leniency_low", self.low),
            pl.Series("leniency_high", self.high),
            pl.Series("leniency_against", against).set(pl.Series(np.isnan(self.mean)), None),
        ]

    @property
    def clear(self) -> Bools:
        """Whose interval leaves zero out."""
        return (self.low > 0) | (self.high < 0)


def leniency(panel: Panel, who: Ints, others: Others, strength: Floats, *, fewest: int, level: float) -> Leniency:
    """Leniency is the mean of label - truth; drift is how labels move over a judge's work while the truth does not.

    The truth is gold for a judge with at least `fewest` gold labels, else the mean of the others' labels. Who does
    not follow the truth (`strength` below 1) would seem to drift whenever documents get better or worse, so for drift
    the truth counts only as far as the judge follows it. `who` numbers the judges to tell about.
    """
    judges, gold = len(strength), panel.truth
    by_gold = np.bincount(who[~np.isnan(gold)], minlength=judges) >= fewest
    truth = np.where(by_gold[who], gold, others.mean)
    used = ~np.isnan(truth)
    truth, label, judge, query = truth[used], panel.value[used], who[used], panel.query[used]
    place = _sequence(who)[used]
    x, y = centred(judge, truth), centred(judge, label)
    varies = totals(judge, x * x, judges)
    follows = np.divide(totals(judge, x * y, judges), varies, out=np.ones(judges), where=varies > 1e-9)
    share = np.where(by_gold, follows, np.where(np.isnan(strength), 1.0, strength))
    errors = _Queries.of(judge, query, label - truth, place, judges)
    mean, df = _mean(errors.whole()), np.maximum(errors.number - 1, 1)
    half = half_width(errors.error(_mean(errors.rest())), level, df)
    moves = _Queries.of(judge, query, label - share[judge] * truth, place, judges)
    drift = _slope(moves.whole())
    p = np.asarray(two_sided(drift, moves.error(_slope(moves.rest())), df))
    return Leniency(mean, mean - half, mean + half, by_gold, drift, p)


def _sequence(who: Ints) -> Floats:
    """The place of each label in its judge's work, from 0 for the first to 1 for the last; rows are in order.

    >>> _sequence(np.array([0, 1, 0, 0])).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    sequence: Floats = place_within(who) / np.maximum(np.bincount(who) - 1, 1)[who]
    return sequence


@dataclass(frozen=True, eq=False)
class _Queries:
    """A judge's labels query by query: errors within a query are alike, so queries are what is independent."""

    #: The judge of each cell, and the sums of n, y, x, x^2 and xy in it.
    owner: Ints
    parts: Floats
    judges: int

    @classmethod
    def of(cls, judge: Ints, query: Ints, y: Floats, x: Floats, judges: int) -> _Queries:
        width = int(query.max(initial=0)) + 1
        cell, which, _ = distinct(judge * width + query)
        parts = [totals(which, part, len(cell)) for part in (np.ones(len(y)), y, x, x * x, x * y)]
        return cls(cell // width, np.stack(parts), judges)

    @property
    def number(self) -> Ints:
        """How many queries each judge has."""
        return np.bincount(self.owner, minlength=self.judges)

    def whole(self) -> Floats:
        """The sums of each judge."""
        return np.stack([totals(self.owner, part, self.judges) for part in self.parts])

    def rest(self) -> Floats:
        """For each cell, the sums of its judge without it."""
        return self.whole()[:, self.owner] - self.parts

    def error(self, without: Floats) -> Floats:
        """The standard error of a figure from its values with one query left out after another (the jackknife).

        NaN where fewer than five queries, or figures all alike, do not tell.
        """
        number = self.number
        apart = np.square(centred(self.owner, without))
        variance = (number - 1) / np.maximum(number, 1) * totals(self.owner, apart, self.judges)
        error: Floats = np.sqrt(np.where((number >= FEWEST) & (variance > 1e-18), variance, np.nan))
        return error


def _mean(sums: Floats) -> Floats:
    n, y, *_ = sums
    mean: Floats = y / np.where(n > 0.5, n, np.nan)
    return mean


def _slope(sums: Floats) -> Floats:
    """The slope of y on x, NaN where x does not vary."""
    n, y, x, xx, xy = sums
    size = np.where(n > 0.5, n, np.nan)
    varies = xx - x * x / size
    slope: Floats = (xy - x * y / size) / np.where(varies > 1e-9, varies, np.nan)
    return slope
