"""How many queries and gold labels until a difference shows, when judges err."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.published.accuracy import ROUGH, Accuracy
from karat.published.observed import Observed
from karat.records import Result
from karat.stats.correction import corrected

#: More queries than anybody will ever run.
MOST = 10**12


@dataclass(frozen=True)
class _Plan:
    """What is fixed: the true difference, the variance of b - a per query, the accuracies, and what is asked."""

    difference: float
    variance: float
    freedoms: int
    accuracy: Accuracy
    truth: float
    level: float
    power: float

    def quantiles(self, n: float) -> tuple[float, float]:
        """How many standard errors the test asks for, and how many more the power, with n queries a system."""
        from scipy.special import stdtrit

        df = max(self.freedoms * (n - 1.0), 1.0)
        return float(stdtrit(df, 0.5 + self.level / 2)), float(stdtrit(df, self.power))


def needed(
    difference: float,
    observed: Observed,
    accuracy: Accuracy,
    *,
    sd_difference: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> Result:
    """Queries and gold labels needed to see a true difference from a system with these figures.

    >>> plan = needed(0.02, Observed(0.6260, 10278, sd=0.414), Accuracy.of("43/59", "67/84"))
    >>> plan.frame.select("method", "queries").rows()
    [('naive', 24273), ('independent', None), ('shared', 25604)]

    A row for each test. `queries`: of each system, with the gold labels there are; none (null) if no number of
    queries is enough. `relevant` and `nonrelevant`: gold labels, in the proportion there is, for as many queries as
    were observed; none if more queries are needed first. `least_relevant` and `least_nonrelevant`: with any number of
    queries. The naive test uses no gold labels; it sees the difference times d, as judges' errors leave it.

    The independent test is right only where each system has its own gold sample (so many labels for each); on one
    sample for both it asks for far too many. Give `sd_difference` if both systems run the same queries.
    The power of `shared` is that of its own test: the gold sample does not blur whether there is a difference, it
    only has to show that the judges do better than guessing.
    """
    plan = _checked(difference, observed, accuracy, sd_difference, level, power)
    rows = [_naive(plan), _independent(plan, observed.n), _shared(plan, observed.n)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.Int64) | {"method": pl.String})
    shared = rows[2]
    how = "of the same queries" if sd_difference is not None else "of each system"
    said = (
        f"A true difference of {difference:g} shows at {100 * level:g} % with power {power:g} from "
        f"{shared['queries']:,} queries ({how}) with the gold labels there are."
        if shared["queries"] is not None
        else f"No number of queries shows a true difference of {difference:g}: the gold labels are too few."
    )
    notes = [f"judges' errors leave {accuracy.d:.3f} of a difference in their labels", *accuracy.notes]
    if rows[1]["queries"] is None:
        notes.append(
            "independent: no number of queries is enough with these gold labels; "
            f"{rows[1]['least_relevant']:,} relevant and {rows[1]['least_nonrelevant']:,} others are the least"
        )
    return Result(frame, said, tuple(notes))


def _checked(
    difference: float,
    observed: Observed,
    accuracy: Accuracy,
    sd_difference: float | None,
    level: float,
    power: float,
) -> _Plan:
    accuracy.checked()
    if not math.isfinite(difference) or not 0 < abs(difference) <= 1:
        raise BadInput.at("the difference", expected="a number up to 1, and not 0", found=str(difference))
    for name, value in (("the interval's level", level), ("the power", power)):
        if not 0 < value < 1:
            raise BadInput.at(name, expected="a share such as 0.8 or 0.95", found=str(value))
    if sd_difference is not None and not (math.isfinite(sd_difference) and sd_difference > 0):
        raise BadInput.at(
            "the standard deviation of the differences", expected="a number above 0", found=str(sd_difference)
        )
    variance = 2 * observed.variance * observed.n if sd_difference is None else sd_difference**2
    if variance == 0:
        raise BadInput.at("the standard deviation", expected="a number above 0", found="0")
    value = float(corrected(observed.score, accuracy.relevant, accuracy.nonrelevant))
    freedoms = 2 if sd_difference is None else 1
    return _Plan(abs(difference), variance, freedoms, accuracy, min(max(value, 0.0), 1.0), level, power)


def _naive(plan: _Plan) -> dict[str, Any]:
    seen = plan.difference * plan.accuracy.d

    def enough(n: int) -> bool:
        return sum(plan.quantiles(n)) * math.sqrt(plan.variance / n) <= seen

    return _row("naive", _least(enough), None, None, plan)


def _independent(plan: _Plan, n: int) -> dict[str, Any]:
    d, (v_relevant, v_nonrelevant) = plan.accuracy.d, plan.accuracy.variances
    ends = (plan.truth, min(max(plan.truth + plan.difference, 0.0), 1.0))
    gold = sum(v_relevant * end**2 + v_nonrelevant * (1 - end) ** 2 for end in ends) / d**2

    def room(n: float) -> float:
        """The variance that the gold sample may add with n queries."""
        of_queries = plan.variance / (n * d**2)
        return (plan.difference / sum(plan.quantiles(n))) ** 2 - of_queries

    def times(n: float) -> float | None:
        return gold / room(n) if room(n) > 0 else None

    return _row("independent", _least(lambda n: room(n) >= gold), times(n), times(MOST), plan)


def _shared(plan: _Plan, n: int) -> dict[str, Any]:
    d, unsure = plan.accuracy.d, sum(plan.accuracy.variances)

    def stretch(n: float) -> float:
        """By how much the gold sample may lengthen the distance from 0 that the test asks for, with n queries."""
        test, power = plan.quantiles(n)
        return (plan.difference * d / math.sqrt(plan.variance / n) - power) / test

    def allowed(n: float) -> float:
        """The variance of d that leaves the power as asked; the test's own error grows with the difference it sees."""
        test = plan.quantiles(n)[0]
        return (d / test) ** 2 * (1 - 1 / stretch(n) ** 2) if stretch(n) > 1 else 0.0

    def times(n: float) -> float | None:
        # A smaller sample might do, but how far judges are from guessing is then too vague to plan with.
        return unsure / min(allowed(n), (d / ROUGH) ** 2) if allowed(n) > 0 else None

    return _row("shared", _least(lambda n: allowed(n) >= unsure), times(n), times(MOST), plan)


def _row(method: str, queries: int | None, times: float | None, least: float | None, plan: _Plan) -> dict[str, Any]:
    def gold(factor: float | None, n: int) -> int | None:
        return None if factor is None else max(math.ceil(factor * n), 2)

    accuracy = plan.accuracy
    return {
        "method": method,
        "queries": queries,
        "relevant": gold(times, accuracy.n_relevant),
        "nonrelevant": gold(times, accuracy.n_nonrelevant),
        "least_relevant": gold(least, accuracy.n_relevant),
        "least_nonrelevant": gold(least, accuracy.n_nonrelevant),
    }


def _least(enough: Callable[[int], bool]) -> int | None:
    """The least number of queries, 2 or more, that is enough; none if the most is not."""
    low, high = 1, 2
    while not enough(high):
        if high >= MOST:
            return None
        low, high = high, min(high * 4, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
