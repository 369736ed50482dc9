"""What a judge's labels are worth in gold labels: how many fewer make an interval as narrow.

With calibrated labels, the interval of a score depends on what is left of the gold grades once the judge has been
heard (METHODS: gold less prediction, cross-fitted). Without a judge it depends on what is left once only the query is
known. The ratio of the two variances is how many gold labels one gold label with the judge is worth.

Reference: Angelopoulos et al., PPI++ (2023); Chaganty, Mussmann and Liang, The Price of Debiasing Automatic Metrics
(ACL 2018), who call it data efficiency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.correction.calibration import FEWEST, calibrate
from karat.errors import Undefined
from karat.records.table import count
from karat.stats import FEWEST as FEWEST_QUERIES
from karat.stats import totals
from karat.stats.arrays import Floats, Ints


@dataclass(frozen=True)
class Worth:
    """`times` gold labels alone tell as much as one with the judge, with its interval over queries.

    `alone` and `left` are the standard deviations of a gold grade without and with the judge.
    """

    times: float
    low: float
    high: float
    alone: float
    left: float
    n: int
    n_queries: int


def labels_worth(
    grade: Floats, x: Floats, query: Ints, weight: Floats | None = None, *, level: float = 0.95, seed: int = 0
) -> Worth:
    """What the features `x` of gold documents, such as a judge's label, are worth in gold labels.

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 400).astype(float)
    >>> label = np.where(rng.random(400) < 0.9, truth, 1 - truth)
    >>> round(labels_worth(truth, label[:, None], np.repeat(np.arange(20), 20)).times, 1)
    2.7

    (0.25 / 0.09 for a judge who is right nine times of ten.) Grades are predicted by the model of `calibrate`, each
    from the others. The interval is for other queries, by how the queries' parts of the two sums of squares go
    together; a judge who guesses has about 1. Where less is left than one mistake by one grade, nobody knows how much
    more the judge may be worth: the interval has no end, and begins where three mistakes might have been missed.
    """
    from scipy.special import stdtrit

    if len(grade) < FEWEST or len(np.unique(grade)) < 2:
        found = f"{count(len(grade), 'gold label')}" if len(grade) < FEWEST else "gold labels all of one grade"
        raise Undefined(f"{found}: at least {FEWEST} of two grades tell what the judge's labels are worth")
    weight = np.ones(len(grade)) if weight is None else weight
    numbers = np.unique(query, return_inverse=True)[1].astype(np.int64)
    queries = int(numbers.max()) + 1
    alone = _left(grade, np.zeros((len(grade), 1)), numbers, seed, ties=x)
    left = _left(grade, x, numbers, seed, ties=x)
    sums = np.stack([totals(numbers, weight * off**2, queries) for off in (alone, left)])
    whole = sums.sum(axis=1)
    one = weight.sum() / len(grade)
    if whole[1] < one:
        # Not one mistake by a grade among them all: up to three would have been missed with a chance of 5 %.
        low, high, whole[1] = float(whole[0] / (3 * one)), np.inf, one
        sd = np.sqrt(whole / weight.sum())
        return Worth(float(whole[0] / one), low, high, float(sd[0]), float(sd[1]), len(grade), queries)
    times = float(whole[0] / whole[1])
    low = high = np.nan
    if queries >= FEWEST_QUERIES:
        share = sums / whole[:, None]
        moved = share[0] - share[1]
        spread = float(np.sqrt(queries / (queries - 1) * (moved**2).sum()))
        reach = float(stdtrit(queries - 1, (1 + level) / 2)) * spread
        low, high = times * np.exp(-reach), times * np.exp(reach)
    sd = np.sqrt(whole / weight.sum())
    return Worth(times, float(low), float(high), float(sd[0]), float(sd[1]), len(grade), queries)


def _left(grade: Floats, x: Floats, query: Ints, seed: int, ties: Floats) -> Floats:
    """What is left of each gold grade once the others have taught what `x` is worth."""
    found = calibrate(grade, x, query, ties=ties, seed=seed)
    return grade - found.expected(found.grades)
