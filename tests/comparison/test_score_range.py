"""No interval leaves the scores that a measure can give."""

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.comparison.interim import Look
from karat.comparison.query_groups import by_group
from karat.correction.estimate import Difference, Estimate

LABELS = {"q1": {"good": 1, "bad": 0}, "q2": {"good": 1, "bad": 0}, "q3": {"good": 1, "bad": 0}}


def _runs(first):
    """a ranks the relevant document second or not at all, b first, in the queries named."""
    best = {"good": 2.0, "bad": 1.0}
    a = {q: best if q in first else {"bad": 2.0} for q in LABELS}
    return {"a": a, "b": dict.fromkeys(LABELS, best)}


def test_differences_of_bounded_measures_stay_in_range():
    # By hand: differences 0, 1, 1; mean 2/3, standard error 1/3, t(2) = 4.303: 2/3 + 1.434 would be 2.10.
    found = kt.compare(LABELS, _runs({"q1"}), "P@1")
    row = found.methods.row(0, named=True)
    assert row["difference"] == pytest.approx(2 / 3)
    assert row["low"] == pytest.approx(2 / 3 - 4.302653 / 3, abs=1e-5)
    assert row["high"] == 1.0
    assert found.pairs["high"].max() <= 1
    assert found.tests["high"].drop_nans().max() <= 1


def test_scores_of_compared_systems_stay_in_range():
    ranks = kt.compare(LABELS, _runs({"q1"}), "nDCG@10").ranks
    a = ranks.filter(system="a").row(0, named=True)
    assert (a["low"], a["high"]) == (0.0, 1.0)  # one of three queries answered: 1/3 with a t interval of 1.43 each way


def test_unbounded_measures_keep_their_interval():
    row = kt.compare(LABELS, _runs({"q1"}), "CG@10").methods.row(0, named=True)
    assert row["high"] > 1


def test_intervals_while_peeking_stay_in_range():

    values = np.array([[0.0, 1.0], [1.0, 0.0]] * 5 + [[0.0, 1.0]] * 12)
    estimate = Estimate.of_values("plain", ("a", "b"), values, score_range=(0.0, 1.0))
    looked = Look(planned=100).at(estimate, 0, 1)
    assert -1 <= looked.low < looked.high <= 1


def test_groups_of_queries_stay_in_range():
    labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(12)}
    best, worst = {"good": 2.0, "bad": 1.0}, {"good": 1.0, "bad": 2.0}
    a = {q: worst if int(q[1:]) % 6 else best for q in labels}
    found = kt.compare(labels, {"a": a, "b": dict.fromkeys(labels, best)}, "P@1")
    groups = by_group(found, pl.DataFrame({"query": list(labels), "group": ["head"] * 6 + ["tail"] * 6}))
    assert groups.to_frame()["high"].max() <= 1


def test_a_difference_is_clipped_to_twice_the_range():
    wide = Difference(0.5, 0.5, -0.49, 1.6, 0.3)
    assert wide.within((0.0, 1.0))[2:4] == (-0.49, 1.0)
    assert wide.within(None) == wide
