"""The pair of systems that a report tells of: the best, and the one that labels as they are would have put first."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from karat.compare import Comparison


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
        return f"{self.low:+.3f} to {self.high:+.3f}"


@dataclass(frozen=True, eq=False)
class Told:
    """Two systems of a comparison, `ahead` the one with the higher score by the labels as they are.

    Where gold labels put another system first than the labels as they are do, these two are told of: that is where the
    labels mislead. Otherwise the first two are.
    """

    found: Comparison
    ahead: str
    behind: str

    @classmethod
    def of(cls, found: Comparison) -> Told:
        """The pair to tell of, by the means of the labels as they are."""
        if not found.by_query.height:
            return cls(found, found.systems[1], found.systems[0])
        naive = found.by_query.select(pl.col(found.systems).mean()).row(0, named=True)
        first = found.systems[0]
        leader = max(found.systems, key=lambda name: naive[name])
        other = leader if leader != first else found.systems[1]
        return cls(found, *((other, first) if naive[other] >= naive[first] else (first, other)))

    @property
    def pair(self) -> tuple[str, str]:
        """Both systems."""
        return self.ahead, self.behind

    def by(self, method: str) -> Interval | None:
        """The difference of the one ahead less the other by a method, none where it is silent."""
        first = self.found.systems[0]
        other = self.behind if self.ahead == first else self.ahead
        rows = self.found.methods.filter((pl.col("method") == method) & (pl.col("system_b") == other))
        if not rows.height or math.isnan(rows["low"][0]):
            return None
        value, low, high = (float(rows[name][0]) for name in ("difference", "low", "high"))
        return Interval(value, low, high) if other == self.ahead else Interval(-value, -high, -low)

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
        level = f"{self.found.level * 100:g} % interval"
        ends = f"{plain.value:+.3f}, {level} {plain}"
        if plain.direction == chosen.direction:
            return f"Taken as they are, the labels say the same of {self.ahead} and {self.behind} ({ends})."
        return (
            f"Taken as they are, the labels would say that {self._words(plain.direction)} ({ends}); "
            f"with gold labels, {self._words(chosen.direction)} ({chosen.value:+.3f}, {chosen})."
        )

    def against_truth(self, truth: float) -> str:
        """Whether the planted truth lies in each interval, in words."""
        said = (
            f"This study is simulated in part: the true difference of {self.ahead} less {self.behind} is {truth:+.3f}."
        )
        for method, who in (("plain", "labels as they are"), (self.found.method, "corrected labels")):
            interval = None if who == "corrected labels" and method == "plain" else self.by(method)
            if interval is not None:
                inside = interval.low <= truth <= interval.high
                said += f" The interval of the {who}, {interval}, {'holds' if inside else 'misses'} it."
        return said

    def _words(self, direction: int) -> str:
        if direction == 0:
            return f"no difference between {self.ahead} and {self.behind} is shown"
        better, worse = self.pair if direction > 0 else self.pair[::-1]
        return f"{better} is better than {worse}"
