"""Agreement beyond chance: raw, Fleiss, Cohen, Krippendorff, Jaccard, from small tables that add up.

Every figure here comes from a table of levels x levels: how often two labels of one item were these two. Such tables
add up over items and over queries, so that a bootstrap over queries is one matrix product, and a stack of tables
(draws x levels x levels) gives a vector of figures. What is undefined is NaN: no pair of labels, or labels all alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from karat.stats.arrays import Floats, totals

Ints = npt.NDArray[np.integer]

#: How many numbers to hold at once where items x levels x levels would be too many.
AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class PairSums:
    """Pairs of labels of one item, added up over the items of each cell (a query, say)."""

    #: Cells x levels x levels; the pairs of an item add up to 1. Its sum is the number of items.
    by_item: Floats
    #: Cells x levels x levels; the pairs of an item add up to its number of labels: Krippendorff's coincidences.
    by_label: Floats
    #: Cells; the sum of 2/(m(m-1)) over items with m labels, which the test against chance needs.
    spread: Floats


def label_counts(item: Ints, level: Ints, items: int, levels: int) -> Floats:
    """How many labels of each level each item has, from one row per label.

    >>> label_counts(np.array([0, 0, 1]), np.array([2, 2, 0]), 2, 3).tolist()
    [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]
    """
    place = item.astype(np.int64) * levels + level
    return totals(place, np.ones(len(place)), items * levels).reshape(items, levels)


def pair_sums(counts: Floats, cell: Ints, cells: int) -> PairSums:
    """The pairs of labels within items, from counts (items x levels) and the cell of each item.

    >>> pair_sums(np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([0, 0]), 1).by_label.tolist()
    [[[1.0, 1.0], [1.0, 0.0]]]

    Items with fewer than two labels have no pairs and count nowhere. An item with m labels has m(m-1) ordered pairs;
    each counts 1/(m(m-1)) in `by_item` and 1/(m-1) in `by_label`.
    """
    levels = counts.shape[1]
    number = counts.sum(axis=1)
    paired = np.flatnonzero(number >= 2)
    paired = paired[np.argsort(cell[paired], kind="stable")]
    by_item, by_label = np.zeros((2, cells, levels, levels))
    at_once = max(1, AT_ONCE // levels**2)
    for start in range(0, len(paired), at_once):
        some = paired[start : start + at_once]
        c, m, where = counts[some], number[some], cell[some]
        starts = np.flatnonzero(np.append(True, where[1:] != where[:-1]))
        pairs = c[:, :, None] * c[:, None, :]
        pairs[:, np.arange(levels), np.arange(levels)] -= c
        pairs /= (m - 1)[:, None, None]
        by_label[where[starts]] += np.add.reduceat(pairs, starts, axis=0)
        pairs /= m[:, None, None]
        by_item[where[starts]] += np.add.reduceat(pairs, starts, axis=0)
    m = number[paired]
    return PairSums(by_item, by_label, totals(cell[paired], 2 / (m * (m - 1)), cells))


def cross_table(cell: Ints, first: Ints, second: Ints, cells: int, levels: int) -> Floats:
    """How often one side said the row's level and the other the column's, in each cell.

    >>> cross_table(np.array([0, 0]), np.array([0, 1]), np.array([1, 1]), 1, 2).tolist()
    [[[0.0, 1.0], [0.0, 1.0]]]
    """
    place = (cell.astype(np.int64) * levels + first) * levels + second
    # Counted as floats from the start: counts of whole numbers would be in memory twice.
    return totals(place, np.ones(len(place)), cells * levels**2).reshape(cells, levels, levels)


def raw_agreement(pairs: Floats) -> Floats:
    """The share of pairs of labels that are equal.

    >>> raw_agreement(np.array([[3.0, 1.0], [0.0, 1.0]])).item()
    0.8
    """
    return _share(np.trace(pairs, axis1=-2, axis2=-1), pairs.sum(axis=(-2, -1)))


def within_agreement(pairs: Floats, grades: Floats) -> Floats:
    """The share of pairs of labels that lie at most one grade apart.

    >>> within_agreement(np.array([[3.0, 1.0], [0.0, 1.0]]), np.array([0.0, 1.0])).item()
    1.0
    """
    near = np.abs(grades[:, None] - grades) <= 1
    return _share((pairs * near).sum(axis=(-2, -1)), pairs.sum(axis=(-2, -1)))


def jaccard(pairs: Floats, grades: Floats, at: float) -> Floats:
    """The overlap of two judges: both say this grade or a higher one, of all that one of them does.

    >>> jaccard(np.array([[3.0, 1.0], [0.0, 1.0]]), np.array([0.0, 1.0]), 1).item()
    0.5

    With more than two judges per item, both and either are added up over pairs of judges, each item counting once.
    NaN where nobody says so. Reference: Voorhees, Variations in Relevance Judgments (IP&M 2000).
    """
    high = grades >= at
    both = (pairs * np.outer(high, high)).sum(axis=(-2, -1))
    either = (pairs * (high[:, None] | high)).sum(axis=(-2, -1))
    return _share(both, either)


def fleiss_kappa(by_item: Floats) -> Floats:
    """Fleiss' kappa, also where items have different numbers of judges.

    >>> fleiss_kappa(pair_sums(np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.zeros(3, int), 1).by_item).round(4)
    array([0.3333])

    Agreement is the share of agreeing pairs of an item, averaged over items with two labels or more. Chance is the sum
    of squared shares of the levels, where a level's share is likewise averaged over those items (labels of the level /
    labels of the item): every item counts once in both, whoever judged it. With equal numbers of judges this is
    Fleiss' kappa (Psychological Bulletin 1971); with two it is Scott's pi.
    """
    total = by_item.sum(axis=(-2, -1))
    share = _share(by_item.sum(axis=-1), total[..., None])
    chance = (share**2).sum(axis=-1)
    return _share(raw_agreement(by_item) - chance, 1 - chance)


def fleiss_test(by_item: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Whether Fleiss' kappa differs from 0: z and two-sided p if every label were given by chance alone.

    >>> sums = pair_sums(np.tile([[3.0, 0.0], [0.0, 3.0]], (5, 1)), np.zeros(10, int), 1)
    >>> z, p = fleiss_test(sums.by_item, sums.spread)
    >>> z.round(3).item(), p.item() < 0.001
    (5.477, True)

    With shares p_k of the levels, S2 and S3 the sums of their squares and cubes, and m labels on an item, its agreeing
    pairs less what their labels lead one to expect have the variance 2/(m(m-1)) (S2 + S2^2 - 2 S3). The variance of
    kappa is the sum of these over the N items, divided by (N (1 - S2))^2. For equal m this is the variance of Fleiss,
    Nee and Landis (Psychological Bulletin 1979); nothing in its derivation needs m to be equal. It does need m not to
    depend on the labels, and enough items (some 50) for the normal distribution.
    """
    total = by_item.sum(axis=(-2, -1))
    share = _share(by_item.sum(axis=-1), total[..., None])
    squares, cubes = (share**2).sum(axis=-1), (share**3).sum(axis=-1)
    variance = _share(spread * np.maximum(squares + squares**2 - 2 * cubes, 0), (total * (1 - squares)) ** 2)
    z = _share(fleiss_kappa(by_item), np.sqrt(variance))
    p = np.array([erfc(abs(value) / sqrt(2)) for value in z.ravel()]).reshape(z.shape)
    return z, p


