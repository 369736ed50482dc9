"""Ordered grades from features: the proportional odds model, which knows that good lies between fair and excellent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.errors import NotConverged
from karat.stats.arrays import Floats

#: Grades whose cut points come closer than this are one grade to the fit, whose gradient would then overflow.
CLOSEST = 1e-9


@dataclass(frozen=True, eq=False)
class ProportionalOdds:
    """A fitted model: P(grade <= k) = 1 / (1 + exp(slopes . x - cut_k))."""

    grades: Floats
    cuts: Floats
    slopes: Floats

    def probabilities(self, x: npt.ArrayLike) -> Floats:
        """The probability of each grade (columns) for each row of features."""
        from scipy.special import expit

        score = np.asarray(x, dtype=np.float64) @ self.slopes
        below = expit(self.cuts - score[:, None])
        whole = np.column_stack([np.zeros(len(score)), below, np.ones(len(score))])
        return np.diff(whole, axis=1)


def proportional_odds(y: npt.ArrayLike, x: npt.ArrayLike, *, ridge: float = 0.0) -> ProportionalOdds:
    """Fit ordered grades on features by maximal likelihood, slopes held down by half `ridge` times their squares.

    >>> fit = proportional_odds([0, 0, 1, 1, 2, 2, 1, 0], [[0], [1], [1], [2], [3], [2], [0], [2]])
    >>> fit.probabilities([[0.0], [3.0]]).round(2).tolist()
    [[0.69, 0.25, 0.05], [0.06, 0.29, 0.65]]

    One slope for a feature serves all cut points, so it takes fewer labels than a multinomial model; where a feature
    does something else at the low end than at the high end, that one is better. Grades that never come are no grades
    of the fit. `NotConverged` where features separate the grades without a ridge.

    Reference: McCullagh, Regression Models for Ordinal Data (JRSS B 1980).
    """
    from scipy.optimize import minimize
    from scipy.special import expit, log_expit

    columns = np.asarray(x, dtype=np.float64)
    grades, code = np.unique(np.asarray(y, dtype=np.float64), return_inverse=True)
    steps = len(grades) - 1
    if not steps:
        return ProportionalOdds(grades, np.zeros(0), np.zeros(columns.shape[1]))

    def cuts_of(parameters: Floats) -> Floats:
        # The cuts rise, whatever the parameters are: the first, then the logarithms of the steps between them.
        return np.cumsum(np.append(parameters[0], np.exp(parameters[1:steps]) + CLOSEST))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        slopes, cuts = parameters[steps:], cuts_of(parameters)
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        score = columns @ slopes
        low, high = ends[code] - score, ends[code + 1] - score
        shrink = np.exp(low - high)
        # log(F(high) - F(low)), written so that no two near numbers are subtracted.
        value = log_expit(high) + log_expit(-low) + np.log1p(-shrink)
        rest = shrink / (1 - shrink)
        by_high, by_low = expit(-high) + rest, -expit(low) - rest
        at_cut = np.bincount(code, by_high, steps + 1)[:-1] + np.bincount(code, by_low, steps + 1)[1:]
        after = np.cumsum(at_cut[::-1])[::-1]  # a step moves its own cut and all above
        gradient = np.concatenate(
            [after[:1], after[1:] * np.exp(parameters[1:steps]), -columns.T @ (by_high + by_low) - ridge * slopes]
        )
        return -float(value.sum()) + ridge / 2 * float(slopes @ slopes), -gradient

    share = (np.cumsum(np.bincount(code))[:-1] / len(code)).clip(1e-6, 1 - 1e-6)
    start = np.log(share / (1 - share))
    first = np.concatenate([start[:1], np.log(np.diff(start)), np.zeros(columns.shape[1])])
    with np.errstate(over="ignore", invalid="ignore"):
        found = minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10_000})
    flat = np.abs(found.jac).max() < 1e-3 * max(1, len(code))
    if not (flat and np.isfinite(found.fun) and np.abs(found.x[steps:]).max(initial=0) < 1e3):
        raise NotConverged("the proportional odds model did not settle: the features may separate the grades")
    return ProportionalOdds(grades, cuts_of(found.x), found.x[steps:])
