"""Spearman's rho from tables is the one from ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from karat.stats.rank_correlation import spearman_from_tables as spearman

GRADES = st.integers(0, 4)


@given(st.lists(st.tuples(GRADES, GRADES), min_size=2, max_size=60))
def test_it_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs).T
    table = np.zeros((5, 5))
    np.add.at(table, (x, y), 1)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(spearman(table))
    else:
        assert spearman(table) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_a_stack_of_tables_gives_a_figure_for_each() -> None:
    rng = np.random.default_rng(1)
    tables = rng.integers(0, 9, size=(3, 4, 5, 5)).astype(float)
    stacked = spearman(tables)
    assert stacked.shape == (3, 4)
    assert stacked[2, 1] == pytest.approx(float(spearman(tables[2, 1])))


def test_nothing_has_no_correlation() -> None:
    assert np.isnan(spearman(np.zeros((3, 3))))
    assert spearman(np.eye(3)) == 1.0
    assert spearman(np.eye(3)[::-1]) == -1.0
