"""A comparison: the verdict in a sentence, what each method says, and all pairs where there are many systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from karat.records.number_format import decimals
from karat.records.result import ResultBase, rows_of

Verdict = Literal["better", "worse", "equivalent", "not worse", "no difference shown", "cannot say"]

#: What the methods are called in a sentence.
IN_WORDS = {
    "plain": "labels as they are",
    "ppi": "labels corrected with gold labels",
    "inversion": "labels corrected by the judge's confusion matrix",
    "inversion-independent": "corrected by the judge's confusion matrix, errors added up",
}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ResultBase):
    """Which system is better by one measure, and how sure that is.

    - `verdict` is about B, the second of two systems, against A, the first: better, worse, no difference shown, or
      cannot say, and with a margin also equivalent or not worse, where the interval shows it; with more systems it is
      better where one of them, `winner`, is shown better than every other;
    - `methods`: a row per method and pair with A, with `difference` = b - a, its interval, p, and what it rests on;
    - `pairs`: every pair by the chosen method, with p values that allow for many pairs (Holm, Benjamini-Hochberg, and
      max-T), wins, ties and losses by query, and the effect size;
    - `ranks`: each system's score and the places it may have, all at once;
    - `judge`: how the judge errs on documents of each kind, where gold labels show it.
    """

    measure: str
    systems: tuple[str, ...]
    methods: pl.DataFrame
    verdict: Verdict
    method: str
    reason: str
    winner: str | None
    pairs: pl.DataFrame
    ranks: pl.DataFrame
    by_query: pl.DataFrame
    judge: pl.DataFrame | None = None
    tests: pl.DataFrame | None = None
    #: Each query's values by the method that decides, whose means are the scores; none where queries are not a sample.
    values: pl.DataFrame | None = None
    #: The queries with a gold label on a document that tells the systems apart.
    gold_queries: tuple[str, ...] = ()
    level: float = 0.95
    population: Literal["sample", "fixed"] = "sample"
    seed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """The finding in words."""
        if self.verdict == "cannot say":
            return f"Cannot say which is better by {self.measure}: {self.reason}."
        return f"{self.headline()} {self.reason}."

    def headline(self) -> str:
        """The verdict in a few words."""
        if self.verdict == "no difference shown":
            if len(self.systems) == 2:
                return f"No difference shown between {self.systems[0]} and {self.systems[1]} by {self.measure}:"
            return f"No system is shown better than all others by {self.measure}:"
        if len(self.systems) > 2:
            return f"{self.winner} is better than all others by {self.measure}:"
        a, b = self.systems
        if self.verdict == "equivalent":
            return f"{b} and {a} are equivalent by {self.measure}:"
        return f"{b} is {self.verdict} than {a} by {self.measure}:"

    def to_frame(self) -> pl.DataFrame:
        """A row per method: naive beside corrected."""
        return self.methods

    def to_dict(self) -> dict[str, Any]:
        """The comparison as one document; what is undefined is None."""
        document: dict[str, Any] = {
            "measure": self.measure,
            "systems": list(self.systems),
            "finding": self.finding,
            "methods": rows_of(self.methods),
            "verdict": self.verdict,
            "winner": self.winner,
            "method": self.method,
            "queries": self.population,
            "level": self.level,
            "seed": self.seed,
            "reason": self.reason,
            "pairs": rows_of(self.pairs),
            "ranks": rows_of(self.ranks),
            "tests": [] if self.tests is None else rows_of(self.tests),
            "judge": [] if self.judge is None else rows_of(self.judge),
            "notes": list(self.notes),
        }
        return document

    def shown(self) -> pl.DataFrame:
        """Each method's difference for two systems; for more, every pair with p adjusted for their number."""
        interval = ("difference", "low", "high", "p")
        if len(self.systems) > 2:
            return self.pairs.select("a", "b", *interval, "holm", "max_t", "wins", "losses")
        named = {"a": self.systems[0], "b": self.systems[1]} if not {*self.systems} & {*self.methods.columns} else {}
        methods = self.methods.select("method", "a", "b", *interval, queries="n_queries", gold="n_gold")
        return methods.rename(named)


def reason_for(row: dict[str, Any], measure: str, level: float, winner_first: bool = False) -> str:
    """A difference with its interval and what it rests on, in words.

    >>> row = {"method": "plain", "difference": 0.051, "low": 0.012, "high": 0.09, "p": 0.011, "n_queries": 50,
    ...        "n_gold": 0}
    >>> reason_for(row, "P@10", 0.95)
    '+0.051 (95 % interval +0.012 to +0.090, p = 0.011) over 50 queries, labels as they are'
    """
    sign = -1.0 if winner_first else 1.0
    difference, ends = sign * row["difference"], sorted((sign * row["low"], sign * row["high"]))
    places = decimals(*ends)
    said = f"{difference:+z.{places}f}"
    if not math.isnan(ends[0]):
        said += f" ({level * 100:g} % interval {ends[0]:+z.{places}f} to {ends[1]:+z.{places}f}{_p(row['p'])})"
    elif not math.isnan(row["p"]):
        said += f" ({_p(row['p']).removeprefix(', ')})"
    said += f" over {row['n_queries']:,} queries, {IN_WORDS[row['method']]}"
    return said.replace("corrected with gold labels", f"corrected with {row['n_gold']:,} gold labels")


def _p(p: float) -> str:
    if math.isnan(p):
        return ""
    return ", p < 0.001" if p < 0.001 else f", p = {p:.3f}"
