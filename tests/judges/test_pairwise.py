"""Agreement of every two judges, on what both labelled."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import karat as kt
from crowds import slips, table_of
from karat.judges import pairwise
from simulated import studies


@settings(max_examples=len(studies(16, 120)))
@given(st.integers(0, 10_000))
def test_every_two_judges_are_compared_on_what_both_labelled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = slips(rng, 30, 4, 0.6)
    labels[rng.random(labels.shape) < 0.4] = -1
    frame = pairwise(kt.Judgments.of(table_of(labels)), min_pairs=8).frame
    expected = {}
    for a in range(4):
        for b in range(a + 1, 4):
            both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
            if both.sum() >= 8:
                expected[f"j{a:02}", f"j{b:02}"] = (int(both.sum()), labels[both, a], labels[both, b])
    assert {(r["judge"], r["against"]) for r in frame.iter_rows(named=True)} == set(expected)
    for found in frame.iter_rows(named=True):
        n, one, other = expected[found["judge"], found["against"]]
        assert found["n_pairs"] == n
        assert found["raw"] == pytest.approx(np.mean(one == other))
        quadratic = cohen_kappa_score(one, other, weights="quadratic", labels=[*range(4)])
        assert found["cohen"] == pytest.approx(cohen_kappa_score(one, other), nan_ok=True)
        assert found["cohen_quadratic"] == pytest.approx(quadratic, nan_ok=True)
        alpha = krippendorff.alpha([one, other], level_of_measurement="ordinal")
        assert found["alpha_ordinal"] == pytest.approx(alpha, nan_ok=True)


def test_judges_who_hardly_meet_are_not_compared() -> None:
    labels = np.array([[0, 1, -1], [1, 1, -1], [2, -1, 2]])
    result = pairwise(kt.Judgments.of(table_of(labels)), min_pairs=2)
    assert result.frame.select("judge", "against", "n_pairs", "n_queries").rows() == [("j00", "j01", 2, 1)]
    assert "1 pair of judges with fewer than 2 labelled pairs in common left out" in result.notes
    nobody = pairwise(kt.Judgments.of(table_of(labels)))
    assert nobody.frame.height == 0
    assert nobody.finding == "No two judges have 10 pairs in common on which to compare them."
    with pytest.raises(kt.BadInput, match="the names of judges, for comparing every two of them"):
        pairwise(kt.Judgments.of({"q": {"d": 1}}))
