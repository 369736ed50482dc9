"""A live verdict: whether to stop or go on, the difference with an interval for every look, and how it came there."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from karat.comparison.verdict import Verdict, with_missing
from karat.records.number_format import decimals
from karat.records.result import ResultBase, rows_of

State = Literal["too early", "go on", "stop", "cannot say"]
#: The columns of looks.
LOOKS = {"labels": pl.Int64, "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64}


@dataclass(frozen=True, eq=False, repr=False)
class Live(ResultBase):
    """Where a comparison stands while its gold labels come in.

    - `state`: too early, go on, stop, or cannot say; `verdict` about B, the second system, as in a comparison;
    - `difference` = b - a with `low` and `high`, which hold at all looks together; `once_low` and `once_high` would do
      for a single look;
    - `labels` are there of those `drawn`; `waiting` are still to come, and of the others somebody could not tell;
    - `more`: after how many more labels it should be clear, none where those drawn will not do; `clear_at`: after how
      many it was;
    - `looks`: the course, a row for each look: labels, difference, low, high; `ahead`: how the interval would go on if
      the difference stayed as it is.
    """

    measure: str
    systems: tuple[str, str]
    state: State
    verdict: Verdict
    labels: int
    drawn: int
    waiting: int
    difference: float
    low: float
    high: float
    once_low: float
    once_high: float
    more: int | None
    clear_at: int | None
    outlook: str
    looks: pl.DataFrame
    ahead: pl.DataFrame
    level: float = 0.95
    population: str = "sample"
    margin: float | None = None
    #: How many queries are judged, how many of them each system misses, and how these count, in words.
    judged_queries: int = 0
    missing_queries: dict[str, int] = field(default_factory=dict)
    missing: str = ""
    notes: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """Stop or go on, what is known, and how many more labels it should take."""
        a, b = self.systems
        if self.state in ("too early", "cannot say"):
            return f"{self.state.capitalize()}: {self.outlook}." if self.state == "too early" else self.outlook
        said = {
            "better": f"{b} is better than {a} by {self.measure}",
            "worse": f"{b} is worse than {a} by {self.measure}",
            "equivalent": f"{b} and {a} are equivalent by {self.measure}",
        }.get(self.verdict, f"no difference is shown between {a} and {b} by {self.measure}, and all labels are in")
        if self.state == "go on":
            said = f"it is not clear yet which of {a} and {b} is better by {self.measure}"
        return f"{self.state.capitalize()}: {said}: {self.reason()}.{f' {self.outlook}.' if self.outlook else ''}"

    def reason(self) -> str:
        """The difference with its interval, and what it rests on."""
        return with_missing(self._difference(), self.missing)

    def _difference(self) -> str:
        places = decimals(self.low, self.high)
        ends = f"{self.low:+.{places}f} to {self.high:+.{places}f}"
        if self.low == self.high:
            return f"{self.difference:+.{places}f}, known from gold labels of all that counts"
        return (
            f"{self.difference:+.{places}f} ({self.level * 100:g} % interval at every look {ends}) after "
            f"{self.labels:,} of {self.drawn:,} gold labels"
        )

    def to_frame(self) -> pl.DataFrame:
        """The course, a row for each look."""
        return self.looks

    def shown(self) -> pl.DataFrame:
        """The course, each look by its name."""
        return self.looks.with_columns(labels=pl.format("{} labels", "labels"))

    def to_dict(self) -> dict[str, Any]:
        """All of it as one document; what is undefined is None."""
        names = ["measure", "state", "verdict", "labels", "drawn", "waiting", "more", "clear_at", "margin", "level"]
        names += ["judged_queries", "missing_queries"]
        numbers = ("difference", "low", "high", "once_low", "once_high")
        return {
            "finding": self.finding,
            "systems": list(self.systems),
            **{name: getattr(self, name) for name in names},
            "queries": self.population,
            **{name: None if math.isnan(getattr(self, name)) else getattr(self, name) for name in numbers},
            "looks": rows_of(self.looks),
            "ahead": rows_of(self.ahead),
            "notes": list(self.notes),
        }
