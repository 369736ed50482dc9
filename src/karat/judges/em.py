"""Expectation and maximisation in turn until nothing moves: how error models are fitted to many labels at once.

The true grades are unknown and so are the judges' errors; each tells about the other. From a first guess of the grades
(how the labels are spread) come the judges' errors, from these better guesses of the grades, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.judges.layout import Layout
from karat.judges.steps import Errors as Errors
from karat.judges.steps import Fit as Fit
from karat.judges.steps import check as check
from karat.judges.steps import fit_steps, squares, stride_of
from karat.labels import Panel
from karat.labels.panel import numbered
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.distinct import distinct

#: An expected count is never below this, so that no logarithm is infinite.
FLOOR = 1e-10
#: A probability below this may be a rounded 0.
TINY = 1e-290
#: Items with more labels than this are worked on in logarithms.
MOST_ROUNDS = 64


@dataclass(frozen=True, eq=False)
class Answers(Layout):
    """A panel laid out for fitting: labels stand item by item, most labelled items first.

    >>> answers = Answers.of([{"query": "q", "doc": "d", "label": 2, "judge": "eve"},
    ...                       {"query": "q", "doc": "e", "label": 2, "judge": "eve"},
    ...                       {"query": "q", "doc": "e", "label": 0, "judge": "bob"}])
    >>> answers.items["doc"].to_list(), answers.item.tolist(), answers.judge.tolist(), answers.grade.tolist()
    (['e', 'd'], [0, 0, 1], [1, 0, 1], [1, 0, 1])

    People without a name have one set of error rates between them in each group: nobody knows what else they said.
    """

    panel: Panel
    items: pl.DataFrame
    #: `judge`, and `group` before it where there are groups; sorted.
    judges: pl.DataFrame
    item: Ints
    judge: Ints
    grade: Ints
    #: The number of each item's true grade, -1 where it is not known.
    known: Ints
    #: Which rows are about an item that somebody else labelled too, or whose grade is known.
    shared: Bools

    @classmethod
    def of(cls, labels: Any, gold: Any = None) -> Answers:
        """The labels of the judges; gold ones are the known truth."""
        panel = Panel.of(labels, gold).of_judges()
        sizes = np.bincount(panel.item, minlength=panel.items.height)
        # Items with many labels first, so that those with at least so many are always the first ones.
        labelled = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        place = np.full(len(sizes), -1)
        place[labelled] = np.arange(len(labelled))
        order = np.argsort(place[panel.item], kind="stable")
        item, people = place[panel.item[order]], panel.judge[order]
        first = np.append(True, np.diff(item) > 0)
        several = totals(item, people != people[first][item], len(labelled)) > 0
        known = panel.gold[labelled]
        judges, who = named(panel)
        return cls(
            panel=panel,
            items=panel.items[labelled],
            judges=judges,
            item=item,
            judge=who[order],
            grade=panel.grade[order],
            known=known,
            shared=(several | (known >= 0))[item],
        )

    @property
    def grades(self) -> Floats:
        """The grades there are, lowest first."""
        return self.panel.grades

    @property
    def levels(self) -> int:
        """How many grades there are."""
        return self.panel.levels

    @property
    def n_judges(self) -> int:
        """How many judges there are."""
        return self.judges.height


def named(panel: Panel) -> tuple[pl.DataFrame, Ints]:
    """The judges by name, those of a group without one together, and the number of each row's among them."""
    present, place, _ = distinct(panel.judge)
    who = ["group", "judge"] if panel.has_groups else ["judge"]
    judges, number = numbered(panel.judges.select(who)[present])
    return judges, number[place]


#: From the probabilities of the true grades to what judges do.
Learn = Callable[[Floats], Errors]


def fit_em(
    answers: Answers, learn: Learn, *, max_iterations: int = 1000, tolerance: float = 1e-6, accelerate: bool = True
) -> Fit:
    """Guess grades and errors in turn until no probability of a grade moves by more than `tolerance`."""
    return fit_steps(_Here(answers, learn), max_iterations, tolerance, accelerate)


@dataclass(frozen=True, eq=False)
class _Here:
    """Steps on this machine: a state is grades x items."""

    answers: Layout
    learn: Learn

    def first(self) -> Floats:
        return self.answers.shares()

    def step(self, state: Floats) -> tuple[Floats, float]:
        return guess(self.answers, self.learn(state))

    def moved(self, state: Floats, before: Floats) -> float:
        return largest(state - before)

    def stride(self, start: Floats, first: Floats, second: Floats) -> float:
        return stride_of(*squares(start, first, second))

    def beyond(self, start: Floats, first: Floats, second: Floats, stride: float) -> Floats:
        return extrapolated(self.answers, start, first, second, stride)

    def ended(self, state: Floats, steps: int, converged: bool) -> Fit:
        errors = self.learn(state)
        return Fit(state, errors, guess(self.answers, errors)[1], steps, converged)


def extrapolated(answers: Layout, start: Floats, first: Floats, second: Floats, stride: float) -> Floats:
    """Probabilities as far along the way of two steps as the stride says."""
    ahead = first - start
    far = np.maximum(start + 2 * stride * ahead + stride**2 * (second - first - ahead), 0.0)
    return answers.clamped(far / far.sum(axis=0))


def largest(change: Floats) -> float:
    """The largest change, up or down."""
    return float(max(change.max(), -change.min()))


def guess(answers: Layout, errors: Errors) -> tuple[Floats, float]:
    """P(true grade) of each item given what judges do, grades x items, and the log-likelihood of all labels."""
    known = np.flatnonzero(answers.known >= 0)
    if answers.sizes[0] <= MOST_ROUNDS:
        chances = _multiplied(answers, errors)
        total, sure = chances.sum(axis=0), chances[answers.known[known], known]
        if total.min() > TINY and (not len(known) or sure.min() > TINY):
            chances /= total
            total[known] = sure
            return answers.clamped(chances), float(np.log(total).sum())
    chances = _added(answers, errors)
    sure = chances[answers.known[known], known]
    highest = chances.max(axis=0)
    chances -= highest
    np.exp(chances, out=chances)
    total = chances.sum(axis=0)
    chances /= total
    likely = highest + np.log(total)
    likely[known] = sure
    return answers.clamped(chances), float(likely.sum())


def _multiplied(answers: Layout, errors: Errors) -> Floats:
    """P(true grade and all labels) of each item, label by label: quick, but the product of many may come out as 0."""
    chances = np.empty((answers.levels, answers.n_items))
    for chance, prior, said in zip(chances, np.maximum(errors.prior, FLOOR), errors.confusion, strict=True):
        cells = said.ravel()
        np.multiply(cells.take(answers.rounds[0]), prior, out=chance)
        for label in answers.rounds[1:]:
            chance[: len(label)] *= cells.take(label)
    return chances


def _added(answers: Layout, errors: Errors) -> Floats:
    """The logarithm of the same, for any number of labels."""
    chances = np.empty((answers.levels, answers.n_items))
    prior, said = np.log(np.maximum(errors.prior, FLOOR)), np.log(errors.confusion)
    for grade, chance in enumerate(chances):
        np.add(answers.table @ said[grade].ravel(), prior[grade], out=chance)
    return chances


def tally(answers: Layout, posterior: Floats) -> Floats:
    """How often each judge is expected to have given each label to each true grade: grades x labels x judges."""
    counts = np.empty((answers.levels, answers.levels, answers.n_judges))
    for grade in range(answers.levels):
        counts[grade] = (answers.turned @ posterior[grade]).reshape(answers.levels, -1)
    return counts
