"""Confidence sequences: the formula, its best place, and one look after the other without false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import lambertw, stdtr

from karat.errors import BadInput
from karat.stats.confidence_sequences import best_r, reach_to_the_end, reaches
from simulated import studies


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


def test_what_makes_no_sense_is_refused() -> None:
    for call, said in [
        (lambda: reaches(10, 0.0), "a number above 0"),
        (lambda: best_r(0), "1 or more"),
        (lambda: best_r(10, 1.5), "a share such as 0.05"),
    ]:
        with pytest.raises(BadInput, match=said):
            call()


def looks(kind: str, plan: int, number: int, most: int = 1000, first: int = 20) -> tuple[float, float]:
    """How often anyone who looks after each query, from `first` on, sees a difference where there is none.

    By the sequence, and by a t test at every look.
    """
    rng = np.random.default_rng(plan)
    shape = (number, most)
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
@pytest.mark.evidence
def test_one_may_look_after_every_query(kind: str, plan: int) -> None:
    number = len(studies(400, 4000))
    by_sequence, by_t = looks(kind, plan, number)
    # Two standard errors; over 30,000 studies (seed 12345) the highest of these cells is 0.044.
    assert by_sequence <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / number)
    assert by_t > 0.2


def test_the_reach_to_a_planned_end_by_hand() -> None:
    # O'Brien and Fleming's: z(1 - 0.04/4) = 2.326348 standard errors at the end, times 3/2 where the variance is 9/4 of
    # the end's: 2.326348 * 2.25 / 1.5 = 3.489522 standard errors of the look.
    assert reach_to_the_end(1.0, 1.0, 2.0) == pytest.approx(2.326348, abs=1e-6)
    assert reach_to_the_end(2.25, 1.0, 2.0) == pytest.approx(2.326348 * 2.25, abs=1e-6)
    # Early on the mixture is the narrower: x = 1 and r solving x = log(1 + x) - 2 log(0.01), 11.7545.
    late = np.sqrt(2.0 * 2 * (11.7545 + 1) / 11.7545 * np.log(np.sqrt(11.7545 + 1) / 0.01))
    assert reach_to_the_end(2.0, 1.0, 2.0, later=True) == pytest.approx(late, abs=1e-4)
    assert reach_to_the_end(40.0, 1.0, 2.0) < 2.326348 * 40.0


@pytest.mark.parametrize(("queries", "drawing"), [(0.0, 1.0), (1.0, 1.0), (1.0, 0.1), (-0.9, 1.0)])
def test_estimates_that_narrow_to_an_end_are_missed_once_in_twenty_studies_at_most(
    queries: float, drawing: float
) -> None:
    """The variance with a share s of the labels is queries + drawing / s; -0.9: nearly every document is drawn."""
    rng = np.random.default_rng(1)
    share = np.arange(1, 101) / 100
    variance = queries + drawing / share
    # Backwards from the end, what fewer labels add to the error is independent of it.
    steps = np.sqrt(np.append(-np.diff(variance), variance[-1]))
    error = (steps * rng.normal(size=(20_000, 100)))[:, ::-1].cumsum(axis=1)[:, ::-1]
    reach = np.array([reach_to_the_end(v, variance[-1], variance[49]) for v in variance])
    missed = (np.abs(error) > reach)[:, 10:].any(axis=1).mean()
    at_once = (np.abs(error) > 1.96 * np.sqrt(variance))[:, 10:].any(axis=1).mean()
    assert missed < 0.05
    assert at_once > 0.1 or drawing < 1
