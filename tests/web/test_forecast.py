"""When the judging will be done: the interval holds as often as it says when the pace goes on as it was."""

from __future__ import annotations

import numpy as np
import pytest

from karat.web.dashboard import forecast


def arrivals(rng, kind, n):
    """The times of n answers, one a second on average."""
    gaps = {"single": (1.0, 1.0), "bursty": (0.2, 5.0), "steady": (20.0, 0.05)}[kind]
    return np.cumsum(rng.gamma(*gaps, n))


@pytest.mark.parametrize(
    ("kind", "least", "most"), [("single", 0.92, 0.98), ("bursty", 0.9, 0.98), ("steady", 0.95, 1.0)]
)
@pytest.mark.parametrize(("seen", "left"), [(100, 300), (400, 100), (1000, 2000)])
def test_the_interval_holds_the_end_as_often_as_it_says(kind, least, most, seen, left):
    rng = np.random.default_rng(1)
    held = []
    for _ in range(600):
        times = arrivals(rng, kind, seen + left)
        now = float(times[seen - 1])
        found = forecast(times[:seen], now, left)
        took = times[-1] - now
        held.append((found.low or 0) <= took <= (np.inf if found.high is None else found.high))
    # 600 draws: 95 % is known to within two points.
    assert least <= np.mean(held) <= most


def test_an_even_pace_is_carried_on():
    found = forecast(np.arange(0.0, 1200.0, 2.0), 1200.0, 300)
    assert found.seconds == pytest.approx(600, rel=0.01)
    assert found.per_hour == pytest.approx(1800, rel=0.01)
    assert found.low < 600 < found.high


def test_too_few_answers_say_nothing():
    assert forecast(np.arange(10.0), 10.0, 5).seconds is None
    assert forecast(np.array([]), 0.0, 5).seconds is None


def test_answers_all_at_one_moment_say_nothing():
    assert forecast(np.full(50, 7.0), 7.0, 5).seconds is None


def test_a_pace_that_died_has_no_upper_end():
    found = forecast(np.linspace(0.0, 10.0, 100), 1000.0, 100)
    assert found.high is None
    assert found.low is not None


def test_nothing_left_takes_no_time():
    assert forecast(np.arange(100.0), 100.0, 0).seconds == 0.0


def test_only_the_last_week_counts():
    old, new = np.linspace(0, 1e5, 500), 1e6 + np.arange(0.0, 3600.0, 36.0)
    assert forecast(np.concatenate([old, new]), 1e6 + 3600, 100).per_hour == pytest.approx(100, rel=0.02)
