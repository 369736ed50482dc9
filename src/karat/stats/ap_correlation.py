"""AP correlation: how alike two rankings are, the top counting more than the bottom."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Floats


def tau_ap(truth: npt.ArrayLike, estimate: npt.ArrayLike) -> float:
    """AP correlation of an estimated ranking with the true one; equal estimates as if ordered at random.

    >>> round(tau_ap([0.9, 0.8, 0.5, 0.1], [0.9, 0.5, 0.8, 0.1]), 4)
    0.6667

    Both are scores, the highest the best. For each but the first item of the estimated ranking: the share of the
    items above it that are rightly there, scaled to -1..1; the mean over items. With ties in the estimate it is the
    mean over all their orders (Urbano and Marrero's tau_AP,a); items that are tied in truth are neither right nor
    wrong. NaN for fewer than two items. It is not symmetric: where neither ranking is the truth, use `tau_ap_b`.

    Reference: Yilmaz, Aslam and Robertson (SIGIR 2008); Urbano and Marrero, The Treatment of Ties in AP Correlation
    (ICTIR 2017).
    """
    x, y = np.asarray(truth, np.float64), np.asarray(estimate, np.float64)
    return tau_ap_rows(x[None, :], y[None, :]).item()


def tau_ap_rows(truth: Floats, estimate: Floats) -> Floats:
    """AP correlation of each row of estimates with the same row of true scores, as `tau_ap` has it.

    >>> tau_ap_rows(np.array([[3.0, 2.0, 1.0]] * 2), np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])).tolist()
    [1.0, -1.0]
    """
    n = truth.shape[1]
    if n < 2:
        return np.full(len(truth), np.nan)
    over = estimate[:, None, :] > estimate[:, :, None]
    right = (np.sign(truth[:, None, :] - truth[:, :, None]) * over).sum(axis=2)
    above, size = over.sum(axis=2), (estimate[:, None, :] == estimate[:, :, None]).sum(axis=2)
    # The mean of 1 / (items above) over the places that a tied item may take; the first place has none above.
    inverse = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n))])
    weight = (inverse[np.maximum(above + size - 1, 0)] - inverse[np.maximum(above - 1, 0)]) / np.maximum(size, 1)
    unknown = np.isnan(truth).any(axis=1) | np.isnan(estimate).any(axis=1)
    found: Floats = np.where(unknown, np.nan, (right * weight).sum(axis=1) / (n - 1))
    return found


def tau_ap_b(one: npt.ArrayLike, two: npt.ArrayLike) -> float:
    """AP correlation of two rankings of which neither is the truth, ties allowed in both.

    >>> round(tau_ap_b([0.9, 0.8, 0.5, 0.5], [0.9, 0.5, 0.8, 0.1]), 4)
    0.5556

    Each ranking is in turn taken for the truth; items tied for the first place have nothing above them and are left
    out, others look at those strictly above, of which one that is not above in the other ranking is wrong, tied or
    not: 1 is for equal rankings with equal ties. NaN where all items of a ranking are tied.

    Reference: Urbano and Marrero, The Treatment of Ties in AP Correlation (ICTIR 2017), tau_AP,b.
    """
    x, y = np.asarray(one, np.float64), np.asarray(two, np.float64)
    return (_one_way(x, y) + _one_way(y, x)) / 2


def _one_way(truth: Floats, estimate: Floats) -> float:
    if len(truth) < 2 or np.isnan(truth).any() or np.isnan(estimate).any():
        return np.nan
    above = estimate > estimate[:, None]
    number = above.sum(axis=1)
    right = (above & (truth > truth[:, None])).sum(axis=1)
    below = number > 0
    return float((2 * right[below] / number[below] - 1).mean()) if below.any() else np.nan
