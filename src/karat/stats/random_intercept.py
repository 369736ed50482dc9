"""Ordered grades from features, with a random intercept for each group: some queries are judged more kindly.

P(grade >= k) = 1 / (1 + exp(cut_k - slopes . x - sigma z)), with one z for each group, drawn from a standard normal
distribution. The intercepts are integrated out on a grid, so that a group with few grades leans on the others and one
with many speaks for itself (empirical Bayes).

Reference: McCullagh, Regression Models for Ordinal Data (JRSS B 1980); Hedeker and Gibbons, A Random-Effects Ordinal
Regression Model (Biometrics 1994).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.stats.arrays import Bools, Floats, Ints

#: The grid on which the groups' intercepts lie, in standard deviations, and how likely each is.
GRID = np.linspace(-4.0, 4.0, 21)
LOG_PRIOR = -0.5 * GRID**2 - np.log(np.exp(-0.5 * GRID**2).sum())
#: Slopes and steps between cuts are held this loosely (standard deviations of a normal prior), so that grades which a
#: feature separates, or which nobody gave, still have a fit.
LOOSE = 3.0
#: A minimum that is near is reached in fewer steps than these, the last of which changes no parameter by more.
MANY_STEPS, LAST_DIGITS = 30, 1e-9
#: No score is farther from 0: odds are numbers still.
FARTHEST = 300.0
#: The least and the most that groups may differ (the logarithm of the standard deviation of their intercepts).
LEAST, MOST = np.log(0.05), np.log(4.0)


@dataclass(frozen=True, eq=False)
class RandomIntercept:
    """A fitted model: `cuts` between the grades, `slopes` of the features and `sigma` of the groups' intercepts."""

    grades: Floats
    cuts: Floats
    slopes: Floats
    sigma: float

    def intercepts(self, code: Ints, x: Floats, group: Ints, groups: int) -> Floats:
        """How likely each intercept of the grid is for each group, after these grades (`code`: their places)."""
        log = np.tile(LOG_PRIOR, (groups, 1))
        if len(code):
            order = np.argsort(group, kind="stable")
            seen, first = np.unique(group[order], return_index=True)
            low, high, gap = _tails(self.cuts, (x @ self.slopes)[order], self.sigma, code[order])
            log[seen] += np.add.reduceat(gap[:, None] - np.log((1.0 + low) * (1.0 + high)), first, axis=0)
        likely = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True), dtype=np.float64)

    def probabilities(self, x: Floats, group: Ints, intercepts: Floats) -> Floats:
        """The probability of each grade (columns) for each row of features, over what its group's intercept may be."""
        likely, odds = intercepts[group], np.exp(self.sigma * GRID)
        ends = np.zeros((len(x), len(self.grades) + 1))
        ends[:, -1] = 1.0
        for place, above in enumerate(np.exp((x @ self.slopes)[:, None] - self.cuts).T):
            ends[:, place + 1] = (likely / (1.0 + above[:, None] * odds)).sum(axis=1)
        return np.diff(ends, axis=1)


def _tails(cuts: Floats, score: Floats, sigma: float, code: Ints) -> tuple[Floats, Floats, Floats]:
    """The odds of a lower and of a higher grade than each row's, at each intercept, and what they lack.

    The logarithm of a grade's probability is the last less log(1 + odds lower)(1 + odds higher): no two near numbers
    are subtracted. The score and the intercept add up, so that their exponentials are multiplied.
    """
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    odds, score = np.exp(sigma * GRID), np.clip(score, -FARTHEST, FARTHEST)
    low = np.exp(ends[code] - score)[:, None] / odds
    high = np.exp(score - ends[code + 1])[:, None] * odds
    return low, high, np.log1p(-np.exp(ends[code] - ends[code + 1]))


def random_intercept(code: Ints, x: Floats, group: Ints, grades: Floats) -> RandomIntercept:
    """Fit grades (their places in `grades`) on features, rows of a group sharing an intercept.

    >>> rng = np.random.default_rng(1)
    >>> group = np.repeat(np.arange(200), 10)
    >>> x = rng.normal(size=(2000, 1))
    >>> score = 2.0 * x[:, 0] + rng.normal(size=200)[group] + rng.logistic(size=2000)
    >>> fit = random_intercept((score > 0).astype(int), x, group, np.array([0.0, 1.0]))
    >>> fit.slopes.round(1).tolist(), round(fit.sigma, 1)
    ([1.8], 0.9)
    """
    return with_and_without(code, x, group, grades, [])[0]


