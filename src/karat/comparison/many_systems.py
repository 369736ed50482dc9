"""Many systems: every pair, with p values that allow for how often one looked, and the places each may have."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from karat.comparison.interim import Look
from karat.comparison.prepared import Matrix
from karat.correction.estimate import Estimate
from karat.correction.inversion import inversion, resampled_scores
from karat.correction.pool import Pool
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.multiple_testing import benjamini_hochberg, holm
from karat.stats.permutation_tests import max_t, rank_intervals, sign_flip

#: Scores that differ by less are equal but for rounding.
EQUAL = 1e-12
#: For max-T every pair of systems needs more queries than this with a gold label that counts.
ENOUGH_GOLD = 30

TESTS = {"test": pl.String, "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64, "p": pl.Float64}

PAIRS = {
    "a": pl.String,
    "b": pl.String,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "holm": pl.Float64,
    "bh": pl.Float64,
    "max_t": pl.Float64,
    "effect": pl.Float64,
    "wins": pl.Int64,
    "ties": pl.Int64,
    "losses": pl.Int64,
}


def every_pair(
    estimate: Estimate, matrix: Matrix, look: Look, *, with_first: bool = False, draws: int, seed: int
) -> pl.DataFrame:
    """Every pair of systems by one method, or those with the first system only.

    `difference` is b - a; `wins` counts the queries that b wins by the labels as they are; `effect` is the difference
    in standard deviations of the values by query. `max_t` needs one value per query, and where gold labels correct
    them, some thirty queries with one: pairs without (two versions of one system, say) have none, and Holm's p decides
    about these. As two families then share the chance of a false alarm, each p counts for as many as there are pairs in
    both (Bonferroni's rule between the two).
    """
    places = _places(len(estimate.systems), with_first)
    found = [look.at(estimate, a, b) for a, b in places]
    p = np.array([one.p for one in found])
    by_max = np.full(len(places), np.nan)
    # Signs of values that rest on a handful of gold labels are not as likely up as down: Holm's p decides there.
    enough = np.full(len(places), True) if not estimate.n_gold else estimate.df[tuple(places.T)] >= ENOUGH_GOLD
    if estimate.values is not None and not look.peeking and enough.any():
        adjusted = max_t(estimate.values, places[enough], draws=draws, seed=seed).adjusted
        # What allows for all pairs cannot be less than what allows for none; drawn signs may leave it a little less.
        by_max[enough] = np.fmax(np.minimum(adjusted * len(places) / enough.sum(), 1.0), p[enough])
    by_holm, by_bh = holm(p), benjamini_hochberg(p)
    rows = []
    for place, (a, b) in enumerate(places):
        one = found[place]
        won = matrix.values[:, b] - matrix.values[:, a]
        rows.append(
            (
                estimate.systems[a],
                estimate.systems[b],
                one.difference,
                one.low,
                one.high,
                one.p,
                float(by_holm[place]),
                float(by_bh[place]),
                float(by_max[place]),
                _effect(estimate, a, b),
                int((won > EQUAL).sum()),
                int((np.abs(won) <= EQUAL).sum()),
                int((won < -EQUAL).sum()),
            )
        )
    return pl.DataFrame(rows, schema=PAIRS, orient="row")


def _places(systems: int, with_first: bool) -> Ints:
    pairs = combinations(range(systems), 2)
    return np.array([(a, b) for a, b in pairs if a == 0 or not with_first])


def _effect(estimate: Estimate, a: int, b: int) -> float:
    if estimate.values is None:
        return np.nan
    difference = estimate.values[:, b] - estimate.values[:, a]
    spread = float(difference.std(ddof=1))
    return float(difference.mean()) / spread if spread > EQUAL else np.nan


def family_p(pairs: pl.DataFrame) -> Floats:
    """The p value by which each pair counts as different: max-T's, Holm's where there is none, or the only one."""
    p, by_max = pairs["p"].to_numpy(), pairs["max_t"].to_numpy()
    rest = np.isnan(by_max)
    if pairs.height == 1:
        return p
    if rest.all():
        return pairs["holm"].to_numpy()
    return np.where(rest, np.minimum(_among(p, rest) * pairs.height / max(int(rest.sum()), 1), 1.0), by_max)


def _among(p: Floats, some: Bools) -> Floats:
    """Holm's p values of some pairs among themselves, in their places."""
    found = np.full(len(p), np.nan)
    found[some] = holm(p[some])
    return found


def ranks(estimate: Estimate, pairs: pl.DataFrame, level: float) -> pl.DataFrame:
    """Each system's score, its place, and the places it may have: as many as no pair of systems rules out."""
    size = len(estimate.systems)
    places = _places(size, pairs.height < size * (size - 1) // 2)
    best, worst = rank_intervals(places, -pairs["difference"].to_numpy(), family_p(pairs), size, alpha=1 - level)
    ends = [estimate.interval(s, level) for s in range(size)]
    frame = pl.DataFrame(
        {
            "system": estimate.systems,
            "score": estimate.scores if estimate.has_scores else np.full(size, np.nan),
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            "rank": (-estimate.scores).argsort(kind="stable").argsort(kind="stable") + 1,
            "best_rank": best,
            "worst_rank": worst,
        }
    )
    return frame.sort("rank")


def plain_tests(
    matrix: Matrix, level: float, *, score_range: tuple[float, float] | None = None, draws: int, seed: int
) -> pl.DataFrame:
    """Three tests of the labels as they are, for two systems: t, sign-flip and bootstrap, which should agree."""
    from karat.stats import mean_intervals

    values = matrix.values
    difference = values[:, 1] - values[:, 0]
    one = Estimate.of_values("plain", matrix.systems, values, score_range=score_range).difference(0, 1, level)
    flipped = sign_flip(difference, draws=draws, seed=seed)
    low, high = mean_intervals(difference[:, None], level=level, draws=max(draws, 100), seed=seed)
    rows = [
        ("paired t", one.difference, one.low, one.high, one.p),
        ("sign-flip" + (", all signs" if flipped.exact else ""), one.difference, np.nan, np.nan, flipped.p),
        ("bootstrap", one.difference, float(low[0]), float(high[0]), np.nan),
    ]
    return pl.DataFrame(rows, schema=TESTS, orient="row")


def inversion_bootstrap(pool: Pool, level: float, *, draws: int, seed: int) -> pl.DataFrame:
    """The corrected difference of two systems when whole queries, with their gold labels, are drawn again."""
    scores = resampled_scores(pool, draws=draws, seed=seed)
    difference = scores[:, 1] - scores[:, 0]
    low, high = np.quantile(difference, [(1 - level) / 2, (1 + level) / 2])
    row = ("inversion, bootstrap", float(inversion(pool).difference(0, 1).difference), float(low), float(high), np.nan)
    return pl.DataFrame([row], schema=TESTS, orient="row")
