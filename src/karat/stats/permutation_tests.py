"""Sign-flip tests: were there no difference, each query's difference could as well have had the other sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.errors import BadInput
from karat.stats.arrays import Floats, Ints

#: Up to so many differences, all signs are gone through: two halves of 2^16 sums each.
MOST_BY_HALVES = 32
#: Differences in steps (of a tenth for P@10) are summed up exactly if that takes no more additions than this.
MOST_ADDITIONS = 100_000_000
#: More steps than this between 0 and the largest difference are no steps.
MOST_STEPS = 100_000
#: A table of draws x queries, or of draws x pairs, is worked on in parts of this size.
AT_ONCE = 2_000_000
#: Sums that are equal but for rounding are equal.
EQUAL = 1e-9
#: Differences that are alike but for the rounding of scores of about 1 are alike.
ROUNDING = 1e-12


@dataclass(frozen=True)
class SignFlip:
    """The p value of a sign-flip test: exact, over all signs, or from so many random draws of them."""

    p: float
    exact: bool
    draws: int


def sign_flip(differences: npt.ArrayLike, *, draws: int = 10_000, seed: int = 0) -> SignFlip:
    """How often the mean of the differences is as far from 0 as it is, when every sign is a coin's toss.

    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> sign_flip(maize).p == 1726 / 32768
    True

    Exact wherever that is quick: up to 32 differences, or any number of them in steps of a common size, as those of
    P@10 are. Otherwise from random signs, the observed ones counted among them, so that the p value is never too small
    on average. With all differences 0 it is 1.

    Use it for few queries, where the t test leans on the normal distribution. It asks whether each difference is as
    likely up as down, not whether the mean is 0: a skewed difference with mean 0 may be called.

    Reference: Fisher, The Design of Experiments (1935), 21; Phipson and Smyth (Stat. Applications in Genetics 2010).
    """
    values = np.asarray(differences, dtype=np.float64).ravel()
    if not np.isfinite(values).all():
        raise BadInput.at("the differences", expected="numbers", found="one that is missing or infinite")
    if not len(values):
        return SignFlip(np.nan, True, 0)
    sizes = np.abs(values)
    sizes = sizes[sizes > ROUNDING]
    if not len(sizes):
        return SignFlip(1.0, True, 0)
    observed = abs(float(values.sum()))
    step = _common_step(sizes)
    if step is not None and len(sizes) * float(sizes.sum()) / step <= MOST_ADDITIONS:
        whole = abs(int(np.rint(values / step).sum()))
        return SignFlip(_by_steps(np.rint(sizes / step).astype(np.int64), whole), True, 0)
    if len(sizes) <= MOST_BY_HALVES:
        return SignFlip(_by_halves(sizes, observed), True, 0)
    if draws < 1:
        raise BadInput.at("the sign-flip test", expected="1 draw or more", found=str(draws))
    reached = sum(
        int((np.abs(signs @ sizes) >= observed * (1 - EQUAL)).sum()) for signs in _signs(len(sizes), draws, seed)
    )
    return SignFlip((reached + 1) / (draws + 1), False, draws)


@dataclass(frozen=True, eq=False)
class MaxT:
    """Sign-flip tests of many pairs of systems at once, an entry for each pair.

    `t` is positive where the first of the pair is higher; `p` allows for nothing, `adjusted` for all pairs tested.
    """

    pairs: Ints
    t: Floats
    p: Floats
    adjusted: Floats
    exact: bool
    draws: int


def all_pairs(systems: int) -> Ints:
    """Every pair of systems once, as rows of two numbers.

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.column_stack(np.triu_indices(systems, 1)).astype(np.int64)


