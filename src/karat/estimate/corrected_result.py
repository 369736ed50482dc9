"""One run or two without the judges' errors: the scores by each method, and the verdict in a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.records.base import count
from karat.records.number_format import decimals, interval_said, p_said
from karat.records.result import ResultBase, rows_of


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedRuns(ResultBase):
    """Scores corrected for the judges' errors, naive beside them, and of two runs which is better.

    - `scores`: each run by each method: naive, corrected (the interval to read), closed form, bootstrap;
    - `pair`: of two runs, b less a by each method, as `corrected_difference` has it; none for one run;
    - `accuracy`: how often judges are right on documents of each kind, for each run or for both (system is null), the
      gold labels behind it, and as how many independent ones they count;
    - `impossible`: the runs whose corrected score no documents can have: then there is no verdict.
    """

    measure: str
    systems: tuple[str, ...]
    scores: pl.DataFrame
    pair: pl.DataFrame | None
    accuracy: pl.DataFrame
    impossible: tuple[str, ...]
    n_queries: tuple[int, ...]
    in_common: int
    level: float
    draws: int
    seed: int
    notes: tuple[str, ...] = ()
    #: That judges are shown to err otherwise on one run's documents than on the other's, where that is not allowed for.
    unlike: str = ""

    @property
    def method(self) -> str:
        """The method that decides: corrected for one run; shared, or per run, for two."""
        return "corrected" if self.pair is None else str(self.pair["method"][-1])

    @property
    def verdict(self) -> str | None:
        """About the second run against the first: better, worse, no difference shown, cannot say; none for one run."""
        if self.pair is None:
            return None
        row = self.pair.row(-1, named=True)
        if self.impossible or self.unlike or math.isnan(row["p"]):
            return "cannot say"
        if row["p"] >= 1 - self.level:
            return "no difference shown"
        return "better" if row["difference"] > 0 else "worse"

    @property
    def finding(self) -> str:
        """The result in a sentence."""
        if self.pair is None:
            return self._of_one()
        a, b = self.systems
        if self.verdict == "cannot say":
            return f"Cannot say which is better by {self.measure}: {self._why()}."
        row = self.pair.row(-1, named=True)
        places = decimals(row["low"], row["high"])
        ends = f"{100 * self.level:g} % interval {row['low']:+.{places}f} to {row['high']:+.{places}f}"
        said = f"{row['difference']:+.{places}f} ({ends}, {p_said(row['p'])}) over {self._queries()}."
        if self.verdict == "no difference shown":
            return (
                f"No difference shown between {a} and {b} by {self.measure} once judges' errors are allowed for: {said}"
            )
        return f"{b} is {self.verdict} than {a} by {self.measure} once judges' errors are allowed for: {said}"

    def _of_one(self) -> str:
        naive, row = (self.scores.row(place, named=True) for place in (0, 1))
        places = decimals(row["low"], row["high"])
        value = f"has {self.measure} {row['score']:.{places}f}"
        if self.impossible:
            value = f"comes out at a {self.measure} of {row['score']:.{places}f}, which cannot be"
        return (
            f"Corrected for the judges' errors {self.systems[0]} {value}"
            f"{interval_said(row['low'], row['high'], self.level, places)}; by the labels "
            f"{naive['score']:.{max(places, 3)}f} over {count(self.n_queries[0], 'query', 'queries')}."
        )

    def _why(self) -> str:
        if not self.impossible:
            return self.unlike or "all queries scored alike"
        right = self.scores.filter(pl.col("method") == "corrected")
        told = [
            f"{row['score']:.2f} for {row['system']}" for row in right.to_dicts() if row["system"] in self.impossible
        ]
        return (
            f"a corrected score of {' and '.join(told)} is impossible, so these judges do not err here as on the gold "
            "labels, or the gold labels are too few"
        )

    def _queries(self) -> str:
        a, b = self.n_queries
        if self.in_common == a == b:
            return f"the same {a:,} queries"
        return f"{a:,} and {b:,} queries, {self.in_common or 'none'} of them the same"

    def to_frame(self) -> pl.DataFrame:
        """Of two runs, the difference by each method; of one, its score."""
        return self.scores.drop("system") if self.pair is None else self.pair

    def to_dict(self) -> dict[str, Any]:
        """The result as one document."""
        return {
            "finding": self.finding,
            "measure": self.measure,
            "systems": list(self.systems),
            "verdict": self.verdict,
            "method": self.method,
            "methods": rows_of(self.to_frame()),
            "scores": rows_of(self.scores),
            "accuracy": rows_of(self.accuracy),
            "impossible": list(self.impossible),
            "n_queries": list(self.n_queries),
            "in_common": self.in_common,
            "level": self.level,
            "draws": self.draws,
            "seed": self.seed,
            "notes": list(self.notes),
        }
