"""How many users would call this result top, given what one judge said? The user disagreement model.

People differ on what is a top result, and that is information. From documents that several judges labelled, p(T|i) is
the probability that another user says the top level T when one said i; from it follows how probable it is that at least
M of N users say T, which is what a grade is worth to a team that wants to please M of N users.

Reference: Demeester, Aly, Hiemstra, Nguyen, Trieschnigg and Develder, Exploiting user disagreement for web search
evaluation (WSDM 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.chances import beta_binomial_tail, binomial_tail, fit_beta_binomial, hypergeometric_tail
from karat.judges.level_counts import Votes, levels_of, merged, need_labels, used, votes
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.records.chart import Lines
from karat.records.result import ResultBase
from karat.records.scale import nothing_below
from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Floats, Ints

#: Models are compared with counts for so many users at most, and on so many documents at least if there are.
MOST_USERS, ENOUGH = 8, 50
#: A level with fewer labels than this is bracketed, as in the paper's Table 4.
FEW_LABELS = 50


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(ResultBase):
    """p(T|i) of every level, with intervals over queries, and the weights that follow from it."""

    votes: Votes
    level: float
    draws: int
    seed: int
    notes: tuple[str, ...] = ()

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

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Lower and upper ends for p, queries drawn with replacement; NaN where the queries are too few."""
        return intervals(*self.votes.sums, Resampling(self.level, self.draws, self.seed))

    @cached_property
    def opinions(self) -> list[tuple[float, float]]:
        """For each level, the beta distribution of the share of users who say top: documents differ in it.

        NaN where no document of the level has three labels.
        """
        v = self.votes
        # One other label per document tells how many users say top, not how far documents differ in it.
        told = [(v.size[v.counts[:, i] > 0] > 2).any() for i in range(len(v.levels))]
        return [
            fit_beta_binomial(v.others_top(i), v.size - 1, v.weight(i)) if told[i] else (np.nan, np.nan)
            for i in range(len(v.levels))
        ]

    def binomial(self, at_least: int, of: int) -> Floats:
        """P(M of N say top | one said i) for each level, every document of a level alike."""
        _check(at_least, of)
        return np.array(
            [binomial_tail(need, of - 1, p) for need, p in zip(self._needed(at_least), self.p, strict=True)]
        )

    def beta_binomial(self, at_least: int, of: int) -> Floats:
        """The same with documents of a level that differ in how many users like them."""
        found = self.binomial(at_least, of)  # the same with one other user, or with none that is needed
        for level, (need, (a, b)) in enumerate(zip(self._needed(at_least), self.opinions, strict=True)):
            if not np.isnan(a) or (of > 2 and need > 0):
                found[level] = beta_binomial_tail(need, of - 1, a, b)
        return found

    def experimental(self, at_least: int, of: int) -> Floats:
        """The same counted: how often M of N labels drawn from a document's are top, one of them i."""
        _check(at_least, of)
        v = self.votes
        found = np.full(len(v.levels), np.nan)
        for level, need in enumerate(self._needed(at_least)):
            shown = (v.size >= of) & (v.counts[:, level] > 0)
            if shown.any():
                weight = v.weight(level)[shown]
                tail = hypergeometric_tail(need, of - 1, v.others_top(level)[shown], v.size[shown] - 1)
                found[level] = float(weight @ tail / weight.sum())
        return found

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

    def binomial_ends(self, at_least: int, of: int) -> tuple[Floats, Floats]:
        """The interval of each weight: it grows with p, so its ends are the weights of the ends of p."""
        low, high = (
            np.array([binomial_tail(need, of - 1, p) for need, p in zip(self._needed(at_least), ends, strict=True)])
            for ends in self.intervals
        )
        known = low < high
        return np.where(known, low, np.nan), np.where(known, high, np.nan)

    def weight_errors(self, at_least: int, of: int) -> tuple[list[float], Floats]:
        """The levels and the covariance of their weights, queries being a sample.

        A query moves p by (told - p asked) / asked of all, and a weight by as much times its slope in p: for others who
        must say top, `need` of `of` - 1, that is (of - 1) times the chance that need - 1 of of - 2 do.
        """
        _check(at_least, of)
        (told, asked), n = self.votes.sums, self.votes.n_queries
        whole = asked.sum(axis=0)
        moved = (told - np.nan_to_num(self.p) * asked) / np.where(whole > 0, whole, 1.0)
        needed = zip(self._needed(at_least), np.nan_to_num(self.p), strict=True)
        slope = [
            (of - 1) * (binomial_tail(need - 1, of - 2, p) - binomial_tail(need, of - 2, p)) if of > need > 0 else 0.0
            for need, p in needed
        ]
        moved = moved * np.array(slope)
        return list(self.votes.levels), moved.T @ moved * n / max(n - 1, 1)

    def experimental_ends(self, at_least: int, of: int) -> tuple[Floats, Floats]:
        """The interval of what was counted, queries drawn with replacement."""
        v = self.votes
        told, asked = (np.zeros(v.counts.shape) for _ in range(2))
        for level, need in enumerate(self._needed(at_least)):
            shown = (v.size >= of) & (v.counts[:, level] > 0)
            asked[shown, level] = v.weight(level)[shown]
            tail = hypergeometric_tail(need, of - 1, v.others_top(level)[shown], v.size[shown] - 1)
            told[shown, level] = asked[shown, level] * tail
        return intervals(v.by_query(told), v.by_query(asked), Resampling(self.level, self.draws, self.seed))

    def with_labels(self, of: int) -> Disagreement:
        """The model of those documents alone that have so many labels or more."""
        return replace(self, votes=self.votes.where(self.votes.size >= of), draws=0)

    def posterior(self, seen: list[float], at_least: int, of: int) -> float:
        """P(M of N say top) when several labels of a document were seen, the seen ones among the N.

        With one label seen it is that label's beta-binomial weight. With more, each in turn is taken as the one that
        tells how users think of such documents and the others as votes, and the answers are averaged: the order in
        which labels came must not matter.
        """
        _check(at_least, of)
        levels = np.minimum(np.searchsorted(self.votes.levels, seen), len(self.votes.levels) - 1)
        if not len(levels) or len(levels) > of:
            raise BadInput.at("the labels seen", expected=f"from 1 to {of}", found=str(len(levels)))
        is_top = levels == len(self.votes.levels) - 1
        if is_top.sum() >= at_least:
            return 1.0
        if np.isnan([self.opinions[level][0] for level in levels]).any():
            raise Undefined("no document of such a label has three labels: what several say together cannot be told")
        answers = []
        for place, level in enumerate(levels):
            a, b = self.opinions[level]
            more = int(is_top.sum() - is_top[place])
            fewer = len(levels) - 1 - more
            answers.append(beta_binomial_tail(at_least - int(is_top.sum()), of - len(levels), a + more, b + fewer))
        return float(np.mean(answers))

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
        v, rows = self.votes, []
        for at_least, of in pairs:
            columns = [
                self.binomial(at_least, of),
                *self.binomial_ends(at_least, of),
                self.beta_binomial(at_least, of),
                self.experimental(at_least, of),
                *self.experimental_ends(at_least, of),
            ]
            counted = v.counts[v.size >= of].sum(axis=0)
            for place, level in enumerate(v.levels):
                figures = (float(column[place]) for column in columns)
                rows.append((at_least, of, level, *figures, int(self.n[place]), int(counted[place])))
        ends = [f"{name}_{end}" for name in ("binomial", "experimental") for end in ("low", "high")]
        names = ["at_least", "of", "level", "binomial", *ends[:2], "beta_binomial", "experimental", *ends[2:]]
        frame = pl.DataFrame(rows, schema=[*names, "n", "n_counted"], orient="row")
        notes = (*self.notes, *self._counted_notes(pairs))
        return Result(frame, self.finding, notes, scale=self.votes.panel.scale, drawing=self._along_users())

    def _along_users(self) -> Lines | None:
        """Predicted and counted weights for 1 of N users, along N, all of the same documents (the paper's Fig. 5)."""
        sizes = np.sort(self.votes.size)[::-1]
        most = min(int(sizes[min(ENOUGH, len(sizes)) - 1]), MOST_USERS)
        if most < 3:
            return None
        fixed = replace(self, votes=self.votes.where(self.votes.size >= most))
        rows = []
        for n in range(2, most + 1):
            columns = (fixed.binomial(1, n), *fixed.binomial_ends(1, n), fixed.experimental(1, n))
            figures = np.transpose([*columns, *fixed.experimental_ends(1, n)])
            said = [f"said {self.votes.panel.said(level)}" for level in self.votes.levels]
            rows += [(n, said[place], *figures[place]) for place in reversed(range(len(said) - 1))]
        names = ["of", "said", "predicted", "low", "high", "counted", "points_low", "points_high"]
        frame = pl.DataFrame(rows, schema=names, orient="row")
        top = self.votes.panel.said(self.top)
        y_title = f"P(at least 1 of N says {top})"
        how = (
            f"Lines: predicted by the binomial; markers: counted. {self.level * 100:g} % intervals over queries, "
            f"{count(len(fixed.votes.counts), 'document')} with at least {most} labels"
        )
        return Lines(frame, "of", "predicted", "said", "N users", y_title, points="counted", whole=True, how=how)

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
        ends = "" if np.isnan(low) else f" ({self.level * 100:g} % interval {low:.3f} to {high:.3f})"
        again = (
            f"no document with several labels was called {top}"
            if np.isnan(self.p[-1])
            else f"when one says {top}, {self.p[-1]:.3f}"
        )
        return (
            f"When one user says {said(self.votes.levels[below])}, another says {top} with probability "
            f"{self.p[below]:.3f}{ends}; {again}."
        )

    def _needed(self, at_least: int) -> list[int]:
        """How many of the others must say top: one less when the label seen is top itself."""
        top = len(self.votes.levels) - 1
        return [at_least - (level == top) for level in range(top + 1)]