def max_t(values: Floats, pairs: Ints | None = None, *, draws: int = 10_000, seed: int = 0) -> MaxT:
    """Which pairs of systems differ, when many are looked at: a row of values per query, a column per system.

    >>> rng = np.random.default_rng(0)
    >>> found = max_t(rng.normal([0.0, 0.0, 1.0], 0.5, size=(40, 3)), seed=1)
    >>> (found.adjusted < 0.05).tolist()
    [False, True, True]

    A query's signs are flipped for all systems at once, so that systems which rise and fall together are known to:
    with such systems this finds more than Holm's correction does. The largest t of each draw is what a pair has to
    beat, step by step: a pair that is shown to differ no longer counts among those the rest is compared with. If
    differences do not lean to one side, any false alarm at all is as rare as the p value says. With few queries all
    signs are gone through and the p values are exact. A pair that scores alike on every query has p = 1.

    Reference: Westfall and Young, Resampling-Based Multiple Testing (1993), algorithm 4.1; Romano and Wolf (JASA 2005).
    """
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise BadInput.at(
            "the values by query",
            expected="a number for every query and system",
            found="one that is missing or infinite",
            remedy="leave out queries that some system has no value for",
        )
    if draws < 1:
        raise BadInput.at("the sign-flip test", expected="1 draw or more", found=str(draws))
    rows, systems = values.shape
    pairs = all_pairs(systems) if pairs is None else np.asarray(pairs, dtype=np.int64)
    total, squares = _sums(values, pairs)
    if not rows or not len(pairs):
        none = np.full(len(pairs), np.nan)
        return MaxT(pairs, none, none.copy(), none.copy(), True, 0)
    length = np.sqrt(squares)
    same = length <= ROUNDING * np.sqrt(rows)
    length = np.where(same, np.inf, length)
    # |t| rises with the sum over the root of the sum of squares, which no sign changes: that stands in for t.
    observed = np.abs(total) / length
    order = np.argsort(-observed, kind="stable")
    first, second = pairs[order].T
    hurdle, scale = observed[order] * (1 - EQUAL), 1 / length[order]
    exact = rows <= MOST_BY_HALVES and 2 ** (rows - 1) <= draws
    # Without what all systems share, the sums are small and so is their rounding.
    centred = values - values.mean(axis=1, keepdims=True)
    single, joint = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    number = 0
    for signs in _every_sign(rows, len(pairs)) if exact else _signs(rows, draws, seed, len(pairs)):
        sums = signs @ centred
        reached = np.abs(sums[:, first] - sums[:, second]) * scale
        single += (reached >= hurdle).sum(axis=0)
        highest = np.maximum.accumulate(reached[:, ::-1], axis=1)[:, ::-1]
        joint += (highest >= hurdle).sum(axis=0)
        number += len(signs)
    p, adjusted = np.empty(len(pairs)), np.empty(len(pairs))
    more = 0 if exact else 1
    p[order] = (single + more) / (number + more)
    adjusted[order] = np.maximum.accumulate((joint + more) / (number + more))
    spread = squares - total**2 / rows
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(spread > squares * ROUNDING, total / np.sqrt(rows * spread / (rows - 1)), np.nan)
    return MaxT(pairs, t, p, adjusted, exact, 0 if exact else draws)


