"""The pair of systems that a report tells of: the best, and the one that labels as they are would have put first."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from karat.comparison import Comparison
from karat.comparison.many_systems import family_p


def in_a_few_words(found: Comparison) -> str:
    """The verdict as a title."""
    if found.verdict == "cannot say":
        return f"Cannot say which is better by {found.measure}"
    return found.headline().rstrip(":")


@dataclass(frozen=True)
class Interval:
    """A difference and the ends of its interval."""

    value: float
    low: float
    high: float

    @property
    def direction(self) -> int:
        """1 where more than nothing is shown, -1 where less, 0 where neither is."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0

    def __str__(self) -> str:
        return f"{self.low:+z.3f} to {self.high:+z.3f}"


@dataclass(frozen=True, eq=False)
class Told:
    """Two systems of a comparison; every difference is `b` less `a`, in sentences as in charts.

    Where gold labels put another system first than the labels as they are do, these two are told of: that is where the
    labels mislead. Otherwise the first two are. Of two systems b is the second of the comparison, of more the best.
    A baseline is a, and b the best of the others.
    """

    found: Comparison
    a: str
    b: str

    @classmethod
    def of(cls, found: Comparison) -> Told:
        """The pair to tell of, by the means of the labels as they are."""
        first, second, *more = found.systems
        if not more or found.baseline is not None:
            return cls(found, first, second)
        if found.by_query.height:
            naive = found.by_query.select(pl.col(found.systems).mean()).row(0, named=True)
            leader = max(found.systems, key=lambda name: naive[name])
            second = leader if leader != first else second
        return cls(found, second, first)

    def by(self, method: str) -> Interval | None:
        """The difference by a method, none where it is silent."""
        mine = (pl.col("method") == method) & (pl.col("system_a") == self.a) & (pl.col("system_b") == self.b)
        rows = self.found.methods.filter(mine)
        if not rows.height or math.isnan(rows["low"][0]):
            return None
        value, low, high = (float(rows[name][0]) for name in ("difference", "low", "high"))
        return Interval(value, low, high)

    def naive_against_corrected(self) -> str:
        """What the labels as they are would have said, beside what gold labels say; empty where neither can."""
        if self.found.method == "plain":
            return (
                "The labels are taken as they are: errors of the judges may move this. With gold labels of some "
                "documents the verdict would hold in spite of them."
            )
        plain, chosen = self.by("plain"), self.by(self.found.method)
        if plain is None or chosen is None:
            return ""
        shown = chosen.direction if self._shown_among_all() else 0
        ends = f"{self.b} less {self.a}: {plain.value:+z.3f}, {self.found.level * 100:g} % interval {plain}"
        if plain.direction == shown:
            return f"Taken as they are, the labels say the same ({ends})."
        return (
            f"Taken as they are, the labels would say that {self._words(plain.direction)} ({ends}); "
            f"with gold labels, {self._words(shown)} ({chosen.value:+z.3f}, {chosen})."
        )

    def against_truth(self, truth: float) -> str:
        """Whether the planted truth lies in each interval, in words."""
        said = f"This study is simulated in part: the true difference of {self.b} less {self.a} is {truth:+z.3f}."
        for method, who in (("plain", "labels as they are"), (self.found.method, "corrected labels")):
            interval = None if who == "corrected labels" and method == "plain" else self.by(method)
            if interval is not None:
                inside = interval.low <= truth <= interval.high
                said += f" The interval of the {who}, {interval}, {'holds' if inside else 'misses'} it."
        return said

    def _shown_among_all(self) -> bool:
        """Whether the difference is shown allowing for all pairs of systems, as the verdict does."""
        pairs = self.found.pairs
        if not pairs.height:
            return True
        mine = (pairs["a"].is_in([self.a, self.b]) & pairs["b"].is_in([self.a, self.b])).to_numpy()
        return bool(family_p(pairs)[mine][0] < 1 - self.found.level)

    def _words(self, direction: int) -> str:
        if direction == 0:
            return f"no difference between {self.b} and {self.a} is shown"
        better, worse = (self.b, self.a) if direction > 0 else (self.a, self.b)
        return f"{better} is better than {worse}"
