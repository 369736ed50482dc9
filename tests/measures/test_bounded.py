"""Which measures lie between 0 and 1, whatever the labels and lists."""

from __future__ import annotations

import numpy as np
import pytest

import karat as kt
from karat.measures.base import MEASURES

#: By their definitions: shares, means of shares, chances to be content.
BOUNDED = {"P", "R", "AP", "RR", "RBP", "ERR", "nDCG", "GAP", "Success", "NuggetRecall", "SetP", "IPrec"}
#: Sums of gains, counts and logarithms.
UNBOUNDED = {"CG", "DCG", "CCG", "NumRel", "NumRet", "GMAP"}


@pytest.mark.parametrize("name", sorted(BOUNDED | UNBOUNDED))
def test_a_measure_says_whether_it_lies_between_0_and_1(name: str) -> None:
    assert MEASURES[name].bounded is (name in BOUNDED)


@pytest.mark.parametrize("name", sorted(name for name in MEASURES if MEASURES[name].bounded))
def test_no_value_of_a_bounded_measure_lies_outside(name: str) -> None:
    rng = np.random.default_rng(5)
    labels = {f"q{q}": {f"d{d}": int(rng.integers(0, 4)) for d in range(12)} for q in range(30)}
    run = {f"q{q}": {f"d{d}": float(rng.normal()) for d in range(rng.integers(1, 20))} for q in range(30)}
    depth = 0.1 if name == "IPrec" else 10  # precision at a share of recall
    measure = MEASURES[name] @ depth if MEASURES[name].needs_cutoff else MEASURES[name]()
    values = kt.score(labels, run, measure, draws=0).queries[str(measure)]
    assert values.min() >= 0
    assert values.max() <= 1
