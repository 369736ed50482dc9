"""An estimate: the scores of several systems by one method, and how far they may be off, alone and together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat.stats.arrays import Bools, Floats


class Difference(NamedTuple):
    """One system's score less another's, with its interval and the p value of no difference."""

    difference: float
    standard_error: float
    low: float
    high: float
    p: float

    def within(self, score_range: tuple[float, float] | None) -> Difference:
        """Clip the interval to the differences that two scores in this range can have."""
        if score_range is None:
            return self
        widest = score_range[1] - score_range[0]
        return self._replace(low=max(self.low, -widest), high=min(self.high, widest))


@dataclass(frozen=True, eq=False)
class Estimate:
    """Scores with their covariance: what two systems share, queries, judges and gold labels, cancels between them.

    >>> values = np.array([[0.2, 0.4], [0.4, 0.5], [0.6, 0.9], [0.5, 0.6]])
    >>> estimate = Estimate.of_values("plain", ("a", "b"), values)
    >>> estimate.scores.round(3).tolist(), round(estimate.difference(0, 1).p, 4)
    ([0.425, 0.6], 0.0354)

    `values` has a row per query and a column per system, and its column means are the scores; none where the queries
    are not taken for a sample. `df` are the degrees of freedom of Student's t for each pair of systems.
    """

    method: str
    systems: tuple[str, ...]
    scores: Floats
    covariance: Floats  # of the scores
    df: Floats  # systems x systems
    n_queries: int
    n_gold: int = 0
    values: Floats | None = None
    notes: tuple[str, ...] = ()
    #: The pairs of systems whose difference is known, nothing being left to chance; none where there is no such pair.
    known: Bools | None = None
    #: Whether each system's own score is estimated, not only the differences between them.
    has_scores: bool = True
    #: Why these scores cannot be, where some lie outside what the measure can give: they decide nothing.
    impossible: str = ""
    #: What each gold label adds to the scores, a column per system; none where the estimate is no sum over gold labels.
    parts: Floats | None = None
    #: The lowest and highest score that the measure can give, None where it has no bounds: no interval leaves it.
    score_range: tuple[float, float] | None = None

    @classmethod
    def of_values(
        cls,
        method: str,
        systems: tuple[str, ...],
        values: Floats,
        *,
        df: Floats | None = None,
        n_gold: int = 0,
        notes: tuple[str, ...] = (),
        score_range: tuple[float, float] | None = None,
    ) -> Estimate:
        """An estimate from one value per query and system: queries are a sample, and all else is in the values."""
        queries, columns = values.shape
        centred = values - values.mean(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            covariance = centred.T @ centred / (queries * np.float64(queries - 1))
        if df is None:
            df = np.full((columns, columns), queries - 1.0)
        scores = values.mean(axis=0)
        return cls(method, systems, scores, covariance, df, queries, n_gold, values, notes, score_range=score_range)

    def difference(self, a: int, b: int, level: float = 0.95) -> Difference:
        """How much better system b is than system a."""
        from scipy.special import stdtr, stdtrit

        difference = float(self.scores[b] - self.scores[a])
        spread = self.covariance
        variance = float(spread[a, a] + spread[b, b] - 2 * spread[a, b])
        error = self._error(variance, a, b)
        if error == 0.0 or np.isnan(error):
            return Difference(difference, error, np.nan, np.nan, self._p_without_spread(difference, variance))
        df = float(self.df[a, b])
        if df < 1:
            return Difference(difference, error, np.nan, np.nan, np.nan)
        half = error * float(stdtrit(df, (1 + level) / 2))
        p = float(2 * stdtr(df, -abs(difference) / error))
        return Difference(difference, error, difference - half, difference + half, p).within(self.score_range)

    def is_known(self, a: int, b: int) -> bool:
        """Whether nothing about this difference is left to chance."""
        return self.known is not None and bool(self.known[a, b])

    def interval(self, system: int, level: float = 0.95) -> tuple[float, float]:
        """The interval of one system's own score."""
        from scipy.special import stdtrit

        if not self.has_scores:
            return np.nan, np.nan

        error, df = self._error(self.covariance[system, system], system), float(self.df[system, system])
        if not error or np.isnan(error) or df < 1:
            return np.nan, np.nan
        half = error * float(stdtrit(df, (1 + level) / 2))
        low, high = float(self.scores[system]) - half, float(self.scores[system]) + half
        return (
            (low, high) if self.score_range is None else (max(low, self.score_range[0]), min(high, self.score_range[1]))
        )

    def _error(self, variance: float, *systems: int) -> float:
        """The standard error, 0 where the variance is what rounding alone leaves of values that are all the same.

        That is of the size of the scores where these have no spread, and of their spread where it cancels.
        """
        size = max(abs(float(self.scores[s])) for s in systems)
        spread = sum(float(self.covariance[s, s]) for s in systems) if len(systems) > 1 else 0.0
        return 0.0 if variance <= max((1e-12 * size) ** 2, 1e-14 * spread) else float(np.sqrt(variance))

    def _p_without_spread(self, difference: float, variance: float) -> float:
        """Every query says the same: no difference, or one whose sign could not come out so often by chance."""
        if np.isnan(variance) or self.n_queries < 2 or self.values is None:
            return np.nan
        return 1.0 if abs(difference) < 1e-12 else 2.0 ** (1 - self.n_queries)
