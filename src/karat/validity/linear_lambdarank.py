"""A linear ranker taught by LambdaRank: a weight for each feature, whose sign tells what labels reward.

Reference: Burges, Ragno and Le, Learning to Rank with Nonsmooth Cost Functions (NIPS 2006), with a linear score in
place of the network's. What Kazai et al. (CIKM 2012) look at: does a feature get a positive or a negative weight?
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.measures.gains import Gains
from karat.records.blocks import pairs_within
from karat.stats.arrays import Floats, Ints
from karat.validity.lambdarank import Pool, rotation

STEPS = 200
RATE = 0.5


def linear_out_of_fold(
    pool: Pool, label: Floats, columns: Sequence[str], gains: Gains, cutoff: int
) -> tuple[Floats, Floats]:
    """As `out_of_fold`, and the weights: a row for each part tested, a column for each feature; NaN if nothing is told.

    Features are counted in standard deviations, so that weights can be compared; an unknown value counts as the mean.
    A fixed number of steps is taken: nothing is stopped by, and the part that trees stop by is left aside.
    """
    wanted = [pool.columns.index(name) for name in columns]
    features = pool.features[:, wanted]
    known = ~np.isnan(label)
    worth = np.where(known, gains.apply(np.where(known, label, 0.0)), 0.0)
    scores, weights = np.full(len(label), np.nan), np.full((pool.folds, len(wanted)), np.nan)
    for learn, _, test in rotation(pool.folds):
        rows = np.flatnonzero(pool.rows(*learn) & known)
        mean, spread = np.nanmean(features[rows], axis=0), np.nanstd(features[rows], axis=0)
        even = np.nan_to_num((features - mean) / np.where(spread > 0, spread, 1.0))
        found = _weights(even[rows], worth[rows], pool.query[rows], cutoff)
        if found is None:
            return np.full(len(label), np.nan), np.full_like(weights, np.nan)
        tested = pool.rows(test)
        scores[tested], weights[test] = even[tested] @ found, found
    return scores, weights


def _weights(features: Floats, gain: Floats, query: Ints, cutoff: int) -> Floats | None:
    """The weights after so many steps along LambdaRank's gradient, the mean over queries; None if no pair tells."""
    one, other = pairs_within(query)
    better = np.where(gain[one] >= gain[other], one, other)
    worse = one + other - better
    told = gain[better] > gain[worse]
    better, worse = better[told], worse[told]
    if not len(better):
        return None
    queries = int(query[-1]) + 1
    best = _discounts(query, gain, cutoff) * gain
    ideal = np.bincount(query, best, queries)
    apart = features[better] - features[worse]
    swapped = (gain[better] - gain[worse]) / ideal[query[better]]
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        discount = _discounts(query, features @ weights, cutoff)
        # What swapping the two would change in nDCG, times how far the pair is from its right order.
        change = swapped * np.abs(discount[better] - discount[worse])
        weights += RATE * (change / (1 + np.exp(apart @ weights))) @ apart / len(np.unique(query))
    return weights


def _discounts(query: Ints, score: Floats, cutoff: int) -> Floats:
    """1 / log2(rank + 1) of each row in its query by descending score, 0 below the cutoff."""
    order = np.lexsort((-score, query))
    sizes = np.bincount(query)
    rank = np.empty(len(query), np.int64)
    rank[order] = np.arange(len(query)) - (np.cumsum(sizes) - sizes)[query[order]]
    return np.where(rank < cutoff, 1 / np.log2(rank + 2.0), 0.0)
