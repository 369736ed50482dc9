"""Drawing a sample with known probabilities: how likely each item is to be drawn, and the draw itself."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput
from karat.stats.arrays import Bools, Floats

#: Probabilities whose sum is this near to a whole number are meant to sum to it.
NEAR = 1e-6


def inclusion_probabilities(size: npt.ArrayLike, n: float, *, floor: npt.ArrayLike = 0.0) -> Floats:
    """The probability with which each item is drawn: in proportion to its size, n expected in all.

    >>> inclusion_probabilities([1, 1, 2, 8], 2).round(4).tolist()
    [0.25, 0.25, 0.5, 1.0]
    >>> inclusion_probabilities([1, 1, 2, 8], 2, floor=0.3).round(4).tolist()
    [0.3, 0.3, 0.4, 1.0]

    No probability is above 1: what large items have too much goes to the others, again in proportion to size. None is
    below its `floor` (one number, or one for each item), which an item of size 0 has too. The sum is n exactly; if
    that is more than there is to draw, every item with a size gets 1 and the sum is smaller.

    Reference: Sarndal, Swensson and Wretman, Model Assisted Survey Sampling (1992), 3.6.2.
    """
    sizes = np.asarray(size, dtype=np.float64)
    least = np.broadcast_to(np.asarray(floor, dtype=np.float64), sizes.shape)
    _check(sizes, least, n)
    sized = sizes > 0
    probabilities = least.copy()
    if not sized.any():
        return probabilities
    s, low = sizes[sized] / sizes[sized].max(), least[sized]
    rest = n - float(least[~sized].sum())
    if rest >= len(s):
        probabilities[sized] = 1.0
        return probabilities
    # The sum of clip(c s, low, 1) rises with c and is a straight line between the places where an item leaves its floor
    # or reaches 1: the last such place at which the sum is not yet too large is sought, then the line gives c.
    leaves, full = low / s, 1 / s
    bends = np.sort(np.concatenate([leaves, full]))
    at = bisect_right(bends, rest, key=lambda bend: float(np.clip(bend * s, low, 1.0).sum())) - 1
    start = bends[max(at, 0)]
    at_floor, at_one = leaves > start, full <= start
    between = ~(at_floor | at_one)
    left = rest - float(low[at_floor].sum()) - int(at_one.sum())
    c = left / float(s[between].sum()) if between.any() else float(start)
    probabilities[sized] = np.clip(c * s, low, 1.0)
    return probabilities


def draw(probabilities: npt.ArrayLike, *, seed: int = 0) -> Bools:
    """Which items are drawn, each with exactly its probability, as many of them as the probabilities sum to.

    >>> int(draw([0.25, 0.25, 0.5, 1.0], seed=1).sum())
    2

    The items are put in random order, laid end to end as stretches as long as their probabilities, and those that
    evenly spaced points hit are drawn (randomised systematic sampling). If the sum is no whole number, the number drawn
    is the one below or above it. Divide by the probability what a drawn item contributes, and totals are right on
    average.

    Reference: Goodman and Kish, Controlled Selection (JASA 1950); Hartley and Rao (Annals of Math. Statistics 1962).
    """
    pi = np.asarray(probabilities, dtype=np.float64)
    if not ((pi >= 0) & (pi <= 1)).all():
        raise BadInput.at("the probabilities", expected="numbers from 0 to 1", found=_first(pi, (pi >= 0) & (pi <= 1)))
    rng = np.random.default_rng(seed)
    drawn: Bools = pi == 1
    open_ = rng.permutation(np.flatnonzero((pi > 0) & ~drawn))
    if not len(open_):
        return drawn
    ends = pi[open_].cumsum()
    whole = round(ends[-1])
    if whole > 0 and abs(ends[-1] - whole) < NEAR:
        ends *= whole / ends[-1]  # rounding must not cost or add an item
        ends[-1] = whole
    points = np.floor(ends - rng.random()) + 1  # how many of the points u, u + 1, ... lie before each end
    drawn[open_] = np.diff(points, prepend=0.0) > 0
    return drawn


def _check(sizes: Floats, least: Floats, n: float) -> None:
    right = np.isfinite(sizes) & (sizes >= 0)
    if not right.all():
        raise BadInput.at("the sizes", expected="numbers from 0", found=_first(sizes, right))
    right = (least >= 0) & (least <= 1)
    if not right.all():
        raise BadInput.at("the floor", expected="a probability from 0 to 1", found=_first(least, right))
    if not n >= 0:
        raise BadInput.at("the number to draw", expected="0 or more", found=str(n))
    if least.sum() > n * (1 + NEAR):
        raise BadInput.at(
            "the floor",
            expected=f"probabilities that sum to at most the {n:g} to draw",
            found=f"a sum of {least.sum():g}",
            remedy="lower the floor or draw more",
        )


def _first(values: Floats, right: Bools) -> str:
    return str(values[~right][0])
