"""Systems judged by people whose error rates are known: do corrected scores, and tests of them, find the truth?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.records import Result
from karat.stats.correction import (
    CLEAR,
    corrected,
    corrected_parts,
    half_width,
    share_variance,
    shared_parts,
    together,
    two_sided,
)

Floats = npt.NDArray[np.float64]

#: The true precision at ranks 1 to 10 in the paper's simulation; its mean, the true P@10, is 0.4.
PAPER_PRECISION = (0.49, 0.47, 0.45, 0.43, 0.41, 0.39, 0.37, 0.35, 0.33, 0.31)


@dataclass(frozen=True, eq=False, repr=False)
class BronzeScores:
    """Simulated studies of one system: a row each, with the naive and the corrected score and their errors.

    Where a study's gold labels cannot tell its judges from guessing, there is no corrected score (NaN).
    """

    frame: pl.DataFrame
    truth: float
    queries: int
    level: float
    seed: int

    def covered(self, score: str = "corrected", error: str | None = None) -> float:
        """In which share of the studies the interval around this score holds the truth."""
        known = self.frame.filter(pl.col(score).is_not_nan())
        half = half_width(known[error or f"{score}_error"].to_numpy(), self.level)
        return float((np.abs(known[score].to_numpy() - self.truth) <= half).mean()) if known.height else math.nan

    def summary(self) -> Result:
        """Mean score, its spread over studies, the mean error claimed, and how often the interval holds the truth."""
        rows = [
            {
                "score": name,
                "truth": self.truth,
                "mean": _mean(self.frame[name].to_numpy()),
                "sd": _sd(self.frame[name].to_numpy()),
                "mean_error": _mean(self.frame[f"{name}_error"].to_numpy()),
                "covered": self.covered(name),
            }
            for name in ("naive", "corrected")
        ]
        said = (
            f"The naive interval holds the true score of {self.truth:g} in {100 * rows[0]['covered']:.1f} % of "
            f"{self.frame.height:,} studies, the corrected one in {100 * rows[1]['covered']:.1f} %."
        )
        return Result(pl.DataFrame(rows), said, (f"{self.queries:,} queries a study, seed {self.seed}",))

    def __repr__(self) -> str:
        return repr(self.summary())


def bronze_scores(
    precision: Sequence[float] = PAPER_PRECISION,
    *,
    relevant: float = 0.9,
    nonrelevant: float = 0.8,
    n_relevant: int = 250,
    n_nonrelevant: int = 250,
    queries: int = 50,
    studies: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> BronzeScores:
    """Algorithm 2 of the paper: studies of a system whose true precision at each rank is known, by judges who err.

    >>> bronze_scores(studies=2000, seed=1)
    The naive interval holds the true score of 0.4 in 5.0 % of 2,000 studies, the corrected one in 94.8 %.
    - 50 queries a study, seed 1

    `relevant` and `nonrelevant` are the judges' true accuracies, which each study estimates from its own gold labels.
    Instead of each label, karat draws how many queries of a study have 0, 1, ... k documents called relevant, which
    is the same in distribution and takes no time.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), section 5 and Figure 2.
    """
    chances = np.asarray(precision, dtype=np.float64)
    _check(chances, (relevant, nonrelevant), (n_relevant, n_nonrelevant, queries, studies))
    rng = np.random.default_rng(seed)
    per_query = np.ones(1)
    for chance in chances * (relevant + nonrelevant - 1) + 1 - nonrelevant:
        per_query = np.convolve(per_query, [1 - chance, chance])
    naive, variance = _studies(per_query, queries, studies, rng)
    right, right_not, *spread = _gold(relevant, nonrelevant, n_relevant, n_nonrelevant, studies, rng)
    parts = corrected_parts(naive, variance, right, right_not, *spread)
    frame = pl.DataFrame(
        {
            "naive": naive,
            "naive_error": np.sqrt(variance),
            "corrected": np.asarray(corrected(naive, right, right_not)),
            "corrected_error": np.asarray(np.sqrt(parts[0] + parts[1] + parts[2])),
        }
    )
    return BronzeScores(frame, float(chances.mean()), queries, level, seed)


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
) -> Result:
    """How often tests see a true difference in P@k of two systems whose labels come from judges who err.

    >>> found = bronze_pairs(studies=500).frame
    >>> found.select("test", "rejected").rows()
    [('naive', 1.0), ('independent', 0.0), ('shared', 1.0)]

    The default sizes are those of the paper's example. A query's documents are alike in relevance: `alike` is the
    correlation between two of them. `rejected` is the share of studies with p below 1 - level: power, or, at no
    difference, false alarms; a study that is refused because its gold labels cannot tell its judges from guessing
    rejects nothing. `covered` is how often the interval holds the true difference; the naive one is about
    another difference, that in the judges' labels. With `own_gold` each system has its own gold sample and `shared`
    does not exist.
    """
    truth = np.array([score, score + difference])
    _check(truth, (relevant, nonrelevant, alike), (n_relevant, n_nonrelevant, *queries, studies, depth))
    rng = np.random.default_rng(seed)
    seen, variances, gold = [], [], list[tuple[Floats, ...]]()
    for system, chance in enumerate(truth):
        called = _called_relevant(float(chance), depth, alike, relevant, nonrelevant)
        mean, variance = _studies(called, queries[system], studies, rng)
        seen.append(mean)
        variances.append(variance)
        if not gold or own_gold:
            gold.append(_gold(relevant, nonrelevant, n_relevant, n_nonrelevant, studies, rng))
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
    what = "no difference" if difference == 0 else f"a true difference of {difference:g}"
    said = ", ".join(f"{row['test']} {100 * float(row['rejected']):.1f} %" for row in rows)
    return Result(
        pl.DataFrame(rows),
        f"With {what} the tests reject: {said} ({studies:,} studies).",
        (f"{queries[0]:,} and {queries[1]:,} queries, {n_relevant} and {n_nonrelevant} gold labels, seed {seed}",),
    )


def _tested(
    test: str, value: Floats, error: float | Floats, df: float | Floats, truth: float, level: float
) -> dict[str, str | float]:
    p, half = np.asarray(two_sided(value, error, df)), half_width(error, level, df)
    known = ~np.isnan(value)
    return {
        "test": test,
        "mean": _mean(value),
        "mean_error": _mean(np.asarray(error)),
        "rejected": float((p < 1 - level).mean()),
        "covered": float((np.abs(value - truth) <= half)[known].mean()) if known.any() else math.nan,
        "refused": float(1 - known.mean()),
    }


def _mean(values: Floats) -> float:
    """The mean of the studies that have a value."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _sd(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else math.nan


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


