"""Sums by group, all groups at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Floats


def totals(group: npt.NDArray[np.integer], values: npt.NDArray[np.floating | np.bool_], groups: int) -> Floats:
    """The sum of the values of each group, 0 for a group without any.

    >>> totals(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [1.0, 0.0, 5.0, 0.0]
    """
    summed: Floats = np.bincount(group, weights=values, minlength=groups).astype(np.float64, copy=False)
    return summed
