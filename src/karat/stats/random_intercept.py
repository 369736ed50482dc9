"""Ordered grades from features, with a random intercept for each group: some queries are judged more kindly.

P(grade >= k) = 1 / (1 + exp(cut_k - slopes . x - sigma z)), with one z for each group, drawn from a standard normal
distribution. The intercepts are integrated out on a grid, so that a group with few grades leans on the others and one
with many speaks for itself (empirical Bayes).

Reference: McCullagh, Regression Models for Ordinal Data (JRSS B 1980); Hedeker and Gibbons, A Random-Effects Ordinal
Regression Model (Biometrics 1994).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.stats.arrays import Floats, Ints

#: The grid on which the groups' intercepts lie, in standard deviations, and how likely each is.
GRID = np.linspace(-4.0, 4.0, 33)
LOG_PRIOR = -0.5 * GRID**2 - np.log(np.exp(-0.5 * GRID**2).sum())
#: Slopes and steps between cuts are held this loosely (standard deviations of a normal prior), so that grades which a
#: feature separates, or which nobody gave, still have a fit.
LOOSE = 3.0
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
        each = np.moveaxis(self._at((x @ self.slopes)[:, None] + self.sigma * GRID), 2, 0)
        seen = np.log(np.maximum(each[code, np.arange(len(code))], 1e-300))
        log = np.tile(LOG_PRIOR, (groups, 1))
        np.add.at(log, group, seen)
        log -= log.max(axis=1, keepdims=True)
        likely = np.exp(log)
        return np.asarray(likely / likely.sum(axis=1, keepdims=True), dtype=np.float64)

    def probabilities(self, x: Floats, group: Ints, intercepts: Floats) -> Floats:
        """The probability of each grade (columns) for each row of features, over what its group's intercept may be."""
        found = np.zeros((len(x), len(self.grades)))
        score = x @ self.slopes
        for place, intercept in enumerate(self.sigma * GRID):
            found += intercepts[group, place][:, None] * self._at(score + intercept)
        return found

    def _at(self, score: Floats) -> Floats:
        """The probability of each grade, as a last dimension, at these values of the linear predictor."""
        from scipy.special import expit

        below = expit(self.cuts - score[..., None])
        ends = np.zeros((*score.shape, 1))
        return np.diff(np.concatenate([ends, below, ends + 1.0], axis=-1), axis=-1)


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
    from scipy.optimize import minimize

    steps, features = len(grades) - 1, x.shape[1]
    if steps < 1 or not len(code):
        return RandomIntercept(grades, np.zeros(steps), np.zeros(features), 0.0)
    order = np.argsort(group, kind="stable")
    likelihood = _Likelihood(code[order], x[order], group[order], steps)
    share = (np.cumsum(np.bincount(code, minlength=steps + 1))[:-1] + 0.5) / (len(code) + 1.0)
    logit = np.log(share / (1 - share))
    start = np.concatenate([logit[:1], np.log(np.maximum(np.diff(logit), 0.05)), np.zeros(features), [-1.0]])
    bounds = [(-30, 30), *[(-12, 5)] * (steps - 1), *[(-30, 30)] * features, (LEAST, MOST)]
    options = {"maxiter": 200, "ftol": 1e-7, "gtol": 1e-3}
    found = minimize(likelihood.loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    cuts, slopes, sigma = likelihood.split(found)
    return RandomIntercept(grades, cuts, slopes, sigma)


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

    def split(self, parameters: Floats) -> tuple[Floats, Floats, float]:
        """The cuts, which rise whatever the parameters are, the slopes, and the standard deviation."""
        cuts = np.cumsum(np.append(parameters[0], np.exp(parameters[1 : self.steps]) + 1e-6))
        return cuts, parameters[self.steps : -1], float(np.exp(parameters[-1]))

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        cuts, slopes, sigma = self.split(parameters)
        number, first = self.groups
        ends = np.concatenate([[-1e3], cuts, [1e3]])
        score = (self.x @ slopes)[:, None] + sigma * GRID
        below, above = ends[self.code], ends[self.code + 1]
        low, high = below[:, None] - score, above[:, None] - score
        shrink = np.exp(below - above)
        # log(F(high) - F(low)) = log F(high) + log F(-low) + log(1 - shrink): no two near numbers are subtracted.
        at_low, at_high = np.exp(-np.abs(low)), np.exp(-np.abs(high))
        value = np.minimum(high, 0.0) + np.minimum(-low, 0.0) - np.log((1.0 + at_low) * (1.0 + at_high))
        value += np.log1p(-shrink)[:, None]
        log = LOG_PRIOR + np.add.reduceat(value, first, axis=0)
        most = log.max(axis=1, keepdims=True)
        likely = np.exp(log - most)
        whole = likely.sum(axis=1, keepdims=True)
        weight = (likely / whole)[number]
        rest = (shrink / (1 - shrink))[:, None]
        by_high = weight * (np.where(high > 0, at_high, 1.0) / (1.0 + at_high) + rest)
        by_low = -weight * (np.where(low < 0, at_low, 1.0) / (1.0 + at_low) + rest)
        each_high, each_low = by_high.sum(axis=1), by_low.sum(axis=1)
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
                [-((by_high + by_low) * GRID).sum() * sigma],
            ]
        )
        held = np.concatenate([[0.0], parameters[1:-1], [0.0]]) / LOOSE**2
        total = float((most[:, 0] + np.log(whole[:, 0])).sum())
        return -total + 0.5 * float(held @ parameters), held - gradient
