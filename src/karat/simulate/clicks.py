"""Users who click: they look at a rank with some chance, and click what looks good for what it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Clicks

#: The chance that a result of grade 0, 1, 2, ... is clicked once it is looked at, and that the click satisfies.
ATTRACTIVENESS = (0.08, 0.15, 0.25, 0.38, 0.55)
SATISFACTION = (0.10, 0.25, 0.45, 0.65, 0.85)
#: How quickly users stop looking: the result at rank r is looked at with chance r to the power of minus this.
IMPATIENCE = 0.8


def position_clicks(
    shown: pl.DataFrame,
    *,
    impressions: int = 1000,
    attractiveness: Sequence[float] = ATTRACTIVENESS,
    satisfaction: Sequence[float] = SATISFACTION,
    seed: int | np.random.Generator = 0,
) -> Clicks:
    """Click counts of lists shown many times: P(click) = P(look at the rank) x P(click | grade).

    >>> shown = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "rank": [1, 2], "grade": [0, 4]})
    >>> rate = pl.col("clicks") / pl.col("impressions")
    >>> position_clicks(shown, impressions=10**8).frame.select(rate.round(2)).to_series().to_list()
    [0.08, 0.32]

    `shown` has the columns query, doc, rank and grade (0, 1, ...), and may have impressions of its own. Users look
    at ranks independently of what stands above; they share no judge's habits, which is what makes clicks gold.
    Reference: Craswell et al., An Experimental Comparison of Click Position-Bias Models (WSDM 2008).
    """
    if not {"query", "doc", "rank", "grade"} <= {*shown.columns}:
        raise BadInput.at(
            "the lists shown", expected="the columns query, doc, rank, grade", found=", ".join(shown.columns)
        )
    grade, rank = shown["grade"].to_numpy().astype(np.int64), shown["rank"].to_numpy().astype(np.float64)
    highest = min(len(attractiveness), len(satisfaction)) - 1
    if shown.height and (grade.min() < 0 or grade.max() > highest):
        raise BadInput.at(
            "the lists shown",
            expected=f"grades from 0 to {highest}, one for each chance of a click",
            found=f"{grade.min()} to {grade.max()}",
        )
    if shown.height and rank.min() < 1:
        raise BadInput.at("the lists shown", expected="ranks from 1", found=f"{rank.min():g}")
    rng = np.random.default_rng(seed)
    times = shown["impressions"].to_numpy() if "impressions" in shown.columns else np.full(shown.height, impressions)
    clicks = rng.binomial(times, rank**-IMPATIENCE * np.asarray(attractiveness)[grade])
    return Clicks.of(
        shown.select("query", "doc").with_columns(
            impressions=pl.Series(times, dtype=pl.Int64),
            clicks=pl.Series(clicks, dtype=pl.Int64),
            satisfied=pl.Series(rng.binomial(clicks, np.asarray(satisfaction)[grade]), dtype=pl.Int64),
        )
    )
