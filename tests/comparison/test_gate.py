"""The gate follows the verdict, and never a difference without an interval."""

from __future__ import annotations

import karat as kt

#: The relevant document is second in one run and first in the other, on two queries only.
LABELS = {f"q{n}": {"good": 1, "bad": 0} for n in range(2)}
FIRST = {f"q{n}": {"good": 2.0, "bad": 1.0} for n in range(2)}
SECOND = {f"q{n}": {"good": 1.0, "bad": 2.0} for n in range(2)}


def line(a: dict[str, dict[str, float]], b: dict[str, dict[str, float]], **rule: float) -> str:
    return kt.comparison.gate(kt.compare(LABELS, {"a": a, "b": b}, "RR"), **rule)


def test_better_on_two_queries_alike_is_not_shown_better() -> None:
    # Two queries of two: the sign-flip test gives p = 0.5, and equal differences leave no interval.
    assert kt.compare(LABELS, {"a": SECOND, "b": FIRST}, "RR").verdict == "no difference shown"
    assert line(SECOND, FIRST, unless_better=0.1).startswith("failed: b is not shown better")


def test_worse_on_two_queries_alike_is_not_shown_worse() -> None:
    assert line(FIRST, SECOND, if_worse=0.1).startswith("passed: b is not shown worse")
    assert "no interval" in line(FIRST, SECOND, if_worse=0.1)
