"""Do users disagree more under one condition than under another? Tests of p(T|i) between conditions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from karat.records import Result
from karat.stats.arrays import Floats, Ints
from karat.stats.correction import half_width, two_sided
from karat.stats.many import holm

#: A condition's name, p's numerator and denominator for queries x levels, and the number of each query.
Condition = tuple[str, Floats, Floats, Ints]


def condition_tests(conditions: Sequence[Condition], levels: Sequence[float], *, level: float = 0.95) -> Result:
    """The difference in p(T|i) between every two conditions, level by level, with its interval, p and Holm's p.

    p(T|i) is a ratio of sums over queries, told / asked; a query moves it by (told - p asked) / asked of all. The
    difference is moved by what its query moves one less what it moves the other, so that conditions of the same
    queries, such as ranks, are compared within them, and conditions of different queries, such as their kind, as two
    samples. Student's t with as many degrees of freedom as the condition of fewer queries has, less 1.
    """
    rows, n = [], 1 + max((int(query.max()) for _, _, _, query in conditions if len(query)), default=0)
    for place, grade in enumerate(levels):
        moved = {}
        for name, told, asked, query in conditions:
            whole = asked[:, place].sum()
            if whole <= 0:
                continue
            p = told[:, place].sum() / whole
            # By as many queries as have such a label: with few of them the sum of squares is too small.
            number = int((asked[:, place] > 0).sum())
            move = np.zeros(n)
            move[query] = (told[:, place] - p * asked[:, place]) / whole * np.sqrt(number / max(number - 1, 1))
            moved[name] = (p, move, number)
        for one, two in combinations(moved, 2):
            (p_one, move_one, n_one), (p_two, move_two, n_two) = moved[one], moved[two]
            freedom, difference = min(n_one, n_two) - 1, p_two - p_one
            error = float(np.sqrt(((move_two - move_one) ** 2).sum())) if freedom > 1 else np.nan
            half = half_width(error, level, freedom) if error > 0 else np.nan
            ends = (difference - half, difference + half)
            p_value = two_sided(difference, error, freedom)
            rows.append((one, two, float(grade), p_one, p_two, difference, *ends, p_value, min(n_one, n_two)))
    figures = ["first_p", "second_p", "difference", "difference_low", "difference_high", "p_value", "queries"]
    frame = pl.DataFrame(rows, schema=["first", "second", "level", *figures], orient="row")
    frame = frame.with_columns(p_holm=pl.Series(holm(frame["p_value"].cast(pl.Float64).to_numpy())))
    clear = frame.filter(pl.col("p_holm") <= 1 - level)
    said = (
        f"{clear.height} of {frame.height} differences between conditions are clear (Holm, {100 - 100 * level:.0f} %)"
    )
    if clear.height:
        row = clear.sort("p_holm", (-pl.col("difference").abs())).row(0, named=True)
        said += f"; the clearest: {row['first']} {row['first_p']:.3f}, {row['second']} {row['second_p']:.3f}"
    shown = ("first", "second", "level", "difference", "p_holm")
    return Result(frame, f"{said}.", columns=shown)
