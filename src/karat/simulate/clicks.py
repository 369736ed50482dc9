"""Users who click: they look at a rank with some chance, and click what looks good for what it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.records import ClickLog, Clicks
from karat.records.clicks import SATISFIED_AFTER

Floats = npt.NDArray[np.float64]

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
    impatience: float = IMPATIENCE,
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
    rng = np.random.default_rng(seed)
    click, stay = _chances(shown, attractiveness, satisfaction, impatience)
    times = shown["impressions"].to_numpy() if "impressions" in shown.columns else np.full(shown.height, impressions)
    clicks = rng.binomial(times, click)
    return Clicks.of(
        shown.select("query", "doc").with_columns(
            impressions=pl.Series(times, dtype=pl.Int64),
            clicks=pl.Series(clicks, dtype=pl.Int64),
            satisfied=pl.Series(rng.binomial(clicks, stay), dtype=pl.Int64),
        )
    )


def click_log(
    shown: pl.DataFrame,
    *,
    sessions: int = 100,
    attractiveness: Sequence[float] = ATTRACTIVENESS,
    satisfaction: Sequence[float] = SATISFACTION,
    impatience: float = IMPATIENCE,
    seed: int | np.random.Generator = 0,
) -> ClickLog:
    """The same users as a log: a row for every result in every session, with the time spent after a click.

    >>> shown = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "rank": [1, 2], "grade": [0, 4]})
    >>> len(click_log(shown, sessions=50))
    100

    Each query is asked in `sessions` sessions. Times are such that the share of 30 s and more is the satisfaction
    of the grade.
    """
    from scipy.special import ndtri

    rng = np.random.default_rng(seed)
    click, stay = _chances(shown, attractiveness, satisfaction, impatience)
    row = np.tile(np.arange(shown.height), sessions)
    clicked = rng.random(len(row)) < click[row]
    dwell = SATISFIED_AFTER * np.exp(rng.standard_normal(len(row)) + ndtri(stay)[row])
    session = pl.Series(np.repeat(np.arange(1, sessions + 1), shown.height)).cast(pl.String)
    log = shown.select("query", "doc", pl.col("rank").cast(pl.Int64))[row]
    return ClickLog.check(
        log.with_columns(
            clicked=pl.Series(clicked),
            dwell=pl.Series(np.where(clicked, dwell, np.nan)).fill_nan(None),
            session=pl.col("query") + "-" + session,
        )
    )


def _chances(
    shown: pl.DataFrame, attractiveness: Sequence[float], satisfaction: Sequence[float], impatience: float
) -> tuple[Floats, Floats]:
    """The chances of a click, and of a long stay after one."""
    missing = [name for name in ("query", "doc", "rank", "grade") if name not in shown.columns]
    if missing:
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
    return rank**-impatience * np.asarray(attractiveness)[grade], np.asarray(satisfaction)[grade]
