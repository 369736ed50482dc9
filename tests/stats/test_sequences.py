"""Confidence sequences: the formula, its best place, and one look after the other without false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import lambertw, stdtr

from karat.errors import BadInput
from karat.stats.sequences import best_r, confidence_sequence, reaches, values_needed


def test_the_reach_by_hand() -> None:
    # t = 4, r = 0.5: sqrt(2 * 3 / (16 * 0.5) * log(sqrt(3) / 0.05)) = sqrt(0.75 * 3.545039).
    assert float(reaches(4, 0.5)) == pytest.approx(1.630576, abs=1e-6)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("t", [20, 400])
def test_the_best_r_is_the_papers_and_none_is_narrower(t: int, alpha: float) -> None:
    r = best_r(t, alpha)
    assert r == pytest.approx((-lambertw(-(alpha**2) / np.e, -1).real - 1) / t)
    here = reaches(t, r, alpha=alpha)
    assert all(here < reaches(t, r * factor, alpha=alpha) for factor in (0.7, 0.95, 1.05, 1.4))


def test_a_sequence_is_the_mean_and_sd_so_far() -> None:
    values = np.random.default_rng(0).normal(1e4, 0.1, 60)
    low, high = confidence_sequence(values, 0.1, first=2)
    for t in (2, 17, 60):
        so_far = values[:t]
        reach = so_far.std(ddof=1) * float(reaches(t, 0.1))
        assert (low[t - 1], high[t - 1]) == pytest.approx((so_far.mean() - reach, so_far.mean() + reach), rel=1e-9)
    assert np.isnan(low[0])
    assert np.isnan(confidence_sequence(values, 0.1)[0]).sum() == 19


def test_values_that_do_not_vary_and_none_at_all_have_no_interval() -> None:
    assert np.isnan(confidence_sequence(np.full(50, 0.1), 0.1)).all()
    assert np.isnan(confidence_sequence(np.zeros(50), 0.1)).all()
    assert confidence_sequence([], 0.1)[0].tolist() == []
    for call, said in [
        (lambda: confidence_sequence([0.1, np.nan], 0.1), "missing or infinite"),
        (lambda: reaches(10, 0.0), "a number above 0"),
        (lambda: best_r(0), "1 or more"),
        (lambda: best_r(10, 1.5), "a share such as 0.05"),
        (lambda: values_needed(0.0, 1.0), "above 0"),
    ]:
        with pytest.raises(BadInput, match=said):
            call()


@pytest.mark.parametrize("sd", [0.1, 0.3])
def test_the_number_needed_is_the_fewest_that_is_narrow_enough(sd: float) -> None:
    n = values_needed(0.05, sd)
    assert sd * float(reaches(n, best_r(n))) <= 0.05 < sd * float(reaches(n - 1, best_r(n - 1)))


def looks(kind: str, plan: int, studies: int = 2000, most: int = 1000, first: int = 20) -> tuple[float, float]:
    """How often anyone who looks after each query, from `first` on, sees a difference where there is none.

    By the sequence, and by a t test at every look.
    """
    rng = np.random.default_rng(plan)
    shape = (studies, most)
    values = {
        "normal": lambda: rng.normal(size=shape),
        "P@10": lambda: (rng.binomial(10, 0.4, shape) - rng.binomial(10, 0.4, shape)) / 10,
        "AP": lambda: rng.beta(0.6, 1.8, shape) - rng.beta(0.6, 1.8, shape),
        "ties": lambda: (rng.random(shape) < 0.1) * (rng.random(shape) - 0.5),
    }[kind]()
    t = np.arange(1, most + 1)
    mean = values.cumsum(axis=1) / t
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(((values**2).cumsum(axis=1) / t - mean**2) * t / (t - 1))
        ratio = np.nan_to_num(np.abs(mean) / sd)[:, first - 1 :]
    t = t[first - 1 :]
    by_sequence = (ratio > reaches(t, best_r(plan))).any(axis=1).mean()
    by_t = (2 * stdtr(t - 1, -ratio * np.sqrt(t)) <= 0.05).any(axis=1).mean()
    return float(by_sequence), float(by_t)


@pytest.mark.parametrize("kind", ["normal", "P@10", "AP", "ties"])
@pytest.mark.parametrize("plan", [100, 400])
def test_one_may_look_after_every_query(kind: str, plan: int) -> None:
    by_sequence, by_t = looks(kind, plan)
    # Two standard errors over 2,000 studies; over 30,000 (seed 12345) the highest of these cells is 0.044.
    assert by_sequence <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 2000)
    assert by_t > 0.3


def test_a_true_difference_is_seen_early() -> None:
    """Half a standard deviation, planned for 100 queries: most studies stop before half of them."""
    rng = np.random.default_rng(3)
    stops = []
    for _ in range(300):
        low, high = confidence_sequence(rng.normal(0.5, 1.0, 200), best_r(100))
        clear = np.flatnonzero((low > 0) | (high < 0))
        stops.append(clear[0] + 1 if len(clear) else 201)
    assert np.median(stops) < 50
    assert np.mean(np.array(stops) <= 100) > 0.95
