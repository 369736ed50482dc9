"""Systems with the same score share the highest one; none of them is called the best."""

from __future__ import annotations

import karat as kt

LABELS = {f"q{i}": {"a": 1, "b": 0} for i in range(6)}
GOOD = {f"q{i}": {"a": 2.5, "b": 1.5} for i in range(6)}
BAD = {f"q{i}": {"b": 2.5, "a": 1.5} for i in range(6)}
FIRST_HALF = {f"q{i}": GOOD[f"q{i}"] if i < 3 else BAD[f"q{i}"] for i in range(6)}
# The relevant document first in four lists and fourth in two: 4.5 / 6 = 0.75, too, but further apart.
UNEVEN = {f"q{i}": GOOD[f"q{i}"] if i < 4 else {"x": 4.5, "y": 3.5, "b": 2.5, "a": 1.5} for i in range(6)}


def sentence(**runs: dict[str, dict[str, float]]) -> str:
    return kt.score(LABELS, runs, "RR", draws=0).finding


def test_two_that_are_equal_share_the_highest_score() -> None:
    assert sentence(s0=GOOD, s1=GOOD) == "Of 2 systems, both have the same RR: 1.0000 over 6 queries."
    assert sentence(s0=BAD, s1=GOOD, s2=GOOD) == (
        "Of 3 systems, s1 and s2 share the highest RR: 1.0000 over 6 queries."
    )


def test_all_that_are_equal_are_said_to_be() -> None:
    assert sentence(a=BAD, b=BAD, c=BAD) == "Of 3 systems, all have the same RR: 0.5000 over 6 queries."
    many = {f"s{i}": GOOD for i in range(6)}
    assert sentence(**many, bad=BAD).startswith("Of 7 systems, s0, s1, s2 and 3 more share the highest RR: 1.0000")


def test_equal_means_of_unlike_queries_are_equal_but_have_no_common_interval() -> None:
    scores = kt.score(LABELS, {"a": FIRST_HALF, "b": UNEVEN}, "RR")
    assert scores.finding == "Of 2 systems, both have the same RR: 0.7500 over 6 queries."
    alone = kt.score(LABELS, {"a": FIRST_HALF, "b": FIRST_HALF}, "RR")
    assert "95 % interval" in alone.finding


def test_the_order_and_a_single_best_stay_as_they_are() -> None:
    scores = kt.score(LABELS, {"bad": BAD, "good": GOOD}, "RR", draws=0)
    assert scores.finding == "Of 2 systems, good has the highest RR: 1.0000 over 6 queries."
    assert kt.score(LABELS, {"x": GOOD, "y": GOOD}, "RR", draws=0).best_first() == ["x", "y"]
