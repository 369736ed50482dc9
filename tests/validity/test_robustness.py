"""One judge's perfect ranking, scored with another's labels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.errors import Undefined
from karat.validity import robustness


def paired(noise: float, seed: int = 0) -> kt.Judgments:
    """Two judges of twelve queries who give the same label, or with some probability any."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(12):
        for doc in range(20):
            truth = int(rng.choice(3, p=[0.6, 0.25, 0.15]))
            for judge in "ab":
                label = int(rng.integers(0, 3)) if rng.random() < noise else truth
                rows.append({"query": f"q{query}", "doc": f"d{doc}", "judge": judge, "label": label})
    return kt.Judgments.of(rows)


def test_judges_who_agree_give_each_other_full_marks() -> None:
    found = robustness(paired(0.0), 2).frame
    assert found["mean"].to_list() == pytest.approx([1.0] * found.height)
    assert found["n"].to_list() == [24] * found.height


def test_the_papers_measures_are_there_and_weights_make_them_steadier() -> None:
    found = robustness(paired(0.4), 2)
    frame = {row["measure"]: row for row in found.frame.iter_rows(named=True)}
    assert list(frame) == [
        "AP(rel=2)",
        "GAP(gains=udm(1/2))",
        "GAP(gains=udm(1/3))",
        "GAP(gains=udm(1/4))",
        "nDCG(gains='exp',discount='zipf')",
        "nDCG(gains='exp')",
        "nDCG(gains=udm(1/2))",
        "nDCG(gains=udm(1/3))",
        "nDCG(gains=udm(1/4))",
    ]
    # As in the paper's Table 2: the more users a level may please, the higher and the steadier the score.
    assert frame["AP(rel=2)"]["mean"] < frame["GAP(gains=udm(1/2))"]["mean"] < frame["GAP(gains=udm(1/4))"]["mean"]
    assert frame["nDCG(gains=udm(1/4))"]["sd"] < frame["AP(rel=2)"]["sd"]


def test_queries_with_one_judge_cannot_tell() -> None:
    alone = kt.Judgments.of(
        pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "label": [1, 0], "judge": ["x", "x"]})
    )
    with pytest.raises(Undefined, match="no query was judged by two judges"):
        robustness(alone)
    with pytest.raises(kt.BadInput, match="the column judge for paired judgments"):
        robustness(kt.Judgments.of({"q": {"a": 1}}))
