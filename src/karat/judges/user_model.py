"""The user disagreement model in numbers: p(T|i), and what a grade is worth to M of N users.

From documents that several judges labelled, p(T|i) is the probability that another user says the top level T when one
said i; from it follows how probable it is that at least M of N users say T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from karat.judges.chances import beta_binomial_tail, binomial_tail, fit_beta_binomial
from karat.judges.level_counts import Votes
from karat.records.scale import ONE_USER, nothing_below
from karat.stats import Resampling, ratio, ratio_intervals
from karat.stats.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class UserModel:
    """p(T|i) of every level, with intervals over queries, and the weights that follow from it."""

    votes: Votes
    level: float
    draws: int
    seed: int

    @property
    def top(self) -> float:
        """The level that users want."""
        return self.votes.levels[-1]

    @cached_property
    def p(self) -> Floats:
        """The probability that another user says top, for each level, lowest first."""
        told, asked = self.votes.sums
        return ratio(told.sum(axis=0), asked.sum(axis=0))

    @cached_property
    def n(self) -> Ints:
        """How many labels of each level there are."""
        n: Ints = self.votes.counts.sum(axis=0)
        return n

    @property
    def resampling(self) -> Resampling:
        """How intervals are drawn."""
        return Resampling(self.level, self.draws, self.seed)

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Lower and upper ends for p, queries drawn with replacement; NaN where the queries are too few."""
        return ratio_intervals(*self.votes.sums, self.resampling)

    @cached_property
    def opinions(self) -> list[tuple[float, float]]:
        """For each level, the beta distribution of the share of users who say top: documents differ in it.

        NaN where no document of the level has three labels.
        """
        levels, kinds = range(len(self.votes.levels)), self.votes.alike
        # One other label per document tells how many users say top, not how far documents differ in it.
        told = [(kinds.size[kinds.counts[:, i] > 0] > 2).any() for i in levels]
        return [
            fit_beta_binomial(kinds.others_top(i), kinds.size - 1, kinds.weight(i) * kinds.n)
            if told[i]
            else (np.nan, np.nan)
            for i in levels
        ]

    def binomial(self, at_least: int, of: int) -> Floats:
        """P(M of N say top | one said i) for each level, every document of a level alike."""
        return self._binomial(at_least, of, self.p)

    def binomial_ends(self, at_least: int, of: int) -> tuple[Floats, Floats]:
        """The interval of each weight: it grows with p, so its ends are the weights of the ends of p."""
        low, high = (self._binomial(at_least, of, ends) for ends in self.intervals)
        known = low < high
        return np.where(known, low, np.nan), np.where(known, high, np.nan)

    def _binomial(self, at_least: int, of: int, p: Floats) -> Floats:
        if (at_least, of) == ONE_USER:
            return p
        return binomial_tail(self.votes.needed(at_least, of), of - 1, p)

    def beta_binomial(self, at_least: int, of: int) -> Floats:
        """The same with documents of a level that differ in how many users like them."""
        need, (a, b) = self.votes.needed(at_least, of), np.transpose(self.opinions)
        found = beta_binomial_tail(need, of - 1, a, b)
        # With one other user, or with none that is needed, it does not matter how far documents differ.
        alike = np.isnan(a) & ((of <= 2) | (need <= 0))
        return np.where(alike, self.binomial(at_least, of), found)

    def experimental(self, at_least: int, of: int) -> Floats:
        """The same counted: how often M of N labels drawn from a document's are top, one of them i."""
        told, asked = self.votes.counted(at_least, of)
        return ratio(told.sum(axis=0), asked.sum(axis=0))

    def experimental_ends(self, at_least: int, of: int) -> tuple[Floats, Floats]:
        """The interval of what was counted, queries drawn with replacement."""
        return ratio_intervals(*self.votes.counted(at_least, of), self.resampling)

    def weights(self, at_least: int = 1, of: int = 3, zero_lowest: bool = False) -> dict[float, float]:
        """The worth of each level for a measure's gains: P(M of N), on request 0 for the lowest level and all up to 0.

        A level that no document with several labels was called has none.
        """
        worth = dict(zip(self.votes.levels, self.binomial(at_least, of).tolist(), strict=True))
        worth = {grade: weight for grade, weight in worth.items() if not np.isnan(weight)}
        return nothing_below(worth) if zero_lowest else worth

    def weights_for(self, pairs: Sequence[tuple[int, int]], zero_lowest: bool = False) -> pl.DataFrame:
        """Weights for pairs (M, N), as scores take them from a file: at_least, of, level, weight, low, high."""
        rows = []
        for m, n in pairs:
            ends = dict(zip(self.votes.levels, np.transpose(self.binomial_ends(m, n)), strict=True))
            for grade, weight in self.weights(m, n, zero_lowest).items():
                low, high = ends.get(grade, (np.nan, np.nan)) if weight > 0 else (np.nan, np.nan)
                rows.append((m, n, grade, weight, float(low), float(high)))
        return pl.DataFrame(rows, schema=["at_least", "of", "level", "weight", "low", "high"], orient="row")

    def weight_errors(self, at_least: int, of: int) -> tuple[list[float], Floats]:
        """The levels and the covariance of their weights, queries being a sample.

        A query moves p by (told - p asked) / asked of all, and a weight by as much times its slope in p: for others who
        must say top, `need` of `of` - 1, that is (of - 1) times the chance that need - 1 of of - 2 do.
        """
        (told, asked), n = self.votes.sums, self.votes.n_queries
        p, whole = np.nan_to_num(self.p), asked.sum(axis=0)
        moved = (told - p * asked) / np.where(whole > 0, whole, 1.0)
        if (at_least, of) != ONE_USER:
            need, rest = self.votes.needed(at_least, of), max(of - 2, 0)
            moved *= (of - 1) * (binomial_tail(need - 1, rest, p) - binomial_tail(need, rest, p)) * (need > 0)
        return list(self.votes.levels), moved.T @ moved * n / max(n - 1, 1)

    def with_labels(self, of: int) -> Self:
        """The model of those documents alone that have so many labels or more."""
        return replace(self, votes=self.votes.where(self.votes.size >= of), draws=0)

    def furthest(self, pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
        """How far binomial and beta-binomial are at most from what is counted, where all documents can be counted.

        Both are fitted to documents with as many labels as the largest N, and counted on the same: with more documents
        for small N than for large, other documents would look like an error of the model.
        """
        fixed = self.with_labels(max(of for _, of in pairs))
        apart = [
            [np.abs(model(m, n) - fixed.experimental(m, n)) for model in (fixed.binomial, fixed.beta_binomial)]
            for m, n in pairs
        ]
        binomial, beta_binomial = np.nanmax(np.nan_to_num(apart), axis=(0, 2)).tolist()
        return binomial, beta_binomial
