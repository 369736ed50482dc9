"""Figures of agreement from what pairs of labels add up to, and their intervals when queries are drawn again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.stats import Resampling
from karat.stats.kappas import (
    cohen_kappa,
    fleiss_kappa,
    jaccard,
    krippendorff_alpha,
    raw_agreement,
    within_agreement,
)

Floats = npt.NDArray[np.float64]

#: The figures with intervals, in the order of the columns.
FIGURES = (
    "raw",
    "within_one",
    "cohen",
    "cohen_linear",
    "cohen_quadratic",
    "fleiss",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "jaccard",
)
#: Those that are shares; the others are agreement beyond chance, which may be below 0.
SHARES = ("raw", "within_one", "jaccard")
#: How many numbers of resampled tables to hold at once.
AT_ONCE = 4_000_000


def figures_of(by_item: Floats, by_label: Floats, table: Floats, grades: Floats, at: float) -> Floats:
    """All figures of a stack of tables: figures x tables."""
    return np.stack(
        [
            raw_agreement(by_item),
            within_agreement(by_item, grades),
            cohen_kappa(table),
            cohen_kappa(table, grades, "linear"),
            cohen_kappa(table, grades, "quadratic"),
            fleiss_kappa(by_item),
            krippendorff_alpha(by_label, grades, "nominal"),
            krippendorff_alpha(by_label, grades, "ordinal"),
            krippendorff_alpha(by_label, grades, "interval"),
            jaccard(by_item, grades, at),
        ]
    )


def resampled_figures(cells: Floats, grades: Floats, at: float, resampling: Resampling) -> Floats:
    """The figures of resampled queries, figures x draws."""
    queries, kinds, levels = cells.shape[:3]
    flat = cells.reshape(queries, -1)
    at_once = max(1, AT_ONCE // flat.shape[1])
    found = []
    for times in resampling.times(queries):
        for start in range(0, len(times), at_once):
            summed = (times[start : start + at_once] @ flat).reshape(-1, kinds, levels, levels)
            found.append(figures_of(summed[:, 0], summed[:, 1], summed[:, 2], grades, at))
    return np.concatenate(found, axis=1)