def cohen_kappa(
    table: Floats, grades: Floats | None = None, weights: Literal["linear", "quadratic"] | None = None
) -> Floats:
    """Cohen's kappa of two sides from their cross table; with weights, near misses count as partly right.

    >>> table = np.array([[20.0, 5.0], [10.0, 15.0]])
    >>> cohen_kappa(table).round(4).item()
    0.4

    Weighted kappa takes the distance of two grades (linear) or its square (quadratic) as the size of a disagreement,
    by the grades' values and not by their places on the scale. Unlike Fleiss' kappa it grants each side its own habits.
    Reference: Cohen (Educational and Psychological Measurement 1960; Psychological Bulletin 1968).
    """
    total = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    expected = rows[..., :, None] * columns[..., None, :]
    distance = 1 - np.eye(table.shape[-1])
    if weights is not None:
        values = np.arange(float(table.shape[-1])) if grades is None else grades
        distance = np.abs(values[:, None] - values) ** (1 if weights == "linear" else 2)
    seen, by_chance = (table * distance).sum(axis=(-2, -1)), (expected * distance).sum(axis=(-2, -1))
    return 1 - _share(seen * total, by_chance)


def krippendorff_alpha(
    coincidences: Floats, grades: Floats, kind: Literal["nominal", "ordinal", "interval"] = "ordinal"
) -> Floats:
    """Krippendorff's alpha from a coincidence matrix (`PairSums.by_label`), for any number of judges, with gaps.

    >>> sums = pair_sums(np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 2.0]]), np.zeros(3, int), 1)
    >>> krippendorff_alpha(sums.by_label, np.arange(3.0), "ordinal").round(4)
    array([0.7778])

    Nominal counts every difference alike; ordinal goes by how many labels lie between the two; interval by the squared
    difference of the grades. An item counts as often as it has labels, and labels are drawn without replacement for
    what chance would do, so few labels do not flatter. Reference: Krippendorff, Content Analysis (2004), chapter 11.
    """
    number = coincidences.sum(axis=-1)
    total = number.sum(axis=-1)
    if kind == "nominal":
        distance = np.broadcast_to(1 - np.eye(coincidences.shape[-1]), coincidences.shape)
    else:
        # The labels between two levels, half of each included, are the difference of the levels' middle ranks.
        place = np.cumsum(number, axis=-1) - number / 2 if kind == "ordinal" else np.broadcast_to(grades, number.shape)
        distance = (place[..., :, None] - place[..., None, :]) ** 2
    seen = (coincidences * distance).sum(axis=(-2, -1))
    by_chance = (number[..., :, None] * number[..., None, :] * distance).sum(axis=(-2, -1))
    return 1 - _share(seen * (total - 1), by_chance)


def _share(part: Floats, whole: Floats) -> Floats:
    """The part of the whole, NaN where there is no whole (or only what rounding leaves of none)."""
    whole = np.where(np.abs(whole) > 1e-12, whole, np.nan)
    shares: Floats = np.asarray(part / whole, dtype=np.float64)
    return shares