def disagreement(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    min_labels: int = 2,
    most_labels: int | None = None,
    all_labels: bool = False,
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

    `top` is the level that users want (by default the highest label); grades above it count as top. Use it when some
    documents have labels of several people; judges who were paid to agree, or copied each other, tell nothing about
    users. A judge's own second label is nobody else's (`karat.labels.Panel` has other policies).

    Where a further label was asked only when the first two differed, the first two of each document are used: the
    others are there for contested documents alone. `most_labels` takes the first so many of every document instead,
    `all_labels` all there are.
    """
    panel = Panel.of(labels).of_judges()
    need_labels(panel, min_labels)
    levels = levels_of(panel, top)
    found = votes(used(panel, min_labels, most_labels, all_labels), levels, min_labels)
    notes, given = [*found.panel.notes, *merged(panel, levels[-1])], found.counts.sum(axis=0)
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


def intervals(told: Floats, asked: Floats, resampling: Resampling) -> tuple[Floats, Floats]:
    """Lower and upper ends for told / asked summed over queries (rows), queries drawn with replacement."""
    n, columns = told.shape
    if not resampling.draws or n < FEWEST:
        return np.full(columns, np.nan), np.full(columns, np.nan)
    drawn = np.concatenate([ratio(times @ told, times @ asked) for times in resampling.times(n)])
    # A draw may miss all documents of a grade; the others tell.
    low, high = np.transpose([resampling.ends(column, n, undefined=1.0) for column in drawn.T])
    alike = low == high
    return np.where(alike, np.nan, low), np.where(alike, np.nan, high)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Part by whole, NaN where there is no whole."""
    out = np.full(part.shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def _check(at_least: int, of: int) -> None:
    if not 1 <= at_least <= of:
        raise BadInput.at("M of N users", expected="M from 1 to N", found=f"{at_least} of {of}")