def _sums(values: Floats, pairs: Ints) -> tuple[Floats, Floats]:
    """The sum of each pair's differences and of their squares, some pairs at a time."""
    total, squares = np.empty(len(pairs)), np.empty(len(pairs))
    at_once = max(1, AT_ONCE // max(1, len(values)))
    for start in range(0, len(pairs), at_once):
        part = slice(start, start + at_once)
        apart = values[:, pairs[part, 0]] - values[:, pairs[part, 1]]
        total[part], squares[part] = apart.sum(axis=0), (apart**2).sum(axis=0)
    return total, squares


def _signs(n: int, draws: int, seed: int, beside: int = 1) -> Iterator[Floats]:
    """Random signs, a row per draw, in parts that keep small what is n or `beside` numbers for each draw."""
    rng = np.random.default_rng(seed)
    at_once = max(1, AT_ONCE // max(n, beside))
    for start in range(0, draws, at_once):
        some = min(at_once, draws - start)
        bits = np.frombuffer(rng.bytes(some * ((n + 7) // 8)), np.uint8).reshape(some, -1)
        yield 2 * np.unpackbits(bits, axis=1, count=n).astype(np.float64) - 1


def _every_sign(n: int, beside: int = 1) -> Iterator[Floats]:
    """All signs of n numbers but for their mirror images, the observed ones first."""
    at_once, number = max(1, AT_ONCE // max(n, beside)), 2 ** (n - 1)
    for start in range(0, number, at_once):
        bits = np.arange(start, min(start + at_once, number))[:, None] >> np.arange(n) & 1
        yield 1 - 2 * bits.astype(np.float64)


def _common_step(sizes: Floats) -> float | None:
    """The largest step that all sizes are whole multiples of, None if they have none worth the name."""
    distinct = np.unique(sizes)
    most = float(distinct[-1])
    step = most
    for size in distinct[:-1].tolist():
        while size > most * EQUAL:  # Euclid's algorithm, blind to rounding
            step, size = size, abs(step - size * round(step / size))
        if most / step > MOST_STEPS:
            return None
    return step if np.abs(sizes / step - np.rint(sizes / step)).max() < 1e-6 else None


def _by_steps(steps: Ints, observed: int) -> float:
    """The chance that random signs give a sum of at least `observed` either way, sum by sum."""
    chance = np.zeros(int(steps.sum()) + 1)
    chance[0], top = 1.0, 0
    for step in steps.tolist():  # chance[s]: those with the sign + sum to s
        half = chance[: top + 1] / 2
        top += step
        chance[: len(half)] = half
        chance[step : top + 1] += half
    far = np.abs(2 * np.arange(top + 1) - top) >= observed
    return max(min(float(chance[far].sum()), 1.0), float(np.finfo(np.float64).tiny))


def _by_halves(sizes: Floats, observed: float) -> float:
    """The same for any numbers: the sums of one half are looked up among those of the other."""
    half = len(sizes) // 2
    one, other = _all_sums(sizes[:half]), np.sort(_all_sums(sizes[half:]))
    least = observed * (1 - EQUAL)
    if least <= ROUNDING:
        return 1.0
    # Every sum has its mirror image, so one side is counted and doubled.
    above = len(other) - np.searchsorted(other, least - one, side="left")
    return int(above.sum()) / 2.0 ** (len(sizes) - 1)


def _all_sums(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def rank_intervals(
    pairs: Ints, difference: npt.ArrayLike, adjusted: npt.ArrayLike, systems: int, *, alpha: float = 0.05
) -> tuple[Ints, Ints]:
    """The best and the worst place that each system may hold, 1 being the top.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> best, worst = rank_intervals(pairs, [0.01, 0.20, 0.19], [0.60, 0.01, 0.02], 3)
    >>> best.tolist(), worst.tolist()
    ([1, 1, 3], [2, 2, 3])

    A system is at best one place below all that are shown better, and at worst one above all that are shown worse. A
    pair is shown if its adjusted p value is at most `alpha`; the sign of its difference (first less second) says which
    is better. With p values that allow for all pairs (`max_t`, `holm`) all intervals hold together with a confidence of
    1 - alpha; with plain ones they do not. Systems that are truly alike share places, and their intervals hold
    every place they share. Give all pairs: one that was not tested, or is undefined (NaN), shows nothing.

    Reference: Mohamad, Goeman and van Zwet, Simultaneous Confidence Intervals for Ranks (arXiv 1708.02428).
    """
    apart = np.asarray(difference, dtype=np.float64)
    shown = (np.asarray(adjusted, dtype=np.float64) <= alpha) & (apart != 0) & ~np.isnan(apart)
    first_wins = apart > 0
    winner = np.where(first_wins, pairs[:, 0], pairs[:, 1])[shown]
    loser = np.where(first_wins, pairs[:, 1], pairs[:, 0])[shown]
    best = 1 + np.bincount(loser, minlength=systems)
    worst = systems - np.bincount(winner, minlength=systems)
    return best.astype(np.int64), worst.astype(np.int64)
