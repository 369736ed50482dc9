"""Adjusted p values: as published, as other libraries have them, and undefined where a test is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from karat.stats.multiple_testing import benjamini_hochberg, holm

#: Benjamini and Hochberg 1995, section 3.1: rt-PA against APSAC after a heart attack.
HEART = np.array(
    [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1]
)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_the_heart_study_has_four_discoveries_and_bonferroni_three() -> None:
    assert (benjamini_hochberg(HEART) <= 0.05).sum() == 4
    assert (HEART * len(HEART) <= 0.05).sum() == 3
    assert (holm(HEART) <= 0.05).sum() == 3


@given(P_VALUES)
def test_adjusted_values_are_scipys(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p), abs=1e-12)


@pytest.mark.parametrize("p", [HEART, np.random.default_rng(0).random(30) ** 3, [0.2], [0.01] * 5])
def test_adjusted_values_are_those_of_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1], abs=1e-12)


@given(P_VALUES)
def test_an_undefined_test_stays_so_and_is_not_counted(p: list[float]) -> None:
    for adjust in (holm, benjamini_hochberg):
        mixed = adjust([np.nan, *p, np.nan])
        assert np.isnan(mixed[[0, -1]]).all()
        assert np.array_equal(mixed[1:-1], adjust(p))


@given(P_VALUES)
def test_adjusting_keeps_the_order_and_never_makes_a_p_value_smaller(p: list[float]) -> None:
    order = np.argsort(p, kind="stable")
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(p)
        assert (np.diff(adjusted[order]) >= 0).all()
        assert (adjusted >= np.array(p) - 1e-15).all()
        assert (adjusted <= 1).all()


def test_no_tests_give_no_values() -> None:
    assert holm([]).tolist() == benjamini_hochberg([]).tolist() == []
