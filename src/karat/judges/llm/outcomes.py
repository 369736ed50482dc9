"""What came of asking: answers that are no grade, and what a grade costs."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.judges.llm.asked import GRADED, LLMJudge
from karat.judges.llm.figure import Figure, mean


def outcomes(judge: LLMJudge, *, level: float) -> list[Figure]:
    """The share of first answers that are no grade, in all and by what they are instead; none where all are grades."""
    first = judge.first
    kinds = first["outcome"].unique().sort().to_list()
    if kinds == [GRADED] or not first.height:
        return []
    found = [
        mean(
            "outcomes", "no grade", (first["outcome"] == kind).to_numpy(), first["query"], "share", level=level, of=kind
        )
        for kind in kinds
        if kind != GRADED
    ]
    if len(found) == 1:
        return found
    none = (first["outcome"] != GRADED).to_numpy()
    return [mean("outcomes", "no grade", none, first["query"], "share", level=level), *found]


def costs(judge: LLMJudge, *, level: float) -> list[Figure]:
    """What a grade costs, in the unit of the column cost, and how many seconds an answer takes.

    Who pays for a refusal pays for a grade that is not there: what all first answers cost is shared by the grades.
    """
    found = []
    cost, seconds = (_numbers(judge.first, name) for name in ("cost", "seconds"))
    known = cost.is_not_null()
    graded = judge.first["label"].is_not_null().filter(known).cast(pl.Float64).to_numpy()
    if graded.any():
        spent = cost.filter(known).to_numpy()
        ratio = spent.sum() / graded.sum()
        # A mean of these is the ratio, and varies as it does: a query with refusals has costs and fewer grades.
        parts = ratio + (spent - ratio * graded) / graded.mean()
        found.append(mean("cost", "cost per grade", parts, _queries(judge, cost), "money", level=level))
    if seconds.count():
        taken = seconds.drop_nulls().to_numpy()
        found.append(mean("cost", "seconds per answer", taken, _queries(judge, seconds), "seconds", level=level))
    return found


def whole_cost(judge: LLMJudge) -> float:
    """What all answers cost, repeats and canaries too; NaN where nobody knows."""
    parts = [_numbers(frame, "cost") for frame in (judge.first, judge.again, judge.altered)]
    known = [float(part.sum()) for part in parts if part.count()]
    return sum(known) if known else np.nan


def _numbers(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column of numbers, null where there is none."""
    return frame[name] if name in frame.columns else pl.Series(name, [None] * frame.height, dtype=pl.Float64)


def _queries(judge: LLMJudge, known: pl.Series) -> pl.Series:
    return judge.first["query"].filter(known.is_not_null())
