"""Many tests at once: p values that allow for how often one looked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Bools, Floats


def holm(p: npt.ArrayLike) -> Floats:
    """Holm's adjusted p values: all those below 0.05 together are wrong even once in at most 5 % of studies.

    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]

    Use it when a single false alarm would be costly. It needs no assumption about how the tests depend on each
    other. A test that is undefined (NaN) stays so and is not counted.

    Reference: Holm, A Simple Sequentially Rejective Multiple Test Procedure (Scandinavian Journal of Statistics 1979).
    """
    values, known, order = _sorted(p)
    steps = np.arange(len(order), 0, -1)
    return _back(values, known, order, np.maximum.accumulate(values[known][order] * steps))


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Benjamini and Hochberg's adjusted p values: of all those below 0.05, about 5 % at most are false alarms.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.04, 0.04]

    Use it when looking through many slices for some that are worth a look; where nothing is there, it finds
    anything at all in at most 5 % of studies. It holds for tests that are independent or rise together. A test that
    is undefined (NaN) stays so and is not counted.

    Reference: Benjamini and Hochberg, Controlling the False Discovery Rate (JRSS B 1995).
    """
    values, known, order = _sorted(p)
    n = len(order)
    scaled = values[known][order] * n / np.arange(1, n + 1)
    return _back(values, known, order, np.minimum.accumulate(scaled[::-1])[::-1])


def _sorted(p: npt.ArrayLike) -> tuple[Floats, Bools, npt.NDArray[np.intp]]:
    values = np.asarray(p, dtype=np.float64)
    known = ~np.isnan(values)
    return values, known, np.argsort(values[known], kind="stable")


def _back(values: Floats, known: Bools, order: npt.NDArray[np.intp], adjusted: Floats) -> Floats:
    """The adjusted values in the places that the tests had."""
    in_place = np.empty(len(order))
    in_place[order] = np.minimum(adjusted, 1.0)
    result = np.full_like(values, np.nan)
    result[known] = in_place
    return result
