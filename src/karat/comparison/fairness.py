"""Is the judge fair to both systems? What gold labels say about errors that favour one of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from karat.estimate.estimate import Estimate
from karat.estimate.pool import Pool
from karat.records.result import Caution
from karat.stats.arrays import Bools
from karat.stats.many import holm


class Favour(NamedTuple):
    """The system that the labels' errors favour, by how much, and its p; none where it cannot be told."""

    system: str
    by: float
    p: float

    def shown(self, alpha: float) -> bool:
        """Whether it is more than chance."""
        return self.p < alpha


def favour(estimates: dict[str, Estimate]) -> Favour | None:
    """Which system the labels' errors favour: the labels as they are against the prediction-powered score.

    The latter is right for any judge. Where the labels differ from it by more than chance, their errors do not cancel
    between the systems.
    """
    plain, right = estimates.get("plain"), estimates.get("ppi")
    if plain is None or right is None or plain.values is None or right.values is None:
        return None
    gap, (a, b), p = _widest_gap(plain, right)
    if np.isnan(p):
        return None
    by = gap.difference(a, b).difference
    return Favour(right.systems[b if by > 0 else a], abs(by), p)


def fairness(estimates: dict[str, Estimate], alpha: float) -> list[str]:
    """Whether the labels' errors favour a system, in words.

    Inversion takes errors to depend on the true grade alone: where it differs, too, it is not to be trusted.
    """
    found = favour(estimates)
    if found is None:
        return []
    if not found.shown(alpha):
        return [f"no sign that the labels' errors favour a system (p = {found.p:.2f})"]
    said = "p < 0.001" if found.p < 0.001 else f"p = {found.p:.3f}"
    notes: list[str] = [
        Caution(
            f"the labels' errors favour {found.system}, by {found.by:.3f} ({said}): taken as they are, the labels "
            "mislead about the difference"
        )
    ]
    inverted, right = estimates.get("inversion"), estimates["ppi"]
    if inverted is not None and inverted.values is not None and _widest_gap(inverted, right)[2] < alpha:
        notes.append("inversion takes the judge's errors to depend on the true grade alone, which they do not here")
    return notes


def _widest_gap(one: Estimate, right: Estimate) -> tuple[Estimate, tuple[int, int], float]:
    """The differences between two methods, the pair of systems where they are clearest, and its p among all pairs."""
    assert one.values is not None
    assert right.values is not None
    gaps = one.values - right.values
    gaps[np.abs(gaps) < 1e-12] = 0.0  # rounding has no side
    gap = Estimate.of_values("gap", one.systems, gaps, df=right.df)
    pairs = [(a, b) for a in range(len(one.systems)) for b in range(a + 1, len(one.systems))]
    p = holm([gap.difference(a, b).p for a, b in pairs])
    if np.isnan(p).all():
        return gap, (0, 0), np.nan
    place = int(np.nanargmin(p))
    return gap, pairs[place], float(p[place])


def judge_by_kind(pool: Pool, level: float) -> pl.DataFrame | None:
    """How far the labels' gains are off on documents of each kind: whose they are, where they stand.

    A row per kind: `error` = gain by the label less gain by gold, weighted by what each gold label stands for, with an
    interval that allows for documents of one query erring alike, and the number of gold labels.
    """
    if not pool.drawn.any():
        return None
    shown = pool.weight != 0
    kinds: list[tuple[str, Bools]] = [("all", np.ones(len(pool.gold), bool))]
    if len(pool.systems) == 2:
        kinds += [(f"only {name}", shown[:, s] & ~shown[:, 1 - s]) for s, name in enumerate(pool.systems)]
        kinds.append(("both", shown.all(axis=1)))
    else:
        kinds += [(f"shown by {name}", shown[:, s]) for s, name in enumerate(pool.systems)]
    bands = ((1, 3), (4, 10), (11, 10**9))
    for low, high in bands:
        name = f"rank {low} to {high}" if high < 10**9 else f"rank {low} on"
        kinds.append((name, (pool.rank >= low) & (pool.rank <= high)))
    rows = [(name, *_error(pool, which & pool.drawn, level)) for name, which in kinds if (which & pool.drawn).any()]
    return pl.DataFrame(rows, schema=["documents", "error", "low", "high", "gold"], orient="row")


def _error(pool: Pool, which: Bools, level: float) -> tuple[float, float, float, int]:
    from scipy.special import stdtrit

    error, weight = pool.predicted[which] - pool.gold[which], pool.inverse[which]
    mean = float((weight * error).sum() / weight.sum())
    queries = np.unique(pool.query[which], return_inverse=True)[1]
    groups = int(queries.max()) + 1
    if groups < 2:
        return mean, np.nan, np.nan, int(which.sum())
    off = np.bincount(queries, weight * (error - mean)) / weight.sum()
    spread = float(np.sqrt((off**2).sum() * groups / (groups - 1)))
    if spread == 0.0:
        return mean, np.nan, np.nan, int(which.sum())
    half = spread * float(stdtrit(groups - 1, (1 + level) / 2))
    return mean, mean - half, mean + half, int(which.sum())
