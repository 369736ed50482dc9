"""How far two systems' scores differ from query to query, and what a missing gold label adds: what a plan rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.comparison.matrix import Matrix
from karat.errors import BadInput, Undefined
from karat.estimate import Scorer
from karat.estimate.gold_pool import pool_for
from karat.estimate.gold_sample import Gold
from karat.estimate.pool import Pool
from karat.measures import Profile, as_measures, profile_named
from karat.records import Judgments, LabelsLike, RunsLike
from karat.records.base import count
from karat.records.runs import several, together
from karat.stats import totals

Floats = npt.NDArray[np.float64]

#: From fewer queries than this a standard deviation is a guess, and gets no interval.
FEW = 10
#: From fewer gold labels than this the judge's errors are a guess.
FEW_GOLD = 30
#: The labels' variance is set right by the pilot if that is known to this share of it, or this many errors off.
SURE, CLEARLY = 0.1, 3.0


@dataclass(frozen=True)
class PilotVariance:
    """What a plan rests on: how far the differences of two systems vary over queries, and what gold labels mend.

    `sd` is the standard deviation of a query's difference, `low` and `high` its interval where it was estimated (from
    `queries` queries). `gold_variance` times (1/share - 1) is what the variance gains when only a share of the
    documents that matter has a gold label; `pool` is how many documents of a query matter: count for
    one system more than for the other.
    """

    sd: float
    gold_variance: float | None = None
    pool: float | None = None
    measure: str = ""
    queries: int | None = None
    low: float = math.nan
    high: float = math.nan
    notes: tuple[str, ...] = ()


def pilot_variance(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object,
    *,
    gold: LabelsLike | None = None,
    profile: str | Profile = "trec_eval",
) -> PilotVariance:
    """The spread of the differences of two systems, by the labels there are and a pilot of gold labels.

    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(12)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(12)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(12)}
    >>> round(pilot_variance(labels, {"a": a, "b": b}, "P@1").sd, 3)
    0.452

    The standard deviation is by the labels as they are. A judge who errs makes it too large, or too small; the pilot's
    gold labels set it right where there are enough of them, as fewer would add more by chance than they mend. They
    also tell what a missing gold label costs, with the judge weighted as `powered` weighs it.
    """
    measures = as_measures(measure)
    if len(measures) != 1:
        raise BadInput.at("the plan", expected="one measure", found=str(len(measures)))
    lists = several(runs)
    scorer = Scorer(Judgments.of(labels), measures, profile=profile_named(profile), draws=0)
    matrix = Matrix.of(scorer, lists)
    if len(matrix.systems) != 2:
        raise BadInput.at("the plan", expected="two systems", found=", ".join(matrix.systems))
    sd, low, high = _sd(matrix.values[:, 1] - matrix.values[:, 0])
    queries, notes = len(matrix.queries), list(matrix.notes)
    if queries < FEW:
        notes.append(f"the spread is known from {count(queries, 'query', 'queries')} only: the plan is a guess")
    gold_variance = pool = None
    golden = None if gold is None else Gold.of(Judgments.of(gold))
    docs = pool_for(together(lists), list(matrix.queries), scorer.by(measures[0]), golden)
    if docs is not None:
        pool = float(docs.matters.sum()) / queries
        if golden is not None:
            gold_variance = gold_variance_of(docs)
            factor = _set_right(docs)
            sd, low, high = factor * sd, factor * low, factor * high
            if factor == 1.0:
                notes.append("the standard deviation is by the labels as they are: the pilot is too small to mend it")
            used = int((docs.drawn & docs.matters).sum())
            notes += golden.notes
            if used < FEW_GOLD:
                notes.append(f"the judge's errors are known from {count(used, 'gold label')} only: the plan is a guess")
    elif gold is not None:
        raise Undefined(
            f"{measures[0]} cannot be corrected from gold labels of single documents, so they do not tell how many are "
            "needed; plan with nDCG, P, DCG, RBP, RR or ERR, or without gold labels"
        )
    return PilotVariance(sd, gold_variance, pool, str(measures[0]), queries, low, high, tuple(notes))


def gold_variance_of(pool: Pool) -> float:
    """What the judge's errors add to the variance of a query's difference, times (1/share - 1), from a pilot.

    The sum over a query's documents of squared difference in weight times squared error of the predicted gain, with
    the prediction scaled so that this is smallest.
    """
    used = pool.drawn & pool.matters
    if used.sum() < 2:
        found = count(int(used.sum()), "gold label")
        raise Undefined(f"{found} on the documents that tell the systems apart: at least 2 are needed")
    size = (pool.weight[:, 1] - pool.weight[:, 0]) ** 2 * pool.inverse
    spread = float((size * pool.predicted**2).sum())
    weight = float((size * pool.predicted * pool.truth).sum()) / spread if spread > 0 else 1.0
    return float((size * (pool.truth - weight * pool.predicted) ** 2).sum()) / len(pool.queries)


def _set_right(pool: Pool) -> float:
    """By what to multiply the labels' standard deviation to have that of true differences; 1 where nobody knows.

    The true difference is the labels' and their error's. What the error adds to the variance is estimated from the
    pilot, less what the drawing of the pilot itself adds.
    """
    delta, queries = pool.weight[:, 1] - pool.weight[:, 0], len(pool.queries)
    error = delta * (pool.truth - pool.predicted)
    labels = totals(pool.query, delta * pool.predicted, queries)
    off = totals(pool.query, error * pool.inverse, queries)
    drawing = totals(pool.query, error**2 * np.maximum(pool.inverse**2 - pool.inverse, 0.0), queries)
    labels, off = labels - labels.mean(), off - off.mean()
    adds = 2 * labels * off + off**2 - drawing
    variance, more = float((labels**2).mean()), float(adds.mean())
    unsure = float(adds.std(ddof=1)) / math.sqrt(queries)
    if variance <= 0 or not (unsure <= SURE * variance or abs(more) > CLEARLY * unsure):
        return 1.0
    return math.sqrt(min(max(1 + more / variance, 0.25), 4.0))


def _sd(differences: Floats) -> tuple[float, float, float]:
    """The standard deviation with its 95 % interval, on the scale of logarithms.

    The error is the larger of what the normal distribution and what the fourth moment say, because the latter is itself
    too small by chance with few queries.
    """
    from scipy.special import stdtrit

    n = len(differences)
    if n < 2:
        raise Undefined(f"the systems and the labels share {count(n, 'query', 'queries')}: their spread cannot be told")
    away = differences - differences.mean()
    variance = float((away**2).sum()) / (n - 1)
    if variance <= 1e-24:
        raise Undefined(
            "the two systems differ by the same on every query: how far differences vary cannot be told; "
            "give --sd-difference from another comparison"
        )
    sd = math.sqrt(variance)
    if n < FEW:
        return sd, math.nan, math.nan
    fourth = float((away**4).mean()) / variance**2
    error = math.sqrt(max(2 / (n - 1), (fourth - (n - 3) / (n - 1)) / n))
    reach = float(stdtrit(n - 1, 0.975)) * error / 2
    return sd, sd * math.exp(-reach), sd * math.exp(reach)
