"""How often the dashboard's 95 % interval holds the end of a study (seed 5, 600 studies each)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from karat.web.dashboard import forecast

SIZES = ((100, 300), (400, 100), (1000, 2000))
STUDIES = 600


def single(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    """Answers one by one, at any moment alike."""
    return np.cumsum(rng.exponential(1, n))


def bursts(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    """Several at once, then none for a while."""
    return np.cumsum(rng.gamma(0.2, 5, n))


def sessions(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    """Ten judges who work for 30 answers' time on average and pause as long."""
    parts = []
    for _ in range(10):
        start = -rng.exponential(40)
        while start < 3 * n:
            end = start + rng.exponential(30)
            parts.append(rng.uniform(start, end, rng.poisson((end - start) / 5)))
            start = end + rng.exponential(30)
    times = np.sort(np.concatenate(parts))
    return times[times > 0][:n]


if __name__ == "__main__":
    rng = np.random.default_rng(5)
    for kind in (single, bursts, sessions):
        for seen, left in SIZES:
            held = []
            for _ in range(STUDIES):
                times = kind(rng, seen + left)
                now = float(times[seen - 1])
                found = forecast(times[:seen], now, left)
                held.append((found.low or 0) <= times[-1] - now <= (np.inf if found.high is None else found.high))
            print(f"{kind.__name__:9} {seen:5,} seen {left:5,} to come: held in {100 * np.mean(held):.0f} %")
