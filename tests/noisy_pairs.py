"""Two systems whose labels come from judges who err: how often tests of their difference reject, and intervals hold."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.simulate.noisy_judges import drawn_accuracies, drawn_means
from karat.stats.rogan_gladen import corrected, corrected_parts, half_width, shared_parts, together, two_sided

Floats = npt.NDArray[np.float64]


def bronze_pairs(
    score: float = 0.7,
    difference: float = 0.1,
    *,
    depth: int = 3,
    alike: float = 0.5,
    relevant: float = 43 / 59,
    nonrelevant: float = 67 / 84,
    n_relevant: int = 59,
    n_nonrelevant: int = 84,
    queries: tuple[int, int] = (10_278, 20_604),
    own_gold: bool = False,
    studies: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> pl.DataFrame:
    """How often tests see a true difference in P@k of two systems whose labels come from judges who err.

    The default sizes are those of the paper's example. A query's documents are alike in relevance: `alike` is the
    correlation between two of them. `rejected` is the share of studies with p below 1 - level: power, or, at no
    difference, false alarms; a study that is refused because its gold labels cannot tell its judges from guessing
    rejects nothing. `covered` is how often the interval holds the true difference; the naive one is about
    another difference, that in the judges' labels. With `own_gold` each system has its own gold sample and `shared`
    does not exist.
    """
    truth = np.array([score, score + difference])
    rng = np.random.default_rng(seed)
    seen, variances, gold = [], [], list[tuple[Floats, ...]]()
    for system, chance in enumerate(truth):
        called = _called_relevant(float(chance), depth, alike, relevant, nonrelevant)
        mean, variance = drawn_means(called, queries[system], studies, rng)
        seen.append(mean)
        variances.append(variance)
        if not gold or own_gold:
            gold.append(drawn_accuracies(relevant, nonrelevant, n_relevant, n_nonrelevant, studies, rng))
    df = [queries[0] - 1.0, queries[1] - 1.0]
    gap = seen[1] - seen[0]
    error, freedom = together(variances, df)
    rows = [_tested("naive", gap, error, freedom, difference, level)]
    parts, values = list[Floats](), list[Floats]()
    for mean, variance, of in zip(seen, variances, (gold[0], gold[-1]), strict=True):
        parts += [np.asarray(part) for part in corrected_parts(mean, variance, of[0], of[1], of[2], of[3])]
        values.append(np.asarray(corrected(mean, of[0], of[1])))
    golds = [n_relevant - 1.0, n_nonrelevant - 1.0]
    error, freedom = together(parts, [df[0], *golds, df[1], *golds])
    rows.append(_tested("independent", values[1] - values[0], error, freedom, difference, level))
    if not own_gold:
        d = gold[0][0] + gold[0][1] - 1
        of_queries, its_freedom = together(variances, df)
        shared = shared_parts(gap, of_queries**2, d, gold[0][2], gold[0][3])
        error, freedom = together(shared, [float(np.median(its_freedom)), *golds])
        rows.append(_tested("shared", gap / d, error, freedom, difference, level))
    return pl.DataFrame(rows)


def _tested(
    test: str, value: Floats, error: float | Floats, df: float | Floats, truth: float, level: float
) -> dict[str, str | float]:
    p, half = np.asarray(two_sided(value, error, df)), half_width(error, level, df)
    known = ~np.isnan(value)
    return {
        "test": test,
        "mean": float(np.mean(value[known])) if known.any() else math.nan,
        "mean_error": float(np.nanmean(error)) if known.any() else math.nan,
        "rejected": float((p < 1 - level).mean()),
        "covered": float((np.abs(value - truth) <= half)[known].mean()) if known.any() else math.nan,
        "refused": float(1 - known.mean()),
    }


def _called_relevant(chance: float, depth: int, alike: float, relevant: float, nonrelevant: float) -> Floats:
    """The chance that judges call 0, 1, ... k documents of a query relevant."""
    from scipy.stats import betabinom, binom

    count = np.arange(depth + 1)
    if alike == 0 or chance in (0, 1):
        truly = binom.pmf(count, depth, chance)
    elif alike == 1:
        truly = np.where(count == 0, 1 - chance, np.where(count == depth, chance, 0.0))
    else:
        size = (1 - alike) / alike
        truly = betabinom.pmf(count, depth, chance * size, (1 - chance) * size)
    called: Floats = np.zeros(depth + 1)
    for good in count:
        right = binom.pmf(np.arange(good + 1), good, relevant)
        wrong = binom.pmf(np.arange(depth - good + 1), depth - good, 1 - nonrelevant)
        called += truly[good] * np.convolve(right, wrong)
    return called
