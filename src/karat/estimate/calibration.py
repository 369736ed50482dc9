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

from karat.stats.arrays import Floats, Ints
from karat.stats.random_intercept import GRID, RandomIntercept, with_and_without

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
    _order: Ints  # by content

    def expected(self, worth: Floats) -> Floats:
        """The gain to be expected of each document, from the gain of each grade."""
        return self.probability @ worth

    def draws(self, number: int, rng: np.random.Generator) -> Ints:
        """Places of grades drawn for each document (rows), documents of a query together: judged kindly or not."""
        queries = int(self._query.max()) + 1
        # Numbers are dealt to queries and documents in the order of their content.
        at, noise = np.empty((queries, number)), np.empty((len(self._x), number))
        first = np.unique(self._query[self._order], return_index=True)[1]
        at[self._query[self._order][np.sort(first)]] = rng.random((queries, number))
        noise[self._order] = rng.logistic(size=noise.shape)
        found = np.empty((len(self._x), number), np.int64)
        for part in self._parts:
            query, fit = self._query[part.rows], part.fit
            place = (at[:, :, None] > part.intercepts.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
            score = (self._x[part.rows] @ fit.slopes)[:, None] + fit.sigma * GRID[place][query]
            found[part.rows] = np.searchsorted(fit.cuts, score + noise[part.rows])
        return found


def calibrate(
    grade: Floats, x: Floats, query: Ints, *, ties: Floats | None = None, seed: int = 0, folds: int = FOLDS
) -> Calibration:
    """Learn the grades from features such as the judge's label; `grade` is NaN where there is no gold label.

    >>> rng = np.random.default_rng(2)
    >>> truth = rng.integers(0, 2, 400).astype(float)
    >>> label = np.where(rng.random(400) < 0.9, truth, 1 - truth)
    >>> gold = np.where(rng.random(400) < 0.5, truth, np.nan)
    >>> found = calibrate(gold, label[:, None], np.repeat(np.arange(20), 20))
    >>> [round(float(found.expected(found.grades)[label == one].mean()), 1) for one in (0, 1)]
    [0.1, 0.9]

    The model is one of proportional odds with a random intercept for each query. Features are columns of numbers;
    `ties` are more of them by which documents can be told apart without their names.
    """
    rng = np.random.default_rng(seed)
    order = _by_content(x if ties is None else np.column_stack([x, ties]), query)
    gold = order[~np.isnan(grade[order])]
    grades, code = np.unique(grade[gold], return_inverse=True)
    code = code.astype(np.int64)
    queries = int(query.max()) + 1
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    fold = rng.permutation(len(gold)) % folds
    parts, probability = [], np.empty((len(x), len(grades)))
    left_out = [np.zeros(len(gold), bool), *(fold == number for number in range(folds))]
    fits = with_and_without(code, x[gold], query[gold], grades, left_out[1:])
    for fit, out in zip(fits, left_out, strict=True):
        mine = gold[~out]
        rows = gold[out] if out.any() else np.flatnonzero(np.isnan(grade))
        intercepts = fit.intercepts(code[~out], x[mine], query[mine], queries)
        probability[rows] = fit.probabilities(x[rows], query[rows], intercepts)
        parts.append(_Part(fit, intercepts, rows))
    return Calibration(grades, probability, x, query, tuple(parts), order)


def _by_content(known: Floats, query: Ints) -> Ints:
    """Documents in an order that depends on what is known of them, not on their names or those of their queries.

    What is drawn at random goes by it, so that figures stay the same when documents or queries are renamed. Gold grades
    have no say: which part a document is in must not depend on its own.
    """
    queries = int(query.max()) + 1
    columns = [np.round(column, 9) for column in known.T]
    of_query = [np.bincount(query, column, queries) for column in (np.ones(len(query)), *columns)]
    of_query += [np.bincount(query, column * other, queries) for column in columns[:3] for other in columns]
    place = np.empty(queries, np.int64)
    place[np.lexsort([np.round(column, 6) for column in of_query])] = np.arange(queries)
    return np.lexsort([*columns, place[query]]).astype(np.int64)
