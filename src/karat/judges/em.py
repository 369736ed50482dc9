"""Expectation and maximisation in turn until nothing moves: how error models are fitted to many labels at once.

The true grades are unknown and so are the judges' errors; each tells about the other. From a first guess of the grades
(how the labels are spread) come the judges' errors, from these better guesses of the grades, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels import Panel
from karat.labels.panel import numbered
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints, distinct

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


#: Steps before any short cut is tried, so that the fit ends where plain steps would have ended.
PLAIN_STEPS = 20
#: By how much the log-likelihood may fall in a short cut; smoothed fits end beside its top, so it must be able to.
SLACK = 1.0


@dataclass(frozen=True, eq=False)
class Errors:
    """What judges do: the share of each true grade, and P(label | true grade) of each judge.

    `confusion` is true grades x labels x judges.
    """

    prior: Floats
    confusion: Floats


@dataclass(frozen=True, eq=False)
class Fit:
    """Where a fit ended: P(true grade) of each item (grades x items), the judges' errors, and whether it settled."""

    posterior: Floats
    errors: Errors
    log_likelihood: float
    iterations: int
    converged: bool


#: Where a fit stands: the probabilities of the true grades, here or spread over a cluster.
State = TypeVar("State")


class Steps(Protocol[State]):
    """How a fit goes on."""

    def first(self) -> State:
        """Where it begins."""
        ...

    def step(self, state: State) -> tuple[State, float]:
        """The next state, and the log-likelihood of the errors that lead to it."""
        ...

    def moved(self, state: State, before: State) -> float:
        """The largest change of a probability."""
        ...

    def stride(self, start: State, first: State, second: State) -> float:
        """How much further than these two steps a third may go: the length of the first by how much they bend."""
        ...

    def beyond(self, start: State, first: State, second: State, stride: float) -> State:
        """The state so far along the way of these two steps."""
        ...

    def ended(self, state: State, steps: int, converged: bool) -> Fit:
        """The fit that ends here."""
        ...


def fit_steps(way: Steps[State], max_iterations: int, tolerance: float, accelerate: bool) -> Fit:
    """Step by step until nothing moves.

    Plain steps shrink slowly on real labels (the last hundred documents of a crowd take a thousand steps). After
    the first of them, two steps show the direction and a third goes further along it; what lies there is kept unless
    it is clearly less likely than the second step.

    Reference: Varadhan and Roland, Simple and Globally Convergent Methods for Accelerating the Convergence of Any EM
    Algorithm (Scandinavian Journal of Statistics 2008), scheme S3.
    """
    check(max_iterations=max_iterations, tolerance=tolerance)
    state, steps, moved = way.first(), 0, np.inf
    while steps < max_iterations and moved > tolerance:
        start = state
        state, _ = way.step(start)
        steps += 1
        moved = way.moved(state, start)
        if moved <= tolerance or not accelerate or steps < PLAIN_STEPS or steps + 2 > max_iterations:
            continue
        first = state
        state, reached = way.step(first)
        steps += 1
        moved = way.moved(state, first)
        stride = way.stride(start, first, state)
        if stride <= 1 or moved <= tolerance:
            continue
        beyond, gained = way.step(way.beyond(start, first, state, stride))
        steps += 1
        if gained >= reached - SLACK:
            # How far it moved is known only after the next plain step.
            state, moved = beyond, np.inf
    return way.ended(state, steps, moved <= tolerance)


def squares(start: Floats, first: Floats, second: Floats) -> tuple[float, float]:
    """The squared length of the first step, and of how the second differs from it."""
    ahead = first - start
    return float(np.square(ahead).sum()), float(np.square(second - first - ahead).sum())


def stride_of(ahead: float, bend: float) -> float:
    """How far to go, from these squares."""
    return float(np.sqrt(ahead / bend)) if bend > 0 else 1.0


def check(*, max_iterations: int = 1, tolerance: float = 1.0, smoothing: float = 0.0) -> None:
    """Whether these settings make sense."""
    if not isinstance(max_iterations, int) or max_iterations < 1:
        raise BadInput.at("max_iterations", expected="a whole number of at least 1", found=str(max_iterations))
    if not 0 <= tolerance < np.inf:
        raise BadInput.at("the tolerance", expected="a small number such as 1e-6", found=str(tolerance))
    if not 0 <= smoothing < np.inf:
        raise BadInput.at("the smoothing", expected="a number of labels, 0 or more", found=str(smoothing))


class Layout:
    """Labels that stand item by item, most labelled items first: `judge` gave `grade` to `item`, all by number."""

    item: Ints
    judge: Ints
    grade: Ints
    #: The number of each item's true grade, -1 where it is not known.
    known: Ints

    @property
    def levels(self) -> int:
        """How many grades there are."""
        raise NotImplementedError

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.known)

    @property
    def n_judges(self) -> int:
        """How many judges there are."""
        raise NotImplementedError

    @cached_property
    def per_item(self) -> Floats:
        """How many labels of each grade each item has: grades x items."""
        cells = self.grade * self.n_items + self.item
        return totals(cells, np.ones(len(cells)), self.levels * self.n_items).reshape(self.levels, -1)

    @cached_property
    def cell(self) -> Ints:
        """The number of each label's grade and judge together."""
        return self.grade * self.n_judges + self.judge

    @cached_property
    def table(self) -> csr_matrix[Any]:
        """Items x cells as a sparse matrix of ones."""
        from scipy.sparse import csr_matrix

        ends = np.append(0, np.cumsum(self.sizes)).astype(np.int32)
        shape = (self.n_items, self.levels * self.n_judges)
        return csr_matrix((np.ones(len(self.cell)), self.cell.astype(np.int32), ends), shape=shape)

    @cached_property
    def turned(self) -> csr_matrix[Any]:
        """Cells x items."""
        return self.table.T.tocsr()

    @cached_property
    def sizes(self) -> Ints:
        """How many labels each item has; the most first."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def rounds(self) -> list[Ints]:
        """The cells of the first label of each item, then of the second of those that have two, and so on."""
        starts = np.cumsum(self.sizes) - self.sizes
        more = [np.count_nonzero(self.sizes > done) for done in range(int(self.sizes[0]))]
        return [self.cell[starts[:items] + done] for done, items in enumerate(more)]

    def shares(self) -> Floats:
        """How the labels of each item are spread, grades x items; all on the true grade where it is known."""
        return self.clamped(self.per_item / self.per_item.sum(axis=0))

    def clamped(self, posterior: Floats) -> Floats:
        """The same probabilities, certain where the grade is known; changes them in place."""
        known = np.flatnonzero(self.known >= 0)
        posterior[:, known] = 0.0
        posterior[self.known[known], known] = 1.0
        return posterior


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