def with_and_without(
    code: Ints, x: Floats, group: Ints, grades: Floats, parts: Sequence[Bools]
) -> list[RandomIntercept]:
    """The fit to all rows, then the fit to all rows but those of each part.

    The latter start from the former, and go on until nothing is left of where they started: a part's own grades play no
    role in the fit without it.
    """
    steps, features = len(grades) - 1, x.shape[1]
    if steps < 1 or not len(code):
        return [RandomIntercept(grades, np.zeros(steps), np.zeros(features), 0.0)] * (len(parts) + 1)
    order = np.argsort(group, kind="stable")
    whole = _Likelihood(code[order], x[order], group[order], steps)
    near = whole.highest()
    inverse = whole.inverse_curvature(near) if parts else None
    found = [near]
    for part in parts:
        kept = ~part[order]
        rest = _Likelihood(whole.code[kept], whole.x[kept], whole.group[kept], steps)
        fit = None
        if inverse is not None and kept.any():
            fit = rest.nearest(near, inverse * (len(kept) / int(kept.sum())))
        found.append(rest.highest() if fit is None else fit)
    return [RandomIntercept(grades, *whole.split(one)) for one in found]


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The penalised likelihood of the grades, intercepts integrated out, and its gradient."""

    code: Ints
    x: Floats
    group: Ints  # rows of a group stand together
    steps: int

    @cached_property
    def groups(self) -> tuple[Ints, Ints]:
        """The number of each row's group, and each group's first row."""
        _, first, number = np.unique(self.group, return_index=True, return_inverse=True)
        return number.astype(np.int64), first.astype(np.int64)

    def start(self) -> Floats:
        """Where to start from: the shares of the grades, features that say nothing, groups that differ a little."""
        share = (np.cumsum(np.bincount(self.code, minlength=self.steps + 1))[:-1] + 0.5) / (len(self.code) + 1.0)
        logit = np.log(share / (1 - share))
        steps = np.log(np.maximum(np.diff(logit), 0.05))
        return np.concatenate([logit[:1], steps, np.zeros(self.x.shape[1]), [-1.0]])

    @property
    def bounds(self) -> Floats:
        """The least and the most that each parameter may be."""
        steps, features = [(-12, 5)] * (self.steps - 1), [(-30, 30)] * self.x.shape[1]
        return np.array([(-30, 30), *steps, *features, (LEAST, MOST)], dtype=np.float64)

    def highest(self) -> Floats:
        """The parameters of the highest likelihood."""
        from scipy.optimize import minimize

        if not len(self.code):
            return self.start()
        options = {"maxiter": 200, "ftol": 1e-7, "gtol": 1e-3}
        found = minimize(self.loss, self.start(), jac=True, method="L-BFGS-B", bounds=self.bounds, options=options)
        return np.asarray(found.x, dtype=np.float64)

    def inverse_curvature(self, at: Floats) -> Floats | None:
        """The inverse of the loss's second derivatives, by differences of its gradient; none where it is no minimum."""
        here, small = self.loss(at)[1], 1e-5
        rows = [(self.loss(at + small * one)[1] - here) / small for one in np.eye(len(at))]
        curvature = (np.array(rows) + np.array(rows).T) / 2
        if not np.isfinite(curvature).all() or np.linalg.eigvalsh(curvature)[0] < 1e-6:
            return None
        return np.asarray(np.linalg.inv(curvature), dtype=np.float64)

    def nearest(self, start: Floats, inverse: Floats) -> Floats | None:
        """The nearest minimum to the last digits, by Broyden's method (1965); none where it does not get there."""
        low, high = self.bounds.T
        at, gradient = start, self.loss(start)[1]
        for _ in range(MANY_STEPS):
            step = -inverse @ gradient
            at = at + step
            if not ((low < at) & (at < high)).all():
                return None
            if np.abs(step).max() < LAST_DIGITS:
                return at
            before, gradient = gradient, self.loss(at)[1]
            turned = inverse @ (gradient - before)
            along = float(step @ turned)
            if not np.isfinite(along) or abs(along) < 1e-300:
                return None
            inverse = inverse + np.outer(step - turned, step @ inverse) / along
        return None

    def split(self, parameters: Floats) -> tuple[Floats, Floats, float]:
        """The cuts, which rise whatever the parameters are, the slopes, and the standard deviation."""
        cuts = np.cumsum(np.append(parameters[0], np.exp(parameters[1 : self.steps]) + 1e-6))
        return cuts, parameters[self.steps : -1], float(np.exp(parameters[-1]))

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        cuts, slopes, sigma = self.split(parameters)
        number, first = self.groups
        low, high, gap = _tails(cuts, self.x @ slopes, sigma, self.code)
        at_low, at_high = 1.0 + low, 1.0 + high
        log = LOG_PRIOR + np.add.reduceat(gap[:, None] - np.log(at_low * at_high), first, axis=0)
        most = log.max(axis=1, keepdims=True)
        likely = np.exp(log - most)
        whole = likely.sum(axis=1, keepdims=True)
        weight = (likely / whole)[number]
        rest = np.expm1(-gap)
        up, down = weight * (high / at_high), weight * (low / at_low)
        each_high, each_low = up.sum(axis=1) + rest, -down.sum(axis=1) - rest
        at_cut = (
            np.bincount(self.code, each_high, self.steps + 1)[:-1]
            + np.bincount(self.code, each_low, self.steps + 1)[1:]
        )
        after = np.cumsum(at_cut[::-1])[::-1]  # a step moves its own cut and all above
        by_score = -(each_high + each_low)
        gradient = np.concatenate(
            [
                after[:1],
                after[1:] * np.exp(parameters[1 : self.steps]),
                self.x.T @ by_score,
                [float((down - up).sum(axis=0) @ GRID) * sigma],
            ]
        )
        held = np.concatenate([[0.0], parameters[1:-1], [0.0]]) / LOOSE**2
        total = float((most[:, 0] + np.log(whole[:, 0])).sum())
        return -total + 0.5 * float(held @ parameters), held - gradient