def _studies(per_query: Floats, queries: int, studies: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means over queries of each study, and their variances, from the chances of 0, 1, ... k documents of a query."""
    score = np.arange(len(per_query)) / (len(per_query) - 1)
    times = rng.multinomial(queries, per_query / per_query.sum(), studies)
    mean = times @ score / queries
    variance = (times @ score**2 / queries - mean**2) / (queries - 1)
    return mean, np.maximum(variance, 0.0)


def _gold(
    relevant: float, nonrelevant: float, n_relevant: int, n_nonrelevant: int, studies: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """The two accuracies as gold samples show them, and their variances; NaN where judges might be guessing."""
    agreed = rng.binomial(n_relevant, relevant, studies)
    agreed_not = rng.binomial(n_nonrelevant, nonrelevant, studies)
    spread = np.asarray(share_variance(agreed, n_relevant))
    spread_not = np.asarray(share_variance(agreed_not, n_nonrelevant))
    right, right_not = agreed / n_relevant, agreed_not / n_nonrelevant
    unclear = right + right_not - 1 < CLEAR * np.sqrt(spread + spread_not)
    right[unclear] = right_not[unclear] = np.nan
    return right, right_not, spread, spread_not


def _check(chances: Floats, shares: Sequence[float], sizes: Sequence[int]) -> None:
    if not len(chances) or not ((chances >= 0) & (chances <= 1)).all():
        raise BadInput.at("the true scores", expected="numbers from 0 to 1", found=str(chances.tolist()))
    if not all(0 <= share <= 1 for share in shares) or shares[0] + shares[1] <= 1:
        raise BadInput.at(
            "the judges' accuracies",
            expected="shares from 0 to 1, better than guessing (above 1 together)",
            found=f"{shares[0]:g} and {shares[1]:g}",
        )
    if not all(isinstance(size, int) and size >= 1 for size in sizes) or sizes[2] < 2:
        raise BadInput.at("the sizes", expected="whole numbers from 1, queries from 2", found=str(list(sizes)))
