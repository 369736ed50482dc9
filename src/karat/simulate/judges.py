"""Judges with known faults: how they err, how often, and on which documents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
#: One number for all, or one for each item.
Each = float | Floats


def judge_labels(
    truth: npt.ArrayLike,
    *,
    levels: int = 5,
    confusion: npt.ArrayLike | None = None,
    spread: Each = 0.7,
    leniency: Each = 0.0,
    squeeze: Each = 0.0,
    shift: Each = 0.0,
    careless: Each = 0.0,
    seed: int | np.random.Generator = 0,
) -> Ints:
    """The labels that a fallible judge gives to documents whose true grades, 0 to levels - 1, are known.

    >>> judge_labels([0, 1, 2, 3, 4], spread=0.01).tolist()
    [0, 1, 2, 3, 4]
    >>> judge_labels([0, 1, 2, 3, 4], spread=0.01, squeeze=0.4).tolist()
    [1, 1, 2, 3, 3]
    >>> judge_labels([0, 1], levels=2, confusion=[[1, 0], [1, 0]]).tolist()
    [0, 0]

    A judge is a `confusion` matrix, P(label | true grade) row by row; or, without one, somebody who sees the true
    grade with a normal error of `spread` grades, adds their `leniency`, and shrinks the scale to its middle by the
    share `squeeze`. On top of either come an error of `shift` grades, which may differ from document to document,
    and a share of `careless` answers that know nothing of the document (1 for a spammer; see `fatigue`).
    """
    chances = label_chances(
        truth,
        levels=levels,
        confusion=confusion,
        spread=spread,
        leniency=leniency,
        squeeze=squeeze,
        shift=shift,
        careless=careless,
    )
    return draw(chances, seed)


def label_chances(
    truth: npt.ArrayLike,
    *,
    levels: int = 5,
    confusion: npt.ArrayLike | None = None,
    spread: Each = 0.7,
    leniency: Each = 0.0,
    squeeze: Each = 0.0,
    shift: Each = 0.0,
    careless: Each = 0.0,
) -> Floats:
    """The chance of each label for each document, from which `judge_labels` draws: expectations can be computed.

    >>> label_chances([0], levels=3, confusion=np.eye(3), shift=0.5).tolist()
    [[0.5, 0.5, 0.0]]
    """
    grade = np.asarray(truth, dtype=np.int64)
    if levels < 2 or (len(grade) and (grade.min() < 0 or grade.max() >= levels)):
        found = f"{grade.min()} to {grade.max()}" if len(grade) else "none"
        raise BadInput.at(
            "the true grades", expected=f"whole numbers from 0 to {levels - 1}, at least two levels", found=found
        )
    if confusion is None:
        chances = _normal(grade, levels, spread, leniency, squeeze)
    else:
        matrix = np.asarray(confusion, dtype=np.float64)
        if matrix.shape != (levels, levels) or (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1):
            raise BadInput.at(
                "the confusion matrix",
                expected=f"{levels} rows of {levels} chances that add up to 1",
                found=f"{matrix.tolist()}",
            )
        chances = moved(matrix[grade], leniency)
    chances = moved(chances, shift)
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

    def reached(steps: float) -> float:
        return float(np.mean(weight * (moved(chances, steps) @ grades - before)))

    sign, low, high = np.sign(change), 0.0, float(chances.shape[1] - 1)
    if sign * reached(sign * high) <= sign * change:
        return float(sign * high)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if sign * reached(sign * middle) < sign * change else (low, middle)
    return float(sign * high)
