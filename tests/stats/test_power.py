"""Power: as published and as statsmodels has it, inverses that fit, and what really happens."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.power import TTestPower

from karat.errors import BadInput, Undefined
from karat.stats.power import paired_power, queries_needed, sampled_sd, smallest_difference


def test_half_a_standard_deviation_takes_34_queries() -> None:
    assert queries_needed(0.5, 1.0) == 34
    assert paired_power(0.5, 1.0, 33) < 0.8 <= paired_power(0.5, 1.0, 34)


@pytest.mark.parametrize("effect", [0.05, 0.2, 0.5, 1.5])
@pytest.mark.parametrize("n", [3, 10, 50, 800])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_power_is_that_of_statsmodels(effect: float, n: int, alpha: float) -> None:
    other = TTestPower().power(effect, n, alpha, alternative="two-sided")
    if np.isnan(other):  # statsmodels has none where the power is 1 but for rounding
        other = 1.0
    assert float(paired_power(effect * 0.3, 0.3, n, alpha=alpha)) == pytest.approx(other, abs=1e-8)


def test_no_difference_is_called_as_often_as_alpha_says() -> None:
    assert paired_power(0.0, 1.0, [2, 10, 1000]) == pytest.approx([0.05] * 3)
    assert paired_power(0.3, 1.0, [0, 1]).tolist() == [0, 0]


@pytest.mark.parametrize("difference", [-0.02, 0.1, 3.0])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
def test_the_queries_needed_are_the_fewest_that_do(difference: float, power: float) -> None:
    n = queries_needed(difference, 0.3, power=power)
    assert paired_power(difference, 0.3, n) >= power
    assert n == 2 or paired_power(difference, 0.3, n - 1) < power


@pytest.mark.parametrize("n", [2, 12, 50, 1000])
def test_the_smallest_difference_is_seen_with_the_power_asked_for(n: int) -> None:
    smallest = smallest_difference(n, 0.2, power=0.9)
    assert float(paired_power(smallest, 0.2, n)) == pytest.approx(0.9, abs=1e-9)


def test_the_normal_formula_by_hand() -> None:
    # (1.959964 + 0.841621)^2 = 7.848880; times (0.04 + 0.005 * 9) / 0.0004 = 1667.9. The t test takes two more.
    assert np.ceil(7.848880 * (sampled_sd(0.04, 0.005, 0.1) / 0.02) ** 2) == 1668
    assert queries_needed(0.02, sampled_sd(0.04, 0.005, 0.1)) == 1668 + 2
    assert queries_needed(0.02, 0.2) == 785 + 2
    assert sampled_sd(0.04, 0.005, 0.1) ** 2 == pytest.approx(0.085)
    assert sampled_sd(0.04, 0.005, 1.0) == pytest.approx(0.2)


def test_planned_power_is_what_happens() -> None:
    """Steps of a tenth, half of them ties, as differences in P@10 are."""
    rng = np.random.default_rng(1)
    difference, sd = 0.03, 0.15
    n = queries_needed(difference, sd)

    def steps(shape: tuple[int, int]) -> np.ndarray:
        raw = rng.normal(0, 1, shape)
        moved = np.where(np.abs(raw) < 0.6745, 0.0, np.sign(raw) * np.ceil(np.abs(raw) - 0.6745))
        return moved / 1.0

    spread = steps((1000, 1000)).std()
    found = ttest_1samp(difference + sd * steps((n, 20_000)) / spread, 0.0)
    assert ((found.pvalue <= 0.05) & (found.statistic > 0)).mean() == pytest.approx(0.8, abs=0.01)


def test_planned_power_with_a_sample_of_gold_is_what_happens() -> None:
    """Ten documents a query of weight 0.1 whose predicted gain is off by normal errors; a fifth are drawn."""
    rng = np.random.default_rng(2)
    share, off, weight, docs, difference, sd = 0.2, 0.5, 0.1, 10, 0.05, 0.2
    gold_variance = docs * weight**2 * off**2
    n = queries_needed(difference, sampled_sd(sd**2, gold_variance, share))
    studies = np.empty((4000, n))
    for study in studies:
        true = rng.normal(difference, sd, n)
        error = off * rng.normal(size=(n, docs))
        drawn = rng.random((n, docs)) < share
        study[:] = true + (weight * error * (drawn / share - 1)).sum(axis=1)
    called = ttest_1samp(studies, 0.0, axis=1).pvalue <= 0.05
    assert called.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: queries_needed(0.0, 0.2), "a number other than 0"),
        (lambda: queries_needed(np.nan, 0.2), "a number other than 0"),
        (lambda: queries_needed(0.1, 0.0), "the standard deviation: expected a number above 0, found 0"),
        (lambda: queries_needed(0.1, np.nan), "found nan"),
        (lambda: queries_needed(0.1, 0.2, power=1.0), "the power: expected a share above alpha"),
        (lambda: queries_needed(0.1, 0.2, alpha=0.0), "alpha: expected a share"),
        (lambda: sampled_sd(0.04, 0.01, 0.0), "above 0, at most 1"),
        (lambda: sampled_sd(-0.04, 0.01, 0.5), "numbers from 0"),
    ],
)
def test_questions_without_an_answer_are_refused(call: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        call()  # type: ignore[operator]


def test_what_is_out_of_reach_is_said() -> None:
    with pytest.raises(Undefined, match="out of reach"):
        queries_needed(1e-9, 1.0)
    with pytest.raises(Undefined, match="fewer than two queries"):
        smallest_difference(1, 0.2)
