"""LambdaRank in folds by query: every query is ranked by a model that never saw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, MissingExtra
from karat.measures.gains import Gains
from karat.records.table import pairs_within
from karat.stats.arrays import Bools, Floats, Ints

#: As many documents as lightgbm takes for one query.
MOST_DOCUMENTS = 10_000
ROUNDS = 200
PATIENCE = 20


@dataclass(frozen=True, eq=False)
class Pool:
    """The documents that may be learnt from or ranked, query by query, with their features."""

    #: The number of each row's query; the rows of a query stand together.
    query: Ints
    features: Floats
    columns: tuple[str, ...]
    #: The part, from 0, that each query belongs to.
    part: Ints
    folds: int

    @classmethod
    def of(cls, documents: pl.DataFrame, folds: int, fold_seed: int) -> Pool:
        """The pool of these documents, sorted by query, in so many parts; columns beside query and doc are features."""
        if folds < 3:
            expected = "3 folds or more: to learn from, to stop by, to test on"
            raise BadInput.at("folds", expected=expected, found=str(folds))
        query = documents.select(pl.col("query").rle_id()).to_series().to_numpy().astype(np.int64)
        size = np.bincount(query)
        if len(size) < folds:
            expected = f"at least as many queries as folds ({folds})"
            raise BadInput.at("the judgments", expected=expected, found=f"{len(size)}")
        if size.max() > MOST_DOCUMENTS:
            longest = documents["query"][int(np.searchsorted(query, size.argmax()))]
            expected = f"at most {MOST_DOCUMENTS:,} labelled documents"
            raise BadInput.at(f"query {longest}", expected=expected, found=f"{size.max():,}")
        columns = [name for name in documents.columns if name not in ("query", "doc")]
        features = documents.select(columns).to_numpy().astype(np.float64)
        return cls(query, features, tuple(columns), parts_of(len(size), folds, fold_seed), folds)

    def rows(self, *parts: int) -> Bools:
        """Which rows belong to queries of these parts."""
        return np.isin(self.part, parts)[self.query]


def library() -> Any:
    """The lightgbm library, or the error that says how to get it."""
    try:
        import lightgbm
    except ImportError:
        raise MissingExtra.named("train", "training rankers") from None
    except OSError as error:
        raise MissingExtra(f"training rankers: lightgbm does not load ({error}); install the OpenMP library") from None
    return lightgbm


def parts_of(queries: int, folds: int, seed: int) -> Ints:
    """A part for each query, at random, all parts alike in size to within one.

    >>> np.bincount(parts_of(23, 5, seed=0)).tolist()
    [5, 5, 5, 4, 4]
    """
    part = np.empty(queries, np.int64)
    part[np.random.default_rng(seed).permutation(queries)] = np.arange(queries) % folds
    return part


def rotation(folds: int) -> list[tuple[list[int], int, int]]:
    """The parts to learn from, to stop by, and to test on, each part tested once.

    >>> rotation(3)
    [([2], 1, 0), ([0], 2, 1), ([1], 0, 2)]
    """
    turns = ((test, (test + 1) % folds) for test in range(folds))
    return [([part for part in range(folds) if part not in turn], turn[1], turn[0]) for turn in turns]


def out_of_fold(pool: Pool, label: Floats, columns: Sequence[str], gains: Gains, cutoff: int, seed: int) -> Floats:
    """The score of every document by the model that did not see its query; NaN if one had nothing to learn from.

    `label` has NaN for documents without one: they are scored, not learnt from.
    """
    wanted = [pool.columns.index(name) for name in columns]
    features = np.ascontiguousarray(pool.features[:, wanted])
    # Lightgbm takes whole grades from 0: labels are numbered in order, and the gains say what each is worth.
    known = ~np.isnan(label)
    levels = np.unique(label[known])
    grade = np.searchsorted(levels, np.where(known, label, levels[:1] if len(levels) else 0.0))
    worth = gains.apply(levels)
    scores = np.full(len(label), np.nan)
    for learn, stop, test in rotation(pool.folds):
        rows, held, tested = pool.rows(*learn) & known, pool.rows(stop) & known, pool.rows(test)
        if not _tells(pool.query[rows], worth[grade[rows]]):
            # Means over the other parts alone would be about other queries than those of the other rankers.
            return np.full(len(label), np.nan)
        model = _fit(pool, features, grade, rows, held, worth, cutoff, seed)
        scores[tested] = model.predict(features[tested], num_threads=1)
    return scores


def _tells(query: Ints, gain: Floats) -> bool:
    """Whether some query has documents of different worth: otherwise no order is better than another."""
    # The rows of a query stand together: it is enough to look at neighbours.
    return bool(((np.diff(gain) != 0) & (np.diff(query) == 0)).any())


def _fit(
    pool: Pool, features: Floats, grade: Ints, rows: Bools, held: Bools, worth: Floats, cutoff: int, seed: int
) -> Any:
    lightgbm = library()
    settings = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [cutoff],
        # One gain more than there are grades, as lightgbm wants more than one.
        "label_gain": [*worth.tolist(), float(worth[-1])],
        "lambdarank_truncation_level": max(2 * cutoff, 2),
        "learning_rate": 0.1,
        "num_leaves": 8,
        # Leaves of many documents: a feature that is chaff must not cost what small leaves would learn from it.
        "min_data_in_leaf": max(1, min(100, int(rows.sum()) // 10)),
        "min_sum_hessian_in_leaf": 1e-6,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }

    def dataset(which: Bools, like: Any = None) -> Any:
        sizes = np.bincount(pool.query[which])
        given = {"label": grade[which], "group": sizes[sizes > 0], "reference": like, "params": settings}
        return lightgbm.Dataset(features[which], **given, free_raw_data=True)

    learn = dataset(rows)
    if not _tells(pool.query[held], worth[grade[held]]):
        # Nothing to stop by: a short training on all there is.
        return lightgbm.train(settings, learn, num_boost_round=PATIENCE)
    stop = dataset(held, learn)
    return lightgbm.train(
        settings,
        learn,
        num_boost_round=ROUNDS,
        valid_sets=[stop],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )


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
