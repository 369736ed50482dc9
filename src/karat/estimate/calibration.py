"""What the gold labels teach about the judge: the grade to be expected of every document, by a calibrated model.

A judge's label is evidence about the grade, not the grade. The gold labels show how the two go together, and how kindly
each query was judged; every document then has a probability for each grade. No document is predicted from its own gold
label (cross-fitting): only then is what is left of it, gold less prediction, an honest sample of the judge's errors.

Reference: Angelopoulos et al., Prediction-Powered Inference (Science 2023); Zrnic and Candes, Cross-Prediction-Powered
Inference (PNAS 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.stats.random_intercept import GRID, RandomIntercept, random_intercept

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Each gold label is predicted from the others of so many parts, less its own.
FOLDS = 5
#: From fewer gold labels nothing is learned about the judge: its labels are taken as they are.
FEWEST = 20


@dataclass(frozen=True, eq=False)
class _Part:
    """A model and what its gold labels say of the queries' intercepts; the rows it is to predict."""

    fit: RandomIntercept
    intercepts: Floats
    rows: Ints


@dataclass(frozen=True, eq=False)
class Calibration:
    """The probability of each of the `grades` for every document, as the gold labels of others have it."""

    grades: Floats
    probability: Floats  # documents x grades
    _x: Floats
    _query: Ints
    _parts: tuple[_Part, ...]

    def expected(self, worth: Floats) -> Floats:
        """The gain to be expected of each document, from the gain of each grade."""
        return self.probability @ worth

    def draws(self, number: int, rng: np.random.Generator) -> Ints:
        """Places of grades drawn for each document (rows), documents of a query together: judged kindly or not."""
        queries = int(self._query.max()) + 1
        at = rng.random((queries, number))
        found = np.empty((len(self._x), number), np.int64)
        for part in self._parts:
            query, fit = self._query[part.rows], part.fit
            place = (at[:, :, None] > part.intercepts.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
            score = (self._x[part.rows] @ fit.slopes)[:, None] + fit.sigma * GRID[place][query]
            found[part.rows] = np.searchsorted(fit.cuts, score + rng.logistic(size=score.shape))
        return found


def calibrate(grade: Floats, x: Floats, query: Ints, *, seed: int = 0, folds: int = FOLDS) -> Calibration:
    """Learn the grades from features such as the judge's label; `grade` is NaN where there is no gold label.

    >>> rng = np.random.default_rng(2)
    >>> truth = rng.integers(0, 2, 400).astype(float)
    >>> label = np.where(rng.random(400) < 0.9, truth, 1 - truth)
    >>> gold = np.where(rng.random(400) < 0.5, truth, np.nan)
    >>> found = calibrate(gold, label[:, None], np.repeat(np.arange(20), 20))
    >>> [round(float(found.expected(found.grades)[label == one].mean()), 1) for one in (0, 1)]
    [0.1, 0.9]

    The model is one of proportional odds with a random intercept for each query. Features are columns of numbers.
    """
    rng = np.random.default_rng(seed)
    gold = np.flatnonzero(~np.isnan(grade))
    grades, code = np.unique(grade[gold], return_inverse=True)
    code = code.astype(np.int64)
    queries = int(query.max()) + 1
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    fold = rng.permutation(len(gold)) % folds
    parts, probability = [], np.empty((len(x), len(grades)))
    for number in range(-1, folds):
        kept = fold != number
        mine = gold[kept]
        fit = random_intercept(code[kept], x[mine], query[mine], grades)
        rows = np.flatnonzero(np.isnan(grade)) if number < 0 else gold[~kept]
        intercepts = fit.intercepts(code[kept], x[mine], query[mine], queries)
        probability[rows] = fit.probabilities(x[rows], query[rows], intercepts)
        parts.append(_Part(fit, intercepts, rows))
    return Calibration(grades, probability, x, query, tuple(parts))
