"""How many queries and gold labels until a difference shows, when judges err."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.published.accuracy import ROUGH, Accuracy
from karat.published.observed import Observed
from karat.records import Result
from karat.records.base import count
from karat.stats.correction import corrected

#: More queries than anybody will ever run.
MOST = 10**12


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
    from scipy.special import stdtrit

    accuracy.checked()
    variance = _variance(difference, observed, sd_difference, level, power)
    size, d, of_accuracies = abs(difference), accuracy.d, accuracy.variances

    def quantiles(n: float) -> tuple[float, float]:
        """How many standard errors the test asks for, and how many more the power, with n queries a system."""
        df = max((1 if sd_difference is not None else 2) * (n - 1.0), 1.0)
        return float(stdtrit(df, 0.5 + level / 2)), float(stdtrit(df, power))

    def independent(n: float) -> float:
        """The variance that the gold samples may add to the difference with n queries."""
        return (size / sum(quantiles(n))) ** 2 - variance / (n * d**2)

    def shared(n: float) -> float:
        """The variance of d that leaves the power as asked; the test's own error grows with the difference it sees."""
        test, more = quantiles(n)
        # By how much the gold sample may lengthen the distance from 0 that the test asks for.
        stretch = (size * d / math.sqrt(variance / n) - more) / test
        return (d / test) ** 2 * (1 - 1 / stretch**2) if stretch > 1 else 0.0

    truth = _share(float(corrected(observed.score, accuracy.relevant, accuracy.nonrelevant)))
    ends = (truth, _share(truth + size))
    added = sum(of_accuracies[0] * end**2 + of_accuracies[1] * (1 - end) ** 2 for end in ends) / d**2
    rows = [
        # Without gold labels there is nothing to add.
        _row("naive", independent, 0.0, observed.n, accuracy),
        _row("independent", independent, added, observed.n, accuracy),
        # A smaller sample might do, but how far judges are from guessing is then too vague to plan with.
        _row("shared", shared, sum(of_accuracies), observed.n, accuracy, most=(d / ROUGH) ** 2),
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.Int64) | {"method": pl.String})
    queries = rows[2]["queries"]
    how = "of the same queries" if sd_difference is not None else "of each system"
    said = (
        f"A true difference of {difference:g} shows at {100 * level:g} % with power {power:g} from "
        f"{count(queries, 'query', 'queries')} ({how}) with the gold labels there are."
        if queries is not None
        else f"No number of queries shows a true difference of {difference:g}: the gold labels are too few."
    )
    notes = [f"judges' errors leave {d:.3f} of a difference in their labels", *accuracy.notes]
    if rows[1]["queries"] is None:
        notes.append(
            "independent: no number of queries is enough with these gold labels; "
            f"{rows[1]['least_relevant']:,} relevant and {rows[1]['least_nonrelevant']:,} others are the least"
        )
    return Result(frame, said, tuple(notes))


def _variance(difference: float, observed: Observed, sd_difference: float | None, level: float, power: float) -> float:
    """The variance of b - a over queries, if all that was asked for can be."""
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
    return variance


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _row(
    method: str, room: Callable[[float], float], gold: float, n: int, accuracy: Accuracy, most: float = math.inf
) -> dict[str, Any]:
    """What a test needs whose gold sample has the variance `gold`, where n queries leave `room` for so much."""
    row: dict[str, Any] = {"method": method, "queries": _least(lambda n: room(n) >= gold)}
    for prefix, queries in (("", n), ("least_", MOST)):
        left = min(room(queries), most)
        for kind, _, labels in accuracy.counts:
            row[prefix + kind] = max(math.ceil(gold / left * labels), 2) if gold and left > 0 else None
    return row


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
