"""How many pairs of lists, seen by how many judges, until a measure is shown to agree with users?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import Result
from karat.records.table import count
from karat.stats.arrays import Floats

#: The numbers of judges that are looked at when none are asked for.
JUDGES = (1, 2, 3, 5, 8, 12)
#: More pairs than this nobody shows.
MOST = 100_000


def plan_preferences(
    agreement: float,
    *,
    more_than: float = 0.5,
    judge_right: float = 0.7,
    equal: float = 0.2,
    judges: Sequence[int] = (),
    power: float = 0.8,
    alpha: float = 0.05,
) -> Result:
    """The pairs that users must compare to show that a measure agrees with them in more than a share of the pairs.

    >>> found = plan_preferences(0.75, judges=[1, 8])
    >>> found.frame.select("judges", "pairs", "answers", pl.col("seen").round(3)).rows()
    [(1, 262, 262, 0.6), (8, 63, 504, 0.694)]

    `agreement` is the share of pairs in which the measure prefers the list that users as a whole prefer. A judge finds
    both equal with chance `equal`, and otherwise prefers what users prefer with chance `judge_right`; the majority of
    the judges of a pair is sometimes wrong or tied, so that the agreement `seen`, among pairs with a majority, is
    nearer to one half. Few pairs with many judges or many pairs with few: `answers` is their product, and the fewest
    are `cheapest`. The power is that of the exact binomial test at `alpha`, two-sided, as `agreement` has it where
    every pair is of another query; pairs of one query hang together and count for less. So many pairs or more have it.

    Judges are taken to be equally sure of every pair. Where some pairs are clear and others are not, more judges help
    less than the table says.
    """
    _check(agreement, more_than, judge_right, equal, judges, power, alpha)
    rows: list[dict[str, Any]] = []
    for number in sorted({*judges}) or JUDGES:
        right, wrong = majority(number, judge_right, equal)
        decided = right + wrong
        seen = (agreement * right + (1 - agreement) * wrong) / decided
        pairs = _pairs_needed(seen, decided, more_than, power, alpha)
        answers = None if pairs is None else pairs * number
        rows.append({"judges": number, "pairs": pairs, "answers": answers, "seen": seen, "tied": 1 - decided})
    frame = pl.DataFrame(rows, schema=_COLUMNS)
    frame = frame.with_columns(cheapest=pl.col("answers") == pl.col("answers").min())
    reached = frame.drop_nulls("pairs")
    if not reached.height:
        most_seen = max(row["seen"] for row in rows)
        raise Undefined(
            f"a measure that agrees in {agreement:.0%} cannot be shown to agree in more than {more_than:.0%} with "
            f"{MOST:,} pairs: its agreement with the majority of so few judges is seen as {most_seen:.1%}"
        )
    best = reached.filter("cheapest").row(0, named=True)
    most = reached.row(-1, named=True)
    text = (
        f"{_said(best)} show with power {100 * power:g} % that a measure which agrees with users in "
        f"{100 * agreement:g} % of pairs agrees in more than {100 * more_than:g} %"
    )
    if most["judges"] != best["judges"]:
        text += f"; so do {_said(most)}"
    notes = (
        f"exact binomial test at {alpha:g}, two-sided; one pair a query, for pairs of one query hang together",
        f"a judge finds both equal in {100 * equal:g} % of answers and is for what users prefer in "
        f"{100 * judge_right:g} % of the others, in every pair alike",
    )
    return Result(frame, text + ".", notes)


_COLUMNS = {"judges": pl.Int64, "pairs": pl.Int64, "answers": pl.Int64, "seen": pl.Float64, "tied": pl.Float64}


def _said(row: dict[str, Any]) -> str:
    each = "one judge each" if row["judges"] == 1 else f"{row['judges']} judges each ({row['answers']:,} answers)"
    return f"{count(row['pairs'], 'pair')} with {each}"


def majority(judges: int, judge_right: float, equal: float) -> tuple[float, float]:
    """The chances that so many judges prefer, by majority, what users prefer, and the other list; else they are tied.

    >>> tuple(round(chance, 3) for chance in majority(3, 0.7, 0.0))  # 0.7^3 + 3 x 0.7^2 x 0.3
    (0.784, 0.216)
    """
    step = np.array([(1 - equal) * (1 - judge_right), equal, (1 - equal) * judge_right])
    spread = np.ones(1)
    for _ in range(judges):
        spread = np.convolve(spread, step)
    return float(spread[judges + 1 :].sum()), float(spread[:judges].sum())


def _pairs_needed(seen: float, decided: float, more_than: float, power: float, alpha: float) -> int | None:
    """The fewest pairs with the power, none where so many are out of reach."""
    if seen <= more_than:
        return None
    most = 64
    while most <= MOST:
        called = _called(most, seen, more_than, alpha)
        # Half of what is looked at, so that no longer row of pairs falls back below the power.
        if _power(most // 2, decided, called) >= power:
            low, high = 0, most // 2
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if _power(middle, decided, called) >= power else (middle, high)
            return high
        most *= 2
    return None


def _called(most: int, seen: float, more_than: float, alpha: float) -> Floats:
    """For 0 to `most` pairs with a majority, the chance that the test calls; never less for more pairs.

    The exact test is a saw: a pair more may lower its power. The lowest from each number of pairs on is promised.
    """
    from scipy.stats import binom

    pairs = np.arange(most + 1)
    edge = binom.isf(alpha / 2, pairs, more_than)
    chance = np.where(edge < pairs, binom.sf(edge, pairs, seen), 0.0)
    lowest: Floats = np.minimum.accumulate(chance[::-1])[::-1]
    return lowest


def _power(pairs: int, decided: float, called: Floats) -> float:
    """The power of so many pairs, of which a share has a majority."""
    from scipy.stats import binom

    return float(binom.pmf(np.arange(pairs + 1), pairs, decided) @ called[: pairs + 1])


def _check(
    agreement: float,
    more_than: float,
    judge_right: float,
    equal: float,
    judges: Sequence[int],
    power: float,
    alpha: float,
) -> None:
    within = {
        "the agreement to show": (agreement, more_than, 1.0, f"above {more_than:g}, at most 1"),
        "the agreement to exceed": (more_than, 0.0, 1.0, "between 0 and 1"),
        "the share of right answers": (judge_right, 0.5, 1.0, "above 0.5, at most 1"),
        "the power": (power, 0.0, 1.0, "between 0 and 1"),
        "alpha": (alpha, 0.0, 1.0, "between 0 and 1"),
    }
    for name, (value, low, high, expected) in within.items():
        open_ended = name in ("the agreement to show", "the share of right answers")
        if not low < value <= high or (value == high and not open_ended):
            raise BadInput.at(name, expected=expected, found=f"{value:g}")
    if not 0 <= equal < 1:
        raise BadInput.at("the share of equal answers", expected="from 0 to below 1", found=f"{equal:g}")
    if any(number < 1 for number in judges):
        raise BadInput.at("the judges of a pair", expected="1 or more", found=str(min(judges)))
