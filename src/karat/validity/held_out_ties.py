"""The share of ties with which measures agree best with weak and strong preferences at once, on other queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.stats.arrays import Floats, Ints
from karat.stats.kappas import cohen_kappa
from karat.validity.sign_tables import sign_tables

#: Parts of the queries, each held out in turn.
FOLDS = 5


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The part of each pair's query, and the share of ties that was chosen for each part on all the others."""

    fold: Ints
    share: Floats

    @property
    def mean(self) -> float:
        """The share of ties that pairs were asked for, on the mean."""
        return float(self.share[self.fold].mean())

    def tables(self, apart: Floats, sign: Ints, times: Floats) -> tuple[Floats, Floats]:
        """Tables of signs as `sign_tables` has them, and thresholds: every part with the share chosen without it."""
        number = np.bincount(self.fold, minlength=len(self.share))
        parts = [
            sign_tables(apart, sign, [share], times, counted=times * (self.fold == part))
            for part, share in enumerate(self.share)
        ]
        whole: Floats = np.sum([tables for tables, _ in parts], axis=0)
        reach: Floats = np.average([t for _, t in parts], axis=0, weights=number)
        return whole, reach


def best_for_both(apart: Floats, sign: Ints, query: Ints, shares: Sequence[float], *, seed: int) -> HeldOut | None:
    """The share of ties with the highest kappas, for each part of the queries chosen on the other parts.

    >>> apart = np.tile([[3.0], [0.1], [-0.2], [-2.0]], (5, 1))
    >>> users = np.tile([[1, 1], [1, 0], [1, 0], [-1, -1]], (5, 1))
    >>> best_for_both(apart, users, np.repeat(np.arange(5), 4), [0.0, 0.5, 1.0], seed=0).share.tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5]

    `apart` is pairs x measures, `sign` pairs x (weak, strong). One share serves all measures, as in the paper: that
    with the highest sum of both kappas, on the mean over the measures (of equally good ones the smallest). Kappa, and
    not the share of agreement, is maximised: where users mostly tie, tying always would win by the latter. None where
    there are fewer than two queries.
    """
    queries = np.unique(query)
    folds = min(FOLDS, len(queries))
    if folds < 2:
        return None
    fold = (np.random.default_rng(seed).permutation(len(queries)) % folds)[np.searchsorted(queries, query)]
    others = (fold[None, :] != np.arange(folds)[:, None]).astype(np.float64)
    worth = np.zeros((len(shares), folds))
    for column in apart.T:
        tables, _ = sign_tables(column, sign, shares, others)
        worth += np.nan_to_num(cohen_kappa(tables)).sum(axis=1)
    best = (worth >= worth.max(axis=0) - 1e-12).argmax(axis=0)
    return HeldOut(fold, np.asarray(shares, dtype=np.float64)[best])
