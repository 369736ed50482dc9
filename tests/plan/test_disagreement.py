"""How many queries judged twice tell how far users disagree."""

from __future__ import annotations

import numpy as np
import pytest

import karat as kt
from karat.judges import disagreement
from karat.plan.disagreement_power import plan_disagreement
from karat.simulate import disagreement_study
from simulated import studies


def labels(queries: int, seed: int) -> kt.Judgments:
    return disagreement_study(queries=queries, engines=4, docs=10, crowd_queries=1, seed=seed).judgments


def test_as_many_queries_are_planned_as_the_spread_between_them_asks_for() -> None:
    rows = [
        {"query": f"q{q}", "doc": "d", "judge": judge, "label": 0 if judge == "x" else q % 2}
        for q in range(40)
        for judge in "xy"
    ]
    found = plan_disagreement(rows, 0.1).frame.row(0, named=True)
    # After the 0 of x and of y: 20 queries say 1 of weight 1/2, 20 have two zeros: p = (20/2) / (20/2 + 20) = 1/3.
    assert found["p"] == pytest.approx(1 / 3)
    asked, told = np.array([0.5, 1.0] * 20), np.array([0.5, 0.0] * 20)
    off = (told - asked / 3) / 0.75
    spread = np.sqrt((off**2).sum() / 39)
    n = found["queries_needed"]
    assert 1.98 * spread / np.sqrt(n) <= 0.1 < 2.02 * spread / np.sqrt(n - 2)


@pytest.mark.evidence
def test_studies_of_the_planned_size_know_p_as_well_as_planned() -> None:
    plan = plan_disagreement(labels(60, 1), 0.07, 3).frame
    needed = int(plan["queries_needed"][2])
    halves = []
    for seed in studies(6, 100):
        model = disagreement(labels(needed, 50 + seed), 3, draws=400)
        low, high = model.intervals
        halves.append((high[2] - low[2]) / 2)
    assert np.mean(halves) == pytest.approx(0.07, rel=0.25)


def test_a_plan_takes_a_pilot_and_a_width() -> None:
    with pytest.raises(kt.Undefined, match="a pilot of 5 queries judged twice or more, not 3"):
        plan_disagreement(labels(3, 1), 0.05, 3)
    with pytest.raises(kt.BadInput, match="expected a number between 0 and 1"):
        plan_disagreement(labels(6, 1), 0.0, 3)
