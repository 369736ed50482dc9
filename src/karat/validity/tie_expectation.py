"""Scores of rankings with ties, exactly: the expectation over all orders of documents that were ranked alike.

A ranking is a table: of the documents that the ranking judge gave a level (rows, best first), how many the scoring
judge gave which level (columns). Many such tables are scored at once.

Reference: McSherry and Najork, Computing information retrieval performance measures efficiently in the presence of tied
scores (ECIR 2008).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from karat.measures.graded import DiscountLike, discount_named
from karat.stats.arrays import Floats


def tied_gap(tables: Floats, worth: Floats) -> Floats:
    """The GAP of each ranking, with what the scoring levels are worth; with 0 and 1 it is AP. NaN if none is worth any.

    >>> tied_gap(np.array([[[1, 0], [1, 1]]]), np.array([1.0, 0.0])).round(4).tolist()  # 1, then 1 and 0 in any order
    [0.9167]
    """
    found, best = np.zeros(len(tables)), np.zeros(len(tables))
    steps = np.unique(np.append(worth, 0.0))
    for low, high in pairwise(steps):
        relevant = tables[:, :, worth >= high].sum(axis=2)
        found += (high - low) * _precisions(tables.sum(axis=2), relevant)
        best += (high - low) * relevant.sum(axis=1)
    return _by(found, best)


def tied_ndcg(tables: Floats, worth: Floats, discount: DiscountLike = "log2") -> Floats:
    """The nDCG of each ranking, with what the scoring levels are worth; NaN where nothing is.

    >>> tied_ndcg(np.array([[[1, 0], [1, 1]]]), np.array([1.0, 0.0]), "zipf").round(4).tolist()
    [0.9444]

    That is (1 + (1/2 + 1/3) / 2) / (1 + 1/2).
    """
    size, best = tables.sum(axis=2), np.argsort(-worth, kind="stable")
    ranks = np.arange(1, int(size.sum(axis=1).max(initial=0)) + 1)
    sums = np.append(0.0, np.cumsum(discount_named(discount)(ranks)))
    mean = _by(tables @ worth, size, 0.0)
    gained = (mean * _between(sums, size)).sum(axis=1)
    return _by(gained, _between(sums, tables.sum(axis=1)[:, best]) @ worth[best])


def _precisions(size: Floats, relevant: Floats) -> Floats:
    """The precisions at the relevant documents of each ranking, summed; groups of ties in columns, best first."""
    before, found = np.cumsum(size, axis=1) - size, np.cumsum(relevant, axis=1) - relevant
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, int(size.sum(axis=1).max(initial=0)) + 1)))
    # At place i of a group a document is relevant by chance r/n; so are, by (r-1)/(n-1), those of the group above it.
    share, others = _by(relevant, size, 0.0), _by(relevant - 1, size - 1, 0.0)
    ranks = _between(harmonic, size)
    precisions: Floats = (share * ((found + 1) * ranks + others * (size - (before + 1) * ranks))).sum(axis=1)
    return precisions


def _between(sums: Floats, size: Floats) -> Floats:
    """What a running sum over ranks gains within each of the groups that follow each other."""
    end = np.cumsum(size, axis=1).astype(np.int64)
    return sums[end] - sums[end - size.astype(np.int64)]


def _by(part: Floats, whole: Floats, otherwise: float = np.nan) -> Floats:
    out = np.full(np.shape(part), otherwise)
    np.divide(part, whole, out=out, where=whole > 0)
    return out
