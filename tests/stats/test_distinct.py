"""The different ones among many numbers."""

from __future__ import annotations

import numpy as np
import pytest

from karat.stats.arrays import distinct

RNG = np.random.default_rng(1)


@pytest.mark.parametrize(
    "keys",
    [
        RNG.integers(0, 50, 1000),  # counted
        RNG.integers(0, 1000, 1000),
        RNG.integers(0, 10**12, 1000),  # sorted
        RNG.integers(-5, 5, 1000),
        np.array([7]),
        np.zeros(0, np.int64),
        RNG.integers(0, 50, 1000).astype(np.int32),
    ],
)
def test_counting_tells_what_sorting_tells(keys: np.ndarray) -> None:
    for found, wanted in zip(distinct(keys), np.unique(keys, return_inverse=True, return_counts=True), strict=True):
        assert found.tolist() == wanted.tolist()
