"""Corrected scores that cannot be give no verdict."""

from __future__ import annotations

from karat.correction.error_rates import Accuracy
from karat.correction.published_pairs import corrected_difference
from karat.correction.published_scores import Observed


def test_impossible_scores_give_no_verdict() -> None:
    """By hand: d = .6 + .65 - 1 = .25, so .9 becomes (.9 - 1 + .65) / .25 = 2.2 and .2 becomes -.6."""
    judges = Accuracy.of("60/100", "65/100")
    found = corrected_difference(Observed(0.9, 500, 0.1), Observed(0.2, 500, 0.1), judges)
    assert (round(found.a.value, 2), round(found.b.value, 2)) == (2.2, -0.6)
    assert found.verdict == "cannot say"
    assert "2.20 and -0.60 are impossible" in found.finding
