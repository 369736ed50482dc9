"""When will the judging be done? From the pace so far, with an interval that knows how uneven the pace was."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from karat.stats.arrays import Floats

#: The time so far is cut into so many equal slots; how the counts differ between them says how uneven the pace is.
SLOTS = 12
#: Fewer answers say nothing about the pace.
FEWEST_ANSWERS = 24
#: Only the last week counts: pace changes.
LONGEST = 7 * 24 * 3600.0


@dataclass(frozen=True)
class Forecast:
    """How long the rest will take, in seconds from now; none where it cannot be told (or has no upper end yet)."""

    seconds: float | None
    low: float | None
    high: float | None
    per_hour: float | None


def forecast(times: Floats, now: float, left: float, *, level: float = 0.95) -> Forecast:
    """How long it takes until `left` more answers have come in, if the pace of the last week goes on.

    >>> steady = np.arange(0.0, 3600.0, 10.0)
    >>> found = forecast(steady, 3600.0, 360)
    >>> round(found.per_hour), round(found.seconds / 60)
    (359, 60)

    The time since the first answer is cut into 12 slots. With mean m and standard deviation s of their counts, t slots
    more bring t m answers, give or take s sqrt(t + t^2 / 12): the slots to come vary as those seen, and the mean is
    known from 12 of them. The interval holds the t for which `left` lies within that, by Student's t. It is honest
    for a pace that goes on as it was, with pauses that are short against a slot; where judges work in long sessions it
    is too narrow while few answers are in (benchmarks/forecast.py).
    """
    from karat.stats.quantiles import t_quantile

    times = times[times > now - LONGEST]
    if len(times) < FEWEST_ANSWERS:
        return Forecast(None, None, None, None)
    start = float(times.min())
    span = now - start
    if span <= 0:
        return Forecast(None, None, None, None)
    # The first answer marks the start; it is no part of the pace.
    counts, _ = np.histogram(np.sort(times)[1:], bins=SLOTS, range=(start, now))
    mean, spread, slot = float(counts.mean()), float(counts.std(ddof=1)), span / SLOTS
    per_hour = mean / slot * 3600
    if left <= 0:
        return Forecast(0.0, 0.0, 0.0, per_hour)
    if mean == 0:
        return Forecast(None, None, None, per_hour)
    # Perfectly even counts say that the pace is even, not that it is known without error: at least as single arrivals.
    spread = max(spread, math.sqrt(mean) / 4)
    half = t_quantile((1 + level) / 2, SLOTS - 1) * spread
    low = _slots(mean, half, left, +1)
    high = _slots(mean, half, left, -1)
    return Forecast(
        left / mean * slot, None if low is None else low * slot, None if high is None else high * slot, per_hour
    )


def _slots(mean: float, half: float, left: float, side: int) -> float | None:
    """The number of slots t with t x mean + side x half x sqrt(t + t^2 / SLOTS) = left; none if there is none."""
    # (left - t mean)^2 = half^2 (t + t^2 / SLOTS), a quadratic in t.
    a = mean**2 - half**2 / SLOTS
    b = -(2 * left * mean + half**2)
    c = left**2
    if abs(a) < 1e-12:
        return -c / b if side > 0 else None
    roots = sorted((-b + way * math.sqrt(b**2 - 4 * a * c)) / (2 * a) for way in (-1, 1))
    right = [t for t in roots if t > 0 and side * (left - t * mean) >= -1e-9 * left]
    return right[0] if right else None
