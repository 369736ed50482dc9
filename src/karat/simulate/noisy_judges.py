"""A system judged by people whose error rates are known: do intervals of corrected scores hold the truth?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Result
from karat.records.result import Histograms
from karat.records.table import count
from karat.stats.arrays import Bools, Floats
from karat.stats.rogan_gladen import CLEAR, corrected, corrected_parts, half_width, share_variance

#: The true precision at ranks 1 to 10 in the paper's simulation; its mean, the true P@10, is 0.4.
PAPER_PRECISION: tuple[float, ...] = (0.49, 0.47, 0.45, 0.43, 0.41, 0.39, 0.37, 0.35, 0.33, 0.31)
LEVEL = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class BronzeScores:
    """Simulated studies of one system: a row each, with the naive and the corrected score and their errors.

    Where a study's gold labels cannot tell its judges from guessing, there is no corrected score (NaN).
    """

    frame: pl.DataFrame
    truth: float
    queries: int
    seed: int
    #: How many documents of a query are judged: the k of P@k.
    ranks: int = len(PAPER_PRECISION)

    def covered(self, score: str = "corrected") -> float:
        """In which share of the studies the interval around this score holds the truth."""
        known = self.frame.drop_nans(score)
        half = half_width(known[f"{score}_error"].to_numpy(), LEVEL)
        return _mean(np.abs(known[score].to_numpy() - self.truth) <= half)

    def summary(self) -> Result:
        """Mean score, its spread over studies, the mean error claimed, and how often the interval holds the truth."""
        rows = []
        for name in ("naive", "corrected"):
            known = self.frame.drop_nans(name)
            score = known[name].to_numpy()
            rows.append(
                {
                    "score": name,
                    "truth": self.truth,
                    "mean": _mean(score),
                    "sd": float(score.std(ddof=1)) if len(score) > 1 else math.nan,
                    "mean_error": _mean(known[f"{name}_error"].to_numpy()),
                    "covered": self.covered(name),
                }
            )
        said = (
            f"The naive interval holds the true score of {self.truth:g} in {100 * rows[0]['covered']:.1f} % of "
            f"{self.frame.height:,} studies, the corrected one in {100 * rows[1]['covered']:.1f} %."
        )
        how = f"{count(self.queries, 'query', 'queries')} a study, seed {self.seed}"
        drawn = pl.concat(self.frame.select(series=pl.lit(name), value=name) for name in ("naive", "corrected"))
        told = f"Scores of {self.frame.height:,} simulated studies, {how}; the line is the true score"
        drawing = Histograms(drawn, f"P@{self.ranks}", self.truth, told)
        return Result(pl.DataFrame(rows), said, (how,), drawing=drawing)

    def __repr__(self) -> str:
        return repr(self.summary())


def bronze_scores(
    *,
    relevant: float = 0.9,
    nonrelevant: float = 0.8,
    n_relevant: int = 250,
    n_nonrelevant: int = 250,
    queries: int = 50,
    studies: int = 10_000,
    precision: Sequence[float] = PAPER_PRECISION,
    seed: int = 0,
) -> BronzeScores:
    """Algorithm 2 of the paper: studies of a system whose true precision at each rank is known, by judges who err.

    >>> bronze_scores(studies=2000, seed=1)
    The naive interval holds the true score of 0.4 in 5.0 % of 2,000 studies, the corrected one in 94.8 %.
    - 50 queries a study, seed 1

    `relevant` and `nonrelevant` are the judges' true accuracies, which each study estimates from its own gold labels;
    `precision` is the true precision at ranks 1, 2, ... k, whose mean is the true P@k. `summary().plot()` draws Fig. 2.
    Instead of each label, karat draws how many queries of a study have 0, 1, ... k documents called relevant, which
    is the same in distribution and takes no time.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), section 5 and Figure 2.
    """
    if not (0 <= relevant <= 1 and 0 <= nonrelevant <= 1 and relevant + nonrelevant > 1):
        raise BadInput.at(
            "the judges' accuracies",
            expected="shares from 0 to 1, better than guessing (above 1 together)",
            found=f"{relevant:g} and {nonrelevant:g}",
        )
    if not precision or not all(0 <= chance <= 1 for chance in precision):
        found = ", ".join(f"{chance:g}" for chance in precision)
        raise BadInput.at("the precision at each rank", expected="chances from 0 to 1", found=found or "none")
    sizes = [n_relevant, n_nonrelevant, queries, studies]
    if not all(isinstance(size, int) and size >= 1 for size in sizes) or queries < 2:
        raise BadInput.at("the sizes", expected="whole numbers from 1, queries from 2", found=str(sizes))
    rng = np.random.default_rng(seed)
    per_query = np.ones(1)
    for chance in np.array(precision) * (relevant + nonrelevant - 1) + 1 - nonrelevant:
        per_query = np.convolve(per_query, [1 - chance, chance])
    naive, variance = drawn_means(per_query, queries, studies, rng)
    right, right_not, *spread = drawn_accuracies(relevant, nonrelevant, n_relevant, n_nonrelevant, studies, rng)
    parts = corrected_parts(naive, variance, right, right_not, *spread)
    frame = pl.DataFrame(
        {
            "naive": naive,
            "naive_error": np.sqrt(variance),
            "corrected": np.asarray(corrected(naive, right, right_not)),
            "corrected_error": np.asarray(np.sqrt(parts[0] + parts[1] + parts[2])),
        }
    )
    return BronzeScores(frame, float(np.mean(precision)), queries, seed, len(precision))


def drawn_means(per_query: Floats, queries: int, studies: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means over queries of each study, and their variances, from the chances of 0, 1, ... k documents of a query."""
    score = np.arange(len(per_query)) / (len(per_query) - 1)
    times = rng.multinomial(queries, per_query / per_query.sum(), studies)
    mean = times @ score / queries
    variance = (times @ score**2 / queries - mean**2) / (queries - 1)
    return mean, np.maximum(variance, 0.0)


def drawn_accuracies(
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


def _mean(values: Floats | Bools) -> float:
    return float(np.mean(values)) if len(values) else math.nan
