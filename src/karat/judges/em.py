"""Expectation and maximisation in turn until nothing moves: how error models are fitted to many labels at once.

The true grades are unknown and so are the judges' errors; each tells about the other. From a first guess of the grades
(how the labels are spread) come the judges' errors, from these better guesses of the grades, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karat.errors import BadInput
from karat.judges.answers import Answers, Floats

#: An expected count is never below this, so that no logarithm is infinite.
FLOOR = 1e-10
#: A probability below this may be a rounded 0.
TINY = 1e-290
#: Items with more labels than this are worked on in logarithms.
MOST_ROUNDS = 64
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


#: From the probabilities of the true grades to what judges do.
Learn = Callable[[Floats], Errors]


def settle(answers: Answers, learn: Learn, *, max_iterations: int, tolerance: float, accelerate: bool) -> Fit:
    """Guess grades and errors in turn until no probability of a grade moves by more than `tolerance`.

    Plain steps shrink slowly on real labels (the last hundred documents of a crowd take a thousand steps). After
    the first of them, two steps show the direction and a third goes further along it; what lies there is kept unless
    it is clearly less likely than the second step.

    Reference: Varadhan and Roland, Simple and Globally Convergent Methods for Accelerating the Convergence of Any EM
    Algorithm (Scandinavian Journal of Statistics 2008), scheme S3.
    """
    check(max_iterations=max_iterations, tolerance=tolerance)
    state, steps, moved = answers.shares(), 0, np.inf

    def step(posterior: Floats) -> tuple[Floats, float]:
        nonlocal steps
        steps += 1
        return guess(answers, learn(posterior))

    while steps < max_iterations and moved > tolerance:
        start = state
        state, _ = step(start)
        ahead = state - start
        moved = largest(ahead)
        if moved <= tolerance or not accelerate or steps < PLAIN_STEPS or steps + 2 > max_iterations:
            continue
        first = state
        state, reached = step(first)
        bend = state - first
        moved = largest(bend)
        bend -= ahead
        curved = float(np.square(bend).sum())
        stride = np.sqrt(float(np.square(ahead).sum()) / curved) if curved > 0 else 1.0
        if stride <= 1 or moved <= tolerance:
            continue
        far = np.maximum(start + 2 * stride * ahead + stride**2 * bend, 0.0)
        beyond, gained = step(answers.clamped(far / far.sum(axis=0)))
        if gained >= reached - SLACK:
            # How far it moved is known only after the next plain step.
            state, moved = beyond, np.inf
    errors = learn(state)
    return Fit(state, errors, guess(answers, errors)[1], steps, moved <= tolerance)


def largest(change: Floats) -> float:
    """The largest change, up or down."""
    return float(max(change.max(), -change.min()))


def guess(answers: Answers, errors: Errors) -> tuple[Floats, float]:
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


def _multiplied(answers: Answers, errors: Errors) -> Floats:
    """P(true grade and all labels) of each item, label by label: quick, but the product of many may come out as 0."""
    chances = np.empty((answers.levels, answers.items.height))
    for chance, prior, said in zip(chances, np.maximum(errors.prior, FLOOR), errors.confusion, strict=True):
        cells = said.ravel()
        np.multiply(cells.take(answers.rounds[0]), prior, out=chance)
        for label in answers.rounds[1:]:
            chance[: len(label)] *= cells.take(label)
    return chances


def _added(answers: Answers, errors: Errors) -> Floats:
    """The logarithm of the same, for any number of labels."""
    chances = np.empty((answers.levels, answers.items.height))
    prior, said = np.log(np.maximum(errors.prior, FLOOR)), np.log(errors.confusion)
    for grade, chance in enumerate(chances):
        np.add(answers.table @ said[grade].ravel(), prior[grade], out=chance)
    return chances


def tally(answers: Answers, posterior: Floats) -> Floats:
    """How often each judge is expected to have given each label to each true grade: grades x labels x judges."""
    counts = np.empty((answers.levels, answers.levels, answers.judges.height))
    for grade in range(answers.levels):
        counts[grade] = (answers.turned @ posterior[grade]).reshape(answers.levels, -1)
    return counts


def check(*, max_iterations: int = 1, tolerance: float = 1.0, smoothing: float = 0.0) -> None:
    """Whether these settings make sense."""
    if not isinstance(max_iterations, int) or max_iterations < 1:
        raise BadInput.at("max_iterations", expected="a whole number of at least 1", found=str(max_iterations))
    if not 0 <= tolerance < np.inf:
        raise BadInput.at("the tolerance", expected="a small number such as 1e-6", found=str(tolerance))
    if not 0 <= smoothing < np.inf:
        raise BadInput.at("the smoothing", expected="a number of labels, 0 or more", found=str(smoothing))
