"""Sums, means, places and variances by group, all groups at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Floats, Ints


def totals(group: npt.NDArray[np.integer], values: npt.NDArray[np.floating | np.bool_], groups: int) -> Floats:
    """The sum of the values of each group, 0 for a group without any.

    >>> totals(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [1.0, 0.0, 5.0, 0.0]
    """
    summed: Floats = np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)
    return summed


def centred(group: Ints, values: Floats) -> Floats:
    """Each value less the mean of its group.

    >>> centred(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0])).tolist()
    [0.0, -0.5, 0.5]
    """
    size = np.maximum(np.bincount(group), 1)
    rest: Floats = values - (totals(group, values, len(size)) / size)[group]
    return rest


def place_within(group: Ints) -> Ints:
    """The place of each row among those of its group, from 0, in the order of the rows.

    >>> place_within(np.array([0, 1, 0, 0])).tolist()
    [0, 0, 1, 2]
    """
    order, size = np.argsort(group, kind="stable"), np.bincount(group)
    place = np.empty(len(group), np.int64)
    place[order] = np.arange(len(group)) - (np.cumsum(size) - size)[group[order]]
    return place


def variance_components(group: Ints, values: Floats) -> tuple[float, float]:
    """The variance of values within groups, and that of the groups, by the analysis of variance.

    >>> variance_components(np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 4.0, 6.0]))
    (2.0, 7.0)
    """
    size = np.bincount(np.unique(group, return_inverse=True)[1])
    rows, within = len(values), float(np.square(centred(group, values)).sum())
    between = float(np.square(values - values.mean()).sum()) - within
    within /= rows - len(size)
    beyond = (between - (len(size) - 1) * within) / (rows - float((size**2).sum()) / rows)
    return within, max(beyond, 0.0)
