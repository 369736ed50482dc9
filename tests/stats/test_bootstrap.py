"""Intervals for a mean: seeded, of the right width, and honest where the data cannot tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from karat.stats import mean_intervals
from karat.stats.student_t import t_quantile
from simulated import THOROUGH, studies


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 9, 24, 49, 1000, 100_000])
@pytest.mark.parametrize("p", [0.005, 0.025, 0.05, 0.95, 0.975])
def test_t_quantiles_are_scipys(df: int, p: float) -> None:
    assert t_quantile(p, df) == pytest.approx(student.ppf(p, df), rel=0.02 if df < 5 else 0.002)


@pytest.mark.parametrize(("n", "lowest"), [(10, 0.90), (25, 0.92), (50, 0.935), (200, 0.94)])
@pytest.mark.parametrize("kind", ["skewed", "steps"])
@pytest.mark.evidence
def test_95_percent_intervals_cover_about_95_percent(n: int, lowest: float, kind: str) -> None:
    """Per-query scores as they are: piled up near 0 (AP), or in steps of a tenth (P@10)."""
    rng = np.random.default_rng(n)
    draw = (
        (lambda: rng.beta(0.6, 1.8, n)) if kind == "skewed" else (lambda: rng.binomial(10, rng.beta(0.8, 1.6, n)) / 10)
    )
    truth = 0.25 if kind == "skewed" else 0.8 / 2.4
    held, seeds = 0, studies(200, 2000)
    for seed in seeds:
        low, high = mean_intervals(draw()[:, None], draws=400, seed=seed)
        held += low[0] <= truth <= high[0]
    margin = 0.0 if THOROUGH else 0.03
    assert lowest - margin <= held / len(seeds) <= 0.97 + margin


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(0).random((30, 2))
    assert np.array_equal(mean_intervals(values, seed=3), mean_intervals(values, seed=3))
    assert not np.array_equal(mean_intervals(values, seed=3), mean_intervals(values, seed=4))


def test_work_in_parts_gives_every_draw() -> None:
    low, high = mean_intervals(np.random.default_rng(0).random((150_000, 1)), draws=60)
    assert 0.495 < low[0] < high[0] < 0.505


def test_no_interval_where_the_data_cannot_tell() -> None:
    few = mean_intervals(np.array([[0.5], [0.1], [0.3], [0.2]]))
    alike = mean_intervals(np.array([[0.5, 0.1], [0.5, 0.9], [0.5, 0.2], [0.5, 0.3], [0.5, 0.4]]))
    assert np.isnan(few).all()
    assert np.isnan([alike[0][0], alike[1][0]]).all()
    assert np.isfinite([alike[0][1], alike[1][1]]).all()
