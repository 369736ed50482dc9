"""A comparison: the verdict in a sentence, what each method says, and all pairs where there are many systems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from karat.comparison.verdict import Refusal, Verdict, headline
from karat.records.result import ResultBase, rows_of


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ResultBase):
    """Which system is better by one measure, and how sure that is.

    - `verdict` is about B, the second of two systems, against A, the first: better, worse, no difference shown, or
      cannot say, and with a margin also equivalent or not worse, where the interval shows it; with more systems it is
      better where one of them, `winner`, is shown better than every other, or than the `baseline` where one is named
      (worse: all are worse than that);
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
    #: The system that the others are compared with, where one was named: the first.
    baseline: str | None = None
    population: Literal["sample", "fixed"] = "sample"
    #: The lowest and highest score that the measure can give, None where it has no bounds.
    score_range: tuple[float, float] | None = None
    seed: int = 0
    #: How many queries are judged, and how many of them each system misses: these count 0, unless only the
    #: `common_queries` count, those that all systems answer.
    judged_queries: int = 0
    missing_queries: dict[str, int] = field(default_factory=dict)
    common_queries: bool = False
    #: The share of each system's top `unjudged_depth` documents without a label (none where the measure copes with
    #: them), and the bounds of the uncorrected difference b - a if all of these are relevant for one and none for the
    #: other, where the shares are large or far apart.
    unjudged: dict[str, float] = field(default_factory=dict)
    unjudged_depth: int = 0
    unjudged_bounds: tuple[float, float] | None = None
    #: Why there is no verdict: most documents of a system have no label, or some that count could not have been sampled
    #: for gold labels. None for other reasons, which only `reason` has.
    refusal: Refusal | None = None
    notes: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """The finding in words."""
        if self.verdict == "cannot say":
            return f"Cannot say which is better by {self.measure}: {self.reason}."
        return f"{self.headline()} {self.reason}."

    def headline(self) -> str:
        """The verdict in a few words."""
        return headline(self.verdict, self.systems, self.winner, self.baseline, self.measure)

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
            "baseline": self.baseline,
            "method": self.method,
            "queries": self.population,
            "level": self.level,
            "seed": self.seed,
            "judged_queries": self.judged_queries,
            "missing_queries": dict(self.missing_queries),
            "common_queries": self.common_queries,
            "unjudged": dict(self.unjudged),
            "unjudged_depth": self.unjudged_depth,
            "unjudged_bounds": None if self.unjudged_bounds is None else list(self.unjudged_bounds),
            "refusal": self.refusal,
            "warnings": list(self.warnings),
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
