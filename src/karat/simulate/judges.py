"""Judges with known faults: how they err, how often, and on which documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput
from karat.stats.arrays import Floats, Ints

#: One number for all, or one for each item.
Each = float | Floats


def label_chances(
    truth: npt.ArrayLike,
    *,
    levels: int = 5,
    spread: Each = 0.7,
    leniency: Each = 0.0,
    squeeze: Each = 0.0,
    shift: Each = 0.0,
    careless: Each = 0.0,
) -> Floats:
    """The chance of each label that a fallible judge gives to documents whose true grades, 0 to levels - 1, are known.

    >>> label_chances([0], levels=3, spread=0.01, shift=0.5).tolist()
    [[0.5, 0.5, 0.0]]
    >>> draw(label_chances([0, 1, 2, 3, 4], spread=0.01, squeeze=0.4)).tolist()
    [1, 1, 2, 3, 3]

    The judge sees the true grade with a normal error of `spread` grades, adds their `leniency`, and shrinks the scale
    to its middle by the share `squeeze`. On top come an error of `shift` grades, which may differ from document to
    document, and a share of `careless` answers that know nothing of the document (1 for a spammer; see `fatigue`).
    """
    grade = np.asarray(truth, dtype=np.int64)
    if levels < 2 or (len(grade) and (grade.min() < 0 or grade.max() >= levels)):
        found = f"{grade.min()} to {grade.max()}" if len(grade) else "none"
        raise BadInput.at(
            "the true grades", expected=f"whole numbers from 0 to {levels - 1}, at least two levels", found=found
        )
    chances = moved(_normal(grade, levels, spread, leniency, squeeze), shift)
    blind = np.broadcast_to(np.asarray(careless, dtype=np.float64), grade.shape)[:, None]
    if len(grade) and (blind.min() < 0 or blind.max() > 1):
        raise BadInput.at("careless", expected="a share from 0 to 1", found=f"{blind.min():g} to {blind.max():g}")
    mixed: Floats = (1 - blind) * chances + blind / levels
    return mixed


def _normal(grade: Ints, levels: int, spread: Each, leniency: Each, squeeze: Each) -> Floats:
    """A normal error around the grade as the judge sees it, rounded to the nearest grade there is."""
    from scipy.special import ndtr

    if np.min(spread) <= 0:
        raise BadInput.at("the spread", expected="a number of grades above 0", found=f"{np.min(spread):g}")
    middle = (levels - 1) / 2
    seen = middle + (1 - np.asarray(squeeze)) * (grade - middle) + leniency
    between = np.arange(levels - 1) + 0.5
    below = ndtr((between[None, :] - seen[:, None]) / np.broadcast_to(spread, grade.shape)[:, None])
    ends = np.zeros((len(grade), 1))
    chances: Floats = np.diff(below, axis=1, prepend=ends, append=ends + 1)
    return chances


def moved(chances: Floats, steps: Each) -> Floats:
    """Label distributions moved by a number of grades, also a part of one; nobody leaves the scale.

    >>> moved(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), np.array([1.0, 1.25])).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.75, 0.25]]
    """
    rows, levels = chances.shape
    far = np.broadcast_to(np.asarray(steps, dtype=np.float64), (rows,))
    if not far.any():
        return chances
    whole = np.floor(far).astype(np.int64)
    part = far - whole
    result, row = np.zeros_like(chances), np.arange(rows)
    for label in range(levels):
        result[row, np.clip(label + whole, 0, levels - 1)] += chances[:, label] * (1 - part)
        result[row, np.clip(label + whole + 1, 0, levels - 1)] += chances[:, label] * part
    return result


def draw(chances: Floats, seed: int | np.random.Generator = 0) -> Ints:
    """One label for each row of chances.

    >>> draw(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [1, 0]
    """
    rng = np.random.default_rng(seed)
    # The last border is 1 whatever rounding makes of the sum, so that no draw falls behind it.
    borders = np.cumsum(chances, axis=1)[:, :-1]
    labels: Ints = (rng.random(len(chances))[:, None] >= borders).sum(axis=1)
    return labels


def fatigue(place: npt.ArrayLike, per_hundred: float) -> Floats:
    """The share of careless answers of a judge who tires: it grows by `per_hundred` with every 100 judgments.

    >>> fatigue([0, 50, 100, 5000], 0.1).tolist()
    [0.0, 0.05, 0.1, 1.0]
    """
    share: Floats = np.clip(np.asarray(place, dtype=np.float64) * per_hundred / 100, 0, 1)
    return share


def steps_for(chances: Floats, change: float, weight: Floats | None = None) -> float:
    """How far to move label distributions so that their mean label changes by `change`.

    The scale ends somewhere, so a move by half a grade changes the mean label by less; and what the ends do not
    allow is not reached: the answer is then the longest move.

    >>> round(steps_for(np.array([[0.5, 0.0, 0.5]]), 0.25), 6)
    0.5
    """
    if not len(chances) or not change:
        return 0.0
    weight = np.ones(len(chances)) if weight is None else weight
    grades = np.arange(chances.shape[1])
    before = chances @ grades
    return steps_until(
        change, chances.shape[1] - 1, lambda steps: np.mean(weight * (moved(chances, steps) @ grades - before))
    )


def steps_until(change: float, longest: float, changed: Callable[[float], float | np.floating[Any]]) -> float:
    """The shortest move, of `longest` steps at most, that changes something by `change` or more: by halving.

    >>> round(steps_until(-0.5, 4.0, lambda steps: steps / 2), 6)
    -1.0
    """
    sign, low, high = float(np.sign(change)), 0.0, float(longest)
    if sign * changed(sign * high) <= abs(change):
        return sign * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if sign * changed(sign * middle) < abs(change) else (low, middle)
    return sign * high
