"""Figures of agreement from what pairs of labels add up to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.stats.arrays import Floats
from karat.stats.kappas import (
    cohen_kappa,
    fleiss_kappa,
    jaccard,
    krippendorff_alpha,
    raw_agreement,
    within_agreement,
)

#: The figures with intervals, in the order of the columns: of pairs by item, pairs by label, and two sides.
FIGURES: dict[str, Callable[[Floats, Floats, Floats, Floats, float], Floats]] = {
    "raw": lambda items, labels, sides, grades, at: raw_agreement(items),
    "within_one": lambda items, labels, sides, grades, at: within_agreement(items, grades),
    "cohen": lambda items, labels, sides, grades, at: cohen_kappa(sides),
    "cohen_linear": lambda items, labels, sides, grades, at: cohen_kappa(sides, grades, "linear"),
    "cohen_quadratic": lambda items, labels, sides, grades, at: cohen_kappa(sides, grades, "quadratic"),
    "fleiss": lambda items, labels, sides, grades, at: fleiss_kappa(items),
    "alpha_nominal": lambda items, labels, sides, grades, at: krippendorff_alpha(labels, grades, "nominal"),
    "alpha_ordinal": lambda items, labels, sides, grades, at: krippendorff_alpha(labels, grades, "ordinal"),
    "alpha_interval": lambda items, labels, sides, grades, at: krippendorff_alpha(labels, grades, "interval"),
    "jaccard": lambda items, labels, sides, grades, at: jaccard(items, grades, at),
}
#: Those that are shares; the others are agreement beyond chance, which may be below 0.
SHARES = ("raw", "within_one", "jaccard")


def figures_of(tables: Floats, grades: Floats, at: float) -> Floats:
    """All figures (figures x tables) of tables x 3 x grades x grades: by item, by label, two sides."""
    items, labels, sides = np.moveaxis(tables, 1, 0)
    return np.stack([figure(items, labels, sides, grades, at) for figure in FIGURES.values()])
