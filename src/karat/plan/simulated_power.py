"""Power by simulation: draw studies of the planned size from the pilot's calibrated model, and analyse each of them.

The closed form of `karat.stats.power` knows how much single gold labels leave open. For nDCG, RR and ERR it misses
what else a study pays for: a judge calibrated on its own few gold labels, ideal rankings that no gold label reaches,
and fewer degrees of freedom. Simulated studies pay for all of it: their estimator is the one that `compare` uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from karat.comparison.prepared import Prepared
from karat.correction.calibration import Evidence
from karat.correction.gold_sample import Gold
from karat.correction.imputed_scores import drawn_lists
from karat.correction.pool import Pool, in_the_best_list
from karat.measures import ERR, RR, Measure, Profile, nDCG
from karat.measures.scorer import Scorer
from karat.records import Judgments, Runs
from karat.records.schema import DIFFERENCES
from karat.stats.arrays import Floats, Ints
from karat.stats.power import MOST
from karat.stats.sampling import draw, inclusion_probabilities

#: No document that counts is less likely to be drawn than this share of the average: a rare one would weigh too much.
FLOOR = 0.2
#: For one system's nDCG a document of the best list counts this share of what it counts in the system's own list.
IDEAL = 0.5
#: A document at the same rank of all lists counts this share of its weight for measures of users who stop.
SAME_RANK = 0.3


def sizes(pool: Pool, measure: Measure) -> Floats:
    """How differently the systems weigh each document; for one system alone, what the document weighs.

    0 where it counts alike for all, or too little to be worth a label.
    """
    apart = pool.weight - pool.weight.mean(axis=1, keepdims=True) if len(pool.systems) > 1 else pool.weight
    size = np.sqrt((apart**2).sum(axis=1))
    if isinstance(measure, nDCG) and len(pool.systems) == 1:
        # Its own score also asks for the best list there could be; a score is below 1, so that counts less.
        size = np.maximum(size, IDEAL * in_the_best_list(pool, measure))
    if isinstance(measure, ERR | RR):
        # What stands at the same rank counts otherwise where better documents stand above it in one of the lists.
        size = np.maximum(size, SAME_RANK * pool.weight.max(axis=1))
    return np.where(pool.counting(size), size, 0.0)


PAIR = ["query", "doc"]
#: Studies simulated for each row of a plan, and before that, to find about how many queries it takes.
STUDIES, FIRST_STUDIES = 40, 12
#: Larger studies are not simulated: the error of this many queries is scaled to more.
MAX_SIMULATED_QUERIES = 100
#: With fewer queries no interval is worth simulating.
MIN_QUERIES = 5


@dataclass(frozen=True, eq=False)
class SimulatedErrors:
    """What simulated studies of one size got wrong.

    `error` is the estimated less the true difference of each study's queries, `half_width` that of its confidence
    interval; both are NaN where `compare` would have refused. `sd` is the standard deviation of a query's true
    difference, and `pilot_difference` the true mean in the simulated population, positive.
    """

    error: Floats
    half_width: Floats
    queries: int
    gold_labels: int
    sd: float
    pilot_difference: float

    def power(self, difference: float, queries: int | None = None) -> tuple[float, float]:
        """The power to detect a difference with so many queries, and its Monte-Carlo standard error.

        How far the queries of a study differ from all others is averaged over the normal distribution instead of
        drawn, which takes a quarter of the studies. Errors shrink with the root of the number of queries.
        """
        from scipy.special import ndtr

        number = self.queries if queries is None else queries
        scale, each = math.sqrt(self.queries / number), self.sd / math.sqrt(number)
        accepted = ~np.isnan(self.error) & ~np.isnan(self.half_width)
        error, half = self.error[accepted], self.half_width[accepted]
        bias = float(error.mean()) if len(error) else 0.0
        # A bias in proportion to the difference is smaller where the planned difference is smaller than the pilot's.
        shrunk = bias * min(1.0, difference / self.pilot_difference) if self.pilot_difference > 0 else 0.0
        found = difference + shrunk + scale * (error - bias)
        detected = np.zeros(len(self.error))
        detected[accepted] = ndtr((found - scale * half) / each) + ndtr((-found - scale * half) / each)
        return float(detected.mean()), float(detected.std(ddof=1)) / math.sqrt(len(detected))

    def queries_needed(self, difference: float, power: float) -> int:
        """The fewest queries with which the difference is detected with this power, the share of gold labels alike."""
        low, high = 1, MIN_QUERIES
        while self.power(difference, high)[0] < power and high < MOST:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.power(difference, middle)[0] < power else (low, middle)
        return max(high, MIN_QUERIES)

    def smallest_difference(self, power: float, queries: int | None = None) -> float:
        """The smallest difference that so many queries detect with this power."""
        low, high = 0.0, self.sd
        while self.power(high, queries)[0] < power and high < 1e6:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.power(middle, queries)[0] < power else (low, middle)
        return high


@dataclass(frozen=True, eq=False)
class PilotModel:
    """The pilot's queries with grades drawn from the calibrated judge: a population to draw studies from."""

    judged: Judgments
    runs: Runs
    measure: Measure
    profile: Profile
    calibrate: bool | Sequence[str]
    pool: Pool
    evidence: Evidence
    draws: Ints  # documents of the evidence x draws: places of grades, gold grades as they are
    differences: Floats  # queries x draws: true differences

    @classmethod
    def of(
        cls, runs: Runs, scorer: Scorer, pool: Pool, evidence: Evidence, calibrate: bool | Sequence[str]
    ) -> PilotModel:
        """The model of a pilot; gold labels stand as they are, and all other grades are drawn given the labels."""
        drawn = drawn_lists(runs, scorer, evidence, np.flatnonzero(~np.isnan(evidence.grade)))
        scores = np.vstack([np.zeros(drawn.draws.shape[1]), drawn.scores()])
        # The number of each query's list, 0 where a system has none.
        a, b = drawn.by_query(np.arange(1.0, len(scores)), pool.queries).astype(np.int64).T
        differences = np.asarray(scores[b] - scores[a])
        return cls(
            scorer.given, runs, scorer.measures[0], scorer.profile, calibrate, pool, evidence, drawn.draws, differences
        )

    @property
    def sd(self) -> float:
        """The standard deviation of a query's true difference, variances averaged over draws."""
        return math.sqrt(float(self.differences.var(axis=0, ddof=1).mean()))

    def simulate(
        self,
        queries: int,
        gold_labels: int,
        *,
        studies: int = STUDIES,
        alpha: float = 0.05,
        seed: int = 0,
        on_study: Callable[[], None] | None = None,
    ) -> SimulatedErrors:
        """Draw studies of this size and compare the two systems in each, as `compare` with gold labels does."""
        rng = np.random.default_rng([seed, queries, gold_labels])
        mean = float(self.differences.mean())
        direction = -1.0 if mean < 0 else 1.0
        error, half = np.full(studies, np.nan), np.full(studies, np.nan)
        for place in range(studies):
            query = rng.integers(0, len(self.pool.queries), queries)
            world = rng.integers(0, self.draws.shape[1], queries)
            estimate = self._study(query, world, gold_labels, int(rng.integers(2**31)), alpha)
            if estimate is not None:
                truth = float(self.differences[query, world].mean())
                error[place], half[place] = direction * (estimate[0] - truth), estimate[1]
            if on_study is not None:
                on_study()
        return SimulatedErrors(error, half, queries, gold_labels, self.sd, abs(mean))

    def _study(self, query: Ints, world: Ints, gold_labels: int, seed: int, alpha: float) -> tuple[float, float] | None:
        """The estimated difference of one study with the half-width of its interval; none where it is refused."""
        rows, number = self._pool_rows.of(query)
        size = self._size[rows]
        counting = int((size > 0).sum())
        n = min(gold_labels, counting)
        chance = inclusion_probabilities(size, n, floor=np.where(size > 0, FLOOR * n / counting, 0.0))
        drawn = draw(chance, seed=seed)
        gold = self._docs(self.pool.docs, rows[drawn], number[drawn]).with_columns(
            label=pl.Series(self._truth(rows[drawn], world[number[drawn]])),
            probability=pl.Series(chance[drawn]),
            drawn_for=pl.lit(DIFFERENCES),
        )
        labelled, copies = self._label_rows.of(query)
        labels = self._docs(self._labels, labelled, copies)
        retrieved, copies = self._run_rows.of(query)
        runs = Runs(self._docs(self._runs, retrieved, copies))
        ready = Prepared.of(
            replace(self.judged, frame=labels), [runs], self.measure, calibrate=self.calibrate, profile=self.profile
        )
        estimate = ready.corrected(Gold.of(Judgments.of(gold))).estimates.get("ppi")
        if estimate is None or estimate.impossible:
            return None
        a, b = (estimate.systems.index(name) for name in self.pool.systems)
        found = estimate.difference(a, b, 1 - alpha)
        return found.difference, found.high - found.difference

    @staticmethod
    def _docs(frame: pl.DataFrame, rows: Ints, number: Ints) -> pl.DataFrame:
        """These rows of a frame, each under the name of its copy of the query."""
        named = pl.Series("query", number).cast(pl.String).str.zfill(6)
        return frame[rows].with_columns(named)

    def _truth(self, rows: Ints, world: Ints) -> Floats:
        """The drawn grades of documents of the pool; what nobody labelled or drew is not relevant."""
        mine = self._evidence_rows[rows]
        grades = self.evidence.calibration.grades
        return np.where(mine >= 0, grades[self.draws[mine, world]], 0.0)

    @cached_property
    def _size(self) -> Floats:
        return sizes(self.pool, self.measure)

    @cached_property
    def _evidence_rows(self) -> Ints:
        return self.evidence.rows(self.pool.docs)

    @cached_property
    def _labels(self) -> pl.DataFrame:
        return self.judged.frame.filter(pl.col("query").is_in(list(self.pool.queries)))

    @cached_property
    def _runs(self) -> pl.DataFrame:
        return self.runs.frame.filter(pl.col("query").is_in(list(self.pool.queries)))

    @cached_property
    def _pool_rows(self) -> _RowsByQuery:
        return _RowsByQuery.among(self.pool.docs, self.pool.queries)

    @cached_property
    def _label_rows(self) -> _RowsByQuery:
        return _RowsByQuery.among(self._labels, self.pool.queries)

    @cached_property
    def _run_rows(self) -> _RowsByQuery:
        return _RowsByQuery.among(self._runs, self.pool.queries)


@dataclass(frozen=True, eq=False)
class _RowsByQuery:
    """Which rows of a frame belong to each query."""

    order: Ints
    start: Ints

    @classmethod
    def among(cls, frame: pl.DataFrame, queries: Sequence[str]) -> _RowsByQuery:
        place = {name: number for number, name in enumerate(queries)}
        query = frame["query"].replace_strict(place, return_dtype=pl.Int64).to_numpy()
        order = np.argsort(query, kind="stable")
        return cls(order, np.searchsorted(query[order], np.arange(len(queries) + 1)))

    def of(self, query: Ints) -> tuple[Ints, Ints]:
        """The rows of these queries, one after another, and the place of each row's query among them."""
        length = self.start[query + 1] - self.start[query]
        number = np.repeat(np.arange(len(query)), length)
        within = np.arange(len(number)) - np.repeat(np.cumsum(length) - length, length)
        return self.order[self.start[query][number] + within], number
