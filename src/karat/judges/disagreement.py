"""How many users would call this result top, given what one judge said? The user disagreement model.

People differ on what is a top result, and that is information: it tells what a grade is worth to a team that wants to
please M of N users.

Reference: Demeester, Aly, Hiemstra, Nguyen, Trieschnigg and Develder, Exploiting user disagreement for web search
evaluation (WSDM 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges.level_votes import (
    FEW_LABELS,
    Votes,
    levels_of,
    need_labels,
    panel_of_users,
    top_level_notes,
    used,
    votes,
)
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.number_format import interval_said, with_ends
from karat.records.result import Lines, ResultBase
from karat.records.scale import ONE_USER, nothing_below
from karat.records.table import count
from karat.stats import FEWEST, Resampling, ratio, ratio_intervals
from karat.stats.arrays import Floats, Ints
from karat.stats.beta_binomial import beta_binomial_tail, binomial_tail, fit_beta_binomial


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


#: Models are compared with counts for so many users at most, and on so many documents at least if there are.
MOST_USERS, ENOUGH = 8, 50


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(UserModel, ResultBase):
    """p(T|i) of every level, with intervals over queries, and the weights that follow from it, for people to read."""

    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """What is known of every level: level, value, low, high, n."""
        low, high = self.intervals
        return pl.DataFrame(
            {"level": list(self.votes.levels), "value": self.p, "low": low, "high": high, "n": self.n.tolist()}
        )

    def table(self, pairs: list[tuple[int, int]]) -> Result:
        """Weights of every level for pairs (M, N): binomial, beta-binomial, and counted (the paper's Table 1).

        `n` are the labels of the level, `n_counted` those of documents with at least N labels, which alone can be
        counted.
        """
        notes = (*self.notes, *self._counted_notes(pairs))
        panel = self.votes.panel
        return Result(self._table(pairs), self.finding, notes, scale=panel.scale, drawing=self._along_users())

    def _table(self, pairs: Sequence[tuple[int, int]]) -> pl.DataFrame:
        v = self.votes
        return pl.concat(
            pl.DataFrame(
                {
                    "at_least": np.full(len(v.levels), m),
                    "of": n,
                    "level": v.levels,
                    **with_ends("binomial", self.binomial(m, n), *self.binomial_ends(m, n)),
                    "beta_binomial": self.beta_binomial(m, n),
                    **with_ends("experimental", self.experimental(m, n), *self.experimental_ends(m, n)),
                    "n": self.n,
                    "n_counted": v.counts[v.size >= n].sum(axis=0),
                }
            )
            for m, n in pairs
        )

    def _along_users(self) -> Lines | None:
        """Predicted and counted weights for 1 of N users, along N, all of the same documents (the paper's Fig. 5)."""
        sizes, said = np.sort(self.votes.size)[::-1], self.votes.panel.said
        if sizes[0] < 3:
            return None
        most = max(3, min(int(sizes[min(ENOUGH, len(sizes)) - 1]), MOST_USERS))
        fixed = replace(self, votes=self.votes.where(self.votes.size >= most))
        names = {"binomial": "predicted", "experimental": "counted"}
        names |= {f"binomial_{end}": end for end in ("low", "high")}
        names |= {f"experimental_{end}": f"points_{end}" for end in ("low", "high")}
        frame = fixed._table([(1, n) for n in range(2, most + 1)]).filter(pl.col("level") < self.top)
        frame = frame.sort("of", -pl.col("level")).rename(names)
        words = pl.Series("said", [f"said {said(level)}" for level in frame["level"].to_list()])
        documents = count(len(fixed.votes.counts), "document")
        how = (
            f"Lines: predicted by the binomial; markers: counted, for the {documents} with at least {most} labels. "
            f"{self.level * 100:g} % intervals over queries (Demeester et al. 2014, Fig. 5)"
        )
        y_title = f"P(at least 1 of N says {said(self.top)})"
        shown = frame.select("of", words, *names.values())
        return Lines(shown, "of", "predicted", "said", "N users", y_title, points="counted", whole=True, how=how)

    def _counted_notes(self, pairs: Sequence[tuple[int, int]]) -> list[str]:
        """How far the models are from what was counted, and what could not be counted."""
        notes, most = [], int(self.votes.size.max())
        beyond = sorted({of for _, of in pairs if of > max(most, 2)})
        if beyond:
            need = beyond[0]
            notes.append(f"no document has {need} of the labels used: nothing can be counted for {need} users or more")
        if most < 3 and any(of > 2 for of in beyond):
            notes.append("without three labels of a document nobody knows how far documents differ: no beta-binomial")
        # With one other user the binomial is what was counted, by construction.
        more = [(at_least, of) for at_least, of in pairs if 2 < of <= most]
        if more:
            of = max(of for _, of in more)
            apart = self.furthest(more)
            notes.append(
                f"on the {count(int((self.votes.size >= of).sum()), 'document')} with at least {of} labels, furthest "
                f"from what was counted: binomial by {apart[0]:.3f}, beta-binomial by {apart[1]:.3f}"
            )
        return notes

    @property
    def finding(self) -> str:
        """What another user says after the highest level below top that a document with several labels was called."""
        said, top = self.votes.panel.said, self.votes.panel.said(self.top)
        below = int(np.flatnonzero(~np.isnan(self.p[:-1]))[-1])
        low, high = (ends[below] for ends in self.intervals)
        again = (
            f"no document with several labels was called {top}"
            if np.isnan(self.p[-1])
            else f"when one says {top}, {self.p[-1]:.3f}"
        )
        return (
            f"When one user says {said(self.votes.levels[below])}, another says {top} with probability "
            f"{self.p[below]:.3f}{interval_said(low, high, self.level, 3)}; {again}."
        )


def disagreement(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    min_labels: int = 2,
    most_labels: int | None = None,
    all_labels: bool = False,
    count_repeats: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Disagreement:
    """The user disagreement model of documents with at least `min_labels` labels.

    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j)}
    ...         for d, given in {"a": [2, 2, 1], "b": [1, 0, 0]}.items() for j, n in enumerate(given)]
    >>> model = disagreement(rows)
    >>> model.p.round(3).tolist()
    [0.0, 0.5, 0.5]

    `top` is the level that users want (by default the scale's highest grade, or the highest label where no scale is
    given); grades above it count as top. Use it when some
    documents have labels of several people; judges who were paid to agree, or copied each other, tell nothing about
    users. A judge's own second label is nobody else's, unless `count_repeats` takes it for another user's.

    Where a further label was asked only when the first two differed, the first two of each document are used: the
    others are there for contested documents alone. `most_labels` takes the first so many of every document instead,
    `all_labels` all there are.
    """
    panel = panel_of_users(labels, count_repeats)
    need_labels(panel, min_labels)
    levels = levels_of(panel, top)
    found = votes(used(panel, min_labels, most_labels, all_labels), levels, min_labels)
    notes, given = [*found.panel.notes, *top_level_notes(panel, levels[-1])], found.counts.sum(axis=0)
    if not given[:-1].any():
        raise Undefined(
            f"every document with {min_labels} labels was called {panel.said(levels[-1])} by everybody: nothing is "
            "known of what others say about lower levels"
        )
    few = [f"{panel.said(grade)} ({n})" for grade, n in zip(levels, given, strict=True) if 0 < n < FEW_LABELS]
    if few:
        notes.append(f"few labels of level {', '.join(few)}: take their figures in brackets")
    none = [panel.said(grade) for grade, n in zip(levels, given, strict=True) if not n]
    if none:
        notes.append(f"no document with {min_labels} labels was called {' or '.join(none)}: nothing is known of it")
    if found.n_queries < FEWEST and draws:
        notes.append(f"{count(found.n_queries, 'query', 'queries')}: too few for intervals")
    notes.append(
        f"{count(len(found.counts), 'document')} with at least {min_labels} labels, {found.counts.sum():,} labels"
    )
    return Disagreement(found, level, draws, seed, tuple(notes))
