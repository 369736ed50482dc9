"""Scores of runs over queries of their own, corrected by how often judges err, and how far they are off together.

Every query moves the scores by its own list, and the corrections by its gold documents; the queries of both runs, of
one, and those with gold documents alone are one sum. Runs that share no query, some, or all are then the same case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from karat.correction.error_rates import Rates
from karat.records.number_format import decimals, interval_said, p_said
from karat.records.result import ResultBase, rows_of
from karat.records.table import count
from karat.stats import resampled, totals
from karat.stats.arrays import Floats, Ints
from karat.stats.rogan_gladen import together


@dataclass(frozen=True, eq=False)
class Sample:
    """A run on its queries: of each labelled document the number of its query, its weight, its label and its gain."""

    system: str
    queries: tuple[str, ...]
    docs: pl.DataFrame  # query, doc
    query: Ints
    weight: Floats
    label: Floats
    gain: Floats

    @property
    def scores(self) -> Floats:
        """Each query's score by the labels as they are."""
        return totals(self.query, self.weight * self.gain, len(self.queries))


@dataclass(frozen=True, eq=False)
class Corrected:
    """The scores of one or two runs by the labels and corrected, with all that moves them."""

    samples: Sequence[Sample]
    rates: Sequence[Rates]

    @cached_property
    def number(self) -> dict[str, int]:
        """All queries, those of gold documents too, by number."""
        names = {query for sample in self.samples for query in sample.queries}
        names |= {query for rates in self.rates for query in rates.query}
        return {name: place for place, name in enumerate(sorted(names))}

    @cached_property
    def rows(self) -> list[Ints]:
        """The numbers of each run's queries."""
        return [np.array([self.number[query] for query in sample.queries]) for sample in self.samples]

    @cached_property
    def by_gold(self) -> list[Floats]:
        """How far each query's gold documents move the mean worth of each true grade, for each run."""
        moved = [rates.by_query(self.number) for rates in self.rates[: 1 if self.shared else None]]
        return moved * len(self.samples) if self.shared else moved

    @property
    def shared(self) -> bool:
        """Whether one matrix corrects all runs."""
        return all(rates is self.rates[0] for rates in self.rates)

    @cached_property
    def places(self) -> list[Ints]:
        """The column of the matrix for each document of each run."""
        both = zip(self.samples, self.rates, strict=True)
        return [rates.places(sample.label, sample.gain) for sample, rates in both]

    @cached_property
    def seen(self) -> list[Floats]:
        """How much of each label each run shows, by weight, in the mean over its queries."""
        sized = zip(self.samples, self.rates, self.places, strict=True)
        return [
            np.bincount(place, sample.weight, len(rates.values)) / len(sample.queries) for sample, rates, place in sized
        ]

    @cached_property
    def truth(self) -> list[Floats]:
        """How much of each true grade each run shows (S2's equation 17)."""
        return [rates.matrix.true_shares(seen) for rates, seen in zip(self.rates, self.seen, strict=True)]

    @cached_property
    def naive(self) -> Floats:
        """The scores by the labels as they are."""
        return np.array([sample.scores.mean() for sample in self.samples])

    @cached_property
    def scores(self) -> Floats:
        """The corrected scores."""
        return np.array([seen @ rates.worth for seen, rates in zip(self.seen, self.rates, strict=True)])

    @cached_property
    def ends(self) -> list[tuple[float, float]]:
        """The least and the most that each run's documents could score."""
        gains = [(float(rates.matrix.gains.min()), float(rates.matrix.gains.max())) for rates in self.rates]
        return [(low * seen.sum(), high * seen.sum()) for (low, high), seen in zip(gains, self.seen, strict=True)]

    def is_possible(self, s: int) -> bool:
        """Whether the corrected score is one that documents can have."""
        low, high = self.ends[s]
        return bool(low - 1e-9 <= self.scores[s] <= high + 1e-9)

    def possible(self, s: int) -> float:
        """The nearest score that there can be."""
        matrix, seen = self.rates[s].matrix, self.seen[s]
        return float(matrix.constrained(seen / seen.sum()) @ matrix.gains * seen.sum())

    @cached_property
    def by_list(self) -> Floats:
        """How far each query's list moves the corrected scores: queries x runs."""
        each = zip(self.samples, self.rates, self.places, strict=True)
        return self._moved(
            [
                totals(sample.query, sample.weight * rates.worth[place], len(sample.queries))
                for sample, rates, place in each
            ]
        )

    @cached_property
    def naive_by_list(self) -> Floats:
        """How far each query's list moves the scores by the labels as they are."""
        return self._moved([sample.scores for sample in self.samples])

    def _moved(self, values: list[Floats]) -> Floats:
        moved = np.zeros((len(self.number), len(self.samples)))
        for s, value in enumerate(values):
            n = len(value)
            moved[self.rows[s], s] = (value - value.mean()) / np.sqrt(n * (n - 1.0))
        return moved

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the corrected scores."""
        whole = self.by_list.copy()
        more = np.zeros((len(self.samples), len(self.samples)))
        for s, (rates, truth, moved) in enumerate(zip(self.rates, self.truth, self.by_gold, strict=True)):
            whole[:, s] -= moved @ truth
            # Never less than if the gold documents had been misjudged one by one.
            beyond = np.maximum(rates.independent - (moved**2).sum(axis=0), 0.0)
            others = range(len(self.samples)) if self.shared else [s]
            more[s, others] = [(beyond * truth * self.truth[other]).sum() for other in others]
        return np.asarray(whole.T @ whole + more, dtype=np.float64)

    @cached_property
    def patterns(self) -> list[Ints]:
        """The queries of both runs, of the first, of the second, and of gold documents alone."""
        member = np.zeros((len(self.number), len(self.samples)), np.int64)
        for s, rows in enumerate(self.rows):
            member[rows, s] = 1
        which = member @ (1 << np.arange(len(self.samples)))
        return [np.flatnonzero(which == code) for code in np.unique(which)]

    def gold_parts(self, s: int) -> tuple[Floats, Floats]:
        """The variance of the mean worth of each true grade, and as how many gold labels they count."""
        rates = self.rates[s]
        variance = np.maximum((self.by_gold[s] ** 2).sum(axis=0), rates.independent)
        n = rates.matrix.effective.copy()
        np.divide(rates.spread, variance, out=n, where=(rates.spread > 1e-12) & (variance > 0))
        return variance, n

    def freedom(self, contrast: Sequence[float], *, naive: bool = False) -> float:
        """The degrees of freedom of a contrast of the scores, by its parts (Welch, Satterthwaite)."""
        by_list = (self.naive_by_list if naive else self.by_list) @ np.asarray(contrast)
        parts = [float((by_list[rows] ** 2).sum()) for rows in self.patterns]
        freedoms = [max(len(rows) - 1.0, 1.0) for rows in self.patterns]
        if not naive:
            for which in [range(len(self.samples))] if self.shared else [[s] for s in range(len(self.samples))]:
                variance, n = self.gold_parts(which[0])
                moved = sum(contrast[s] * self.truth[s] for s in which)
                parts += [float(part) for part in np.asarray(moved) ** 2 * variance]
                freedoms += [max(float(size) - 1.0, 1.0) for size in n]
        return float(together(parts, freedoms)[1])

    def drawn_again(self, draws: int, seed: int) -> Floats:
        """Corrected scores of studies like this one, draws x runs: queries drawn again with the gold labels in them.

        A matrix that was given is drawn as so many gold labels would show it. NaN where a draw's matrix has no inverse,
        or turns the labels round.
        """
        rng = np.random.default_rng(seed)
        unique = [self.rates[0]] if self.shared else list(self.rates)
        shown, cells = [self._shown(s) for s in range(len(self.samples))], [self._cells(rates) for rates in unique]
        drawn = [np.zeros((draws, table.shape[1])) for table in (*shown, *cells)]
        for rows in self.patterns:
            start = 0
            for times in resampled(len(rows), draws, int(rng.integers(2**31))):
                for into, table in zip(drawn, (*shown, *cells), strict=True):
                    into[start : start + len(times)] += times @ table[rows]
                start += len(times)
        worth = [_worth(rates, counts, rng) for rates, counts in zip(unique, drawn[len(shown) :], strict=True)]
        return np.column_stack(
            [(drawn[s] * worth[0 if self.shared else s]).sum(axis=1) for s in range(len(self.samples))]
        )

    def _shown(self, s: int) -> Floats:
        """What each query shows of each label, as a part of the mean."""
        sample, size = self.samples[s], len(self.rates[s].values)
        table = np.zeros((len(self.number), size))
        np.add.at(table, (self.rows[s][sample.query], self.places[s]), sample.weight / len(sample.queries))
        return table

    def _cells(self, rates: Rates) -> Floats:
        """The gold documents of each query by true grade and label."""
        size = len(rates.values)
        table = np.zeros((len(self.number), size * size))
        if len(rates.truth):
            rows = np.array([self.number[query] for query in rates.query])
            np.add.at(table, (rows, rates.truth * size + rates.label), rates.weight)
        return table


def _worth(rates: Rates, counts: Floats, rng: np.random.Generator) -> Floats:
    """What labels are worth by each draw's matrix, draws x labels."""
    matrix, draws = rates.matrix, len(counts)
    size = len(matrix.gains)
    shares = counts.reshape(draws, size, size)
    if not len(rates.truth):
        shares = np.stack(
            [_drawn(matrix.shares[k], float(matrix.effective[k]), draws, rng) for k in range(size)], axis=1
        )
    whole = shares.sum(axis=2, keepdims=True)
    good = (whole[:, :, 0] > 0).all(axis=1)
    shares = np.divide(shares, whole, out=np.zeros_like(shares), where=whole > 0)
    # A matrix that turns round has another sign than the one that was found.
    good &= np.linalg.det(shares) * np.sign(np.linalg.det(matrix.shares)) > 1e-9
    worth = np.full((draws, size), np.nan)
    gains = np.broadcast_to(matrix.gains[:, None], (int(good.sum()), size, 1))
    worth[good] = np.linalg.solve(shares[good], gains)[:, :, 0]
    return worth


def _drawn(share: Floats, n: float, draws: int, rng: np.random.Generator) -> Floats:
    """The shares of one true grade as other gold samples of the same size would show them."""
    if np.isinf(n):
        return np.broadcast_to(share, (draws, len(share)))
    if share.max() > 1 - 1e-12:
        share = (share * n + 1) / (n + len(share))
    return np.asarray(rng.multinomial(max(round(n), 1), share / share.sum(), draws), dtype=np.float64)


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
