"""A rule for continuous integration: fail where a change makes search worse, or does not make it better."""

from __future__ import annotations

import math

from karat.comparison.comparison import Comparison
from karat.comparison.verdict import missing_in, with_missing
from karat.errors import BadInput, Undefined


def gate(found: Comparison, if_worse: float | None = None, unless_better: float | None = None) -> str:
    """Whether the second system passes, and why, in a line that begins with passed or failed; empty without a rule.

    >>> import karat as kt
    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> gate(kt.compare(labels, {"a": a, "b": b}, "P@1"), if_worse=0.01)
    'passed: b is not shown worse than a by P@1 by more than 0.01 (+0.7500, interval +0.5421 to +0.9579)'
    >>> gate(kt.compare(labels, {"b": b, "a": a}, "P@1"), if_worse=0.01)
    'failed: a is worse than b by P@1 by more than 0.01 (-0.7500, interval -0.9579 to -0.5421)'

    `if_worse` fails a system that is shown worse by more than so much: its whole interval lies below. `unless_better`
    passes only one that is shown better by more than so much. Between the two lies what the data cannot tell.
    """
    if if_worse is None and unless_better is None:
        return ""
    check_rule(len(found.systems), if_worse, unless_better)
    if found.verdict == "cannot say":
        raise Undefined(f"no verdict by {found.measure}, so none by the rule: {found.reason}")
    told = _rule(found, if_worse, unless_better)
    missing = missing_in(found) if found.pairs.height else ""  # where there are no pairs, the reason says it
    return with_missing(told, missing)


def _rule(found: Comparison, if_worse: float | None, unless_better: float | None) -> str:
    """Whether the second system passes, in a line."""
    a, b = found.systems
    if not found.pairs.height:  # the same lists: neither better nor worse
        what = "passed" if unless_better is None else "failed"
        return f"{what}: {b} is not shown {'worse' if unless_better is None else 'better'} than {a}: {found.reason}"
    row = found.pairs.row(0, named=True)
    low, high = row["low"], row["high"]
    ends = f"{row['difference']:+z.4f}, interval {low:+z.4f} to {high:+z.4f}"
    if math.isnan(low):
        # The queries do not vary. The difference is then as large as it looks only if a test found one.
        clear = found.verdict in ("better", "worse")
        low, high = (row["difference"],) * 2 if clear else (-math.inf, math.inf)
        ends = f"{row['difference']:+z.4f}, no interval"
    of = f"than {a} by {found.measure} by more than"
    if if_worse is not None and high < -if_worse:
        return f"failed: {b} is worse {of} {if_worse:g} ({ends})"
    if unless_better is None:
        return f"passed: {b} is not shown worse {of} {if_worse:g} ({ends})"
    if not low > unless_better:
        return f"failed: {b} is not shown better {of} {unless_better:g} ({ends})"
    return f"passed: {b} is better {of} {unless_better:g} ({ends})"


def check_rule(systems: int, *margins: float | None) -> None:
    """Refuse a rule that cannot be met: below 0, no number, or about more than two systems."""
    for margin in margins:
        if margin is not None and not (margin >= 0 and math.isfinite(margin)):
            raise BadInput.at("a rule to fail by", expected="a difference of 0 or more", found=str(margin))
        if margin is not None and systems != 2:
            raise BadInput.at("a rule to fail by", expected="two systems", found=str(systems))
