"""Step by step until nothing moves: how a fit goes on and when it ends, wherever its parts are worked on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from karat.errors import BadInput
from karat.stats.arrays import Floats

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
