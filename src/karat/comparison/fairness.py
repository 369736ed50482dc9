"""Is the judge fair to both systems? What gold labels say about errors that favour one of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.estimate.estimate import Estimate
from karat.estimate.pool import Pool
from karat.stats.many import holm

Bools = npt.NDArray[np.bool_]


def fairness(estimates: dict[str, Estimate], alpha: float) -> list[str]:
    """What the gap between inversion and the prediction-powered score says: the first trusts the judge to be fair.

    Both are right for a judge whose errors depend on the true grade alone. Where they differ by more than chance, the
    errors depend on something in which the systems differ, and only the latter still holds.
    """
    if "inversion" not in estimates or "ppi" not in estimates:
        return []
    one, other = estimates["inversion"], estimates["ppi"]
    if one.values is None or other.values is None:
        return []
    gap = Estimate.of_values("gap", one.systems, one.values - other.values, df=other.df)
    pairs = [(a, b) for a in range(len(one.systems)) for b in range(a + 1, len(one.systems))]
    p = holm([gap.difference(a, b).p for a, b in pairs])
    if np.isnan(p).all():
        return []
    worst = int(np.nanargmin(p))
    a, b = pairs[worst]
    if p[worst] >= alpha:
        return [f"no sign that the judge favours a system (p = {p[worst]:.2f}): inversion and ppi agree within chance"]
    favoured = other.systems[b] if gap.difference(a, b).difference > 0 else other.systems[a]
    said = "p < 0.001" if p[worst] < 0.001 else f"p = {p[worst]:.3f}"
    return [
        f"the judge is not fair to both: its errors favour {favoured} ({said}); inversion, which takes them to depend "
        "on the true grade alone, is not to be trusted here, and ppi is"
    ]


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
