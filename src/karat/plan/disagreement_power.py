"""How many queries must be judged twice until it is known how far users disagree?"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges import disagreement
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.result import Lines
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Floats
from karat.stats.student_t import t_quantile

#: A plan for more queries than these is none.
MOST = 1_000_000


def plan_disagreement(
    labels: Panel | LabelsLike, within: float = 0.05, top: float | None = None, *, level: float = 0.95
) -> Result:
    """The queries judged twice that tell p(T|i) to within so much, for each level, from a pilot judged twice.

    >>> rows = [{"query": f"q{q}", "doc": f"d{d}", "judge": j, "label": (q * (d + (j == "y"))) % 3}
    ...         for q in range(8) for d in range(5) for j in "xy"]
    >>> plan_disagreement(rows, 0.1).frame.columns
    ['level', 'p', 'half_width', 'queries', 'queries_needed', 'labels_needed']

    p is a ratio of sums over queries: its error is taken from how far the pilot's queries are off, each by (told - p
    asked) / asked of a query, and goes down with the root of their number; Student's t. The queries to come are taken
    to be like the pilot's, with as many documents each.
    """
    if not 0 < within < 1:
        raise BadInput.at("the half-width", expected="a number between 0 and 1, as 0.05", found=f"{within:g}")
    model = disagreement(labels, top, draws=0)
    told, asked = model.votes.sums
    n, each = len(told), model.votes.counts.sum() / len(told)
    if n < FEWEST:
        raise Undefined(f"a plan takes a pilot of {FEWEST} queries judged twice or more, not {n}")
    rows = []
    for place, grade in enumerate(model.votes.levels):
        spread = _spread(told[:, place], asked[:, place])
        if math.isnan(spread):
            continue
        needed = _queries(spread, within, level)
        half = t_quantile(1 - (1 - level) / 2, n - 1) * spread / math.sqrt(n)
        rows.append((grade, float(model.p[place]), half, n, needed, round(needed * each)))
    names = ["level", "p", "half_width", "queries", "queries_needed", "labels_needed"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    said, last = model.votes.panel.said, frame.filter(pl.col("level") < model.top).to_dicts()[-1]
    finding = (
        f"p({said(model.top)}|{said(last['level'])}) is known to within {within:g} from "
        f"{count(last['queries_needed'], 'query', 'queries')} judged twice; the {n} there are tell it to within "
        f"{last['half_width']:.3f}."
    )
    notes = (*model.notes, f"{each:.0f} labels a query, as in the pilot; {level * 100:g} % intervals")
    return Result(frame, finding, notes, scale=model.votes.panel.scale, drawing=_along(frame, n, level, said))


def _spread(told: Floats, asked: Floats) -> float:
    """By how much a query is off, as a standard deviation: over the root of their number it is p's error."""
    n, whole = len(told), asked.sum()
    if whole <= 0:
        return math.nan
    off = (told - told.sum() / whole * asked) / (whole / n)
    return float(np.sqrt((off**2).sum() / (n - 1)))


def _queries(spread: float, within: float, level: float) -> int:
    """The least number of queries whose interval is no wider."""
    for n in _sizes():
        if t_quantile(1 - (1 - level) / 2, n - 1) * spread / math.sqrt(n) <= within:
            return n
    return MOST


def _sizes() -> list[int]:
    """Numbers to try: every one up to 300, then in steps of half a per cent."""
    found = list(range(FEWEST, 300))
    while found[-1] < MOST:
        found.append(math.ceil(found[-1] * 1.005))
    return found


def _along(frame: pl.DataFrame, n: int, level: float, said: Callable[[float], str]) -> Lines:
    """The half-width along the number of queries, for each level."""
    sizes = range(FEWEST, 4 * n + 1, max(1, n // 10))
    rows = [
        (size, f"said {said(row['level'])}", row["half_width"] * math.sqrt(n / size) * _wider(size, n, level))
        for row in reversed(frame.to_dicts())
        for size in sizes
    ]
    curve = pl.DataFrame(rows, schema=["queries", "said", "half_width"], orient="row")
    return Lines(curve, "queries", "half_width", "said", "queries judged twice", "half-width of p", whole=True)


def _wider(size: int, n: int, level: float) -> float:
    ends = [t_quantile(1 - (1 - level) / 2, number - 1) for number in (size, n)]
    return ends[0] / ends[1]
