"""Rank correlation from tables of levels x levels, which add up over queries."""

from __future__ import annotations

import numpy as np

from karat.stats.arrays import Floats


def spearman(table: Floats) -> Floats:
    """Spearman's rho of two gradings from their cross table, or of a stack of tables; ties have middle ranks.

    >>> spearman(np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 3.0]])).round(4).item()
    0.8912

    Grades come from a few levels, so a table of how often each two met tells all that the ranks do; and tables add up,
    so that a bootstrap over queries is one matrix product. NaN where one of the two is all alike, or there is nothing.

    Reference: Spearman (American Journal of Psychology 1904), as Pearson's r of middle ranks.
    """
    total = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    # Middle ranks less their mean, which is half of all plus a half.
    x, y = (np.cumsum(margin, axis=-1) - margin / 2 - total[..., None] / 2 for margin in (rows, columns))
    both = np.einsum("...i,...ij,...j->...", x, table, y)
    size = (rows * x**2).sum(axis=-1) * (columns * y**2).sum(axis=-1)
    size = np.where(size > 1e-12 * np.maximum(total, 1) ** 6, size, np.nan)
    rho: Floats = np.asarray(np.clip(both / np.sqrt(size), -1, 1), dtype=np.float64)
    return rho
