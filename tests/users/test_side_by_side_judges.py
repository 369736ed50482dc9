"""Judges of preferences: who always takes one side, who answers in no time, who failed a trap, who goes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.errors import BadInput, Undefined
from karat.users import preference_judges


def study(judges: dict[str, Any], questions: int = 40, seed: int = 1, by_lot: bool = True) -> list[dict[str, Any]]:
    """Answers to questions with a known better system, "a"; a judge is a function of the side on which it stands."""
    rng = np.random.default_rng(seed)
    rows = []
    for name, chooses in judges.items():
        for number in range(questions):
            side = ("left", "right")[rng.integers(2)] if by_lot else "left"
            left, right = ("a", "b") if side == "left" else ("b", "a")
            shown = {"query": f"q{number}", "left": left, "right": right, "judge": name}
            rows.append(shown | chooses(side, rng))
    return rows


def careful(side: str, rng: np.random.Generator) -> dict[str, Any]:
    return {"choice": side if rng.random() < 0.8 else "equal", "seconds": 20.0}


def hasty(side: str, rng: np.random.Generator) -> dict[str, Any]:
    return {"choice": "left", "seconds": 1.0}


def test_a_judge_who_always_says_left_in_a_second_is_named_and_no_other() -> None:
    rows = study({"ann": careful, "bob": careful, "cat": careful, "eve": hasty})
    found = preference_judges(rows)
    table = {row["judge"]: row for row in found.frame.iter_rows(named=True)}
    assert table["eve"]["flag"] == "always left, 100 % of answers in less than 2 seconds"
    assert (table["eve"]["left"], table["eve"]["seconds"], table["eve"]["fast"]) == (1.0, 1.0, 1.0)
    assert [table[name]["flag"] for name in ("ann", "bob", "cat")] == [None] * 3
    assert table["ann"]["agreement"] == 1.0
    assert "eve (always left" in found.finding
    # Wilson's interval, by another tool.
    mine = [row for row in rows if row["judge"] == "ann" and row["choice"] != "equal"]
    wilson = binomtest(sum(row["choice"] == "left" for row in mine), len(mine)).proportion_ci(0.95, "wilson")
    assert (table["ann"]["left_low"], table["ann"]["left_high"]) == pytest.approx((wilson.low, wilson.high), abs=1e-9)


def test_agreement_is_with_the_majority_of_the_others_of_the_same_question() -> None:
    """Of q three: ann and bob for x, eve for y. Ann and bob are each met by one of either side, so nothing to go by;
    both others of eve say x: 0 of 1. Of r two who agree: 1 of 1 each."""
    said = {("q", "ann"): "left", ("q", "bob"): "left", ("q", "eve"): "right"}
    said |= {("r", "ann"): "left", ("r", "bob"): "left"}
    rows = [
        {"query": query, "left": "x", "right": "y", "judge": judge, "choice": choice}
        for (query, judge), choice in said.items()
    ]
    found = {row["judge"]: (row["agreement"], row["compared"]) for row in preference_judges(rows).frame.to_dicts()}
    assert found == {"ann": (1.0, 1), "bob": (1.0, 1), "eve": (0.0, 1)}


def test_where_one_system_is_always_left_nobody_is_blamed_for_preferring_it() -> None:
    rows = study({"ann": careful, "bob": careful}, by_lot=False)
    found = preference_judges(rows)
    assert found.frame["flag"].to_list() == [None, None]
    assert any("not drawn by lot" in note for note in found.notes)


def test_a_judges_repeated_answers_change_no_figure() -> None:
    """METHODS: one answer a judge and question, the first. A repeat in a second made a careful judge half fast."""
    rows = study({"ann": careful, "bob": careful})
    rows = [row | {"seconds": 20.0} for row in rows]
    again = [row | {"seconds": 1.0, "choice": "left"} for row in rows if row["judge"] == "ann"] * 2
    once, twice = preference_judges(rows).frame, preference_judges(rows + again).frame
    assert once.sort("judge").rows() == twice.sort("judge").rows()


def test_traps_are_counted_apart() -> None:
    rows = study({"ann": careful, "bob": careful})
    trap = rows[0] | {"trap": True, "expected": "left"}
    traps = [trap | {"judge": "ann", "choice": "left"}, trap | {"judge": "bob", "choice": "right"}]
    found = preference_judges([row | {"trap": False, "expected": None} for row in rows] + traps).frame
    table = {row["judge"]: row for row in found.iter_rows(named=True)}
    assert [table[name]["n"] for name in ("ann", "bob")] == [40, 40]
    assert [table[name]["traps_failed"] for name in ("ann", "bob")] == [0, 1]
    assert table["bob"]["flag"] == "failed 1 of 1 traps"


def test_fair_judges_are_rarely_flagged() -> None:
    """Holm keeps the chance of a flag in a study below 5 %: of 100 studies of ten who choose by coin, few have one."""

    def coin(side: str, rng: np.random.Generator) -> dict[str, Any]:
        return {"choice": ("left", "right")[rng.integers(2)]}

    flagged = [
        preference_judges(study({f"j{n}": coin for n in range(10)}, seed=seed)).frame["flag"].count() > 0
        for seed in range(100)
    ]
    assert sum(flagged) <= 8


def test_names_and_the_order_of_rows_change_nothing() -> None:
    rows = study({"ann": careful, "bob": careful, "eve": hasty})
    renamed = [row | {"judge": {"ann": "zoe", "bob": "abe", "eve": "mia"}[row["judge"]]} for row in rows]
    figures = [{tuple(row[1:]) for row in preference_judges(data).frame.rows()} for data in (rows, rows[::-1], renamed)]
    assert figures[0] == figures[1] == figures[2]


def test_without_judges_there_is_no_table() -> None:
    row = {"query": "q", "left": "a", "right": "b", "choice": "left"}
    with pytest.raises(BadInput, match="the column judge"):
        preference_judges([row])
    with pytest.raises(Undefined, match="no judge with a name"):
        preference_judges([row | {"judge": "ann", "trap": True, "expected": "left"}])
