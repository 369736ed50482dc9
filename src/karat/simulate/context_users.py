"""Users of a study in context: what they prefer when a page is worth less after its like, and what they click."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.measures import Measure
from karat.records import Clicks, Judgments, Preferences, Runs
from karat.records.runs import ranked
from karat.simulate.clicks import position_clicks
from karat.simulate.preferences import side_by_side

#: How many users say which of two lists they prefer, as in the paper.
EACH = 5
#: Users see a list of so many pages.
SHOWN = 5
#: Where a preference begins and where it is strong, in standard deviations of the true differences.
EQUAL, CLEAR, NOISE = 0.1, 1.6, 0.5


def context_users(
    pages: pl.DataFrame, pairs: pl.DataFrame, runs: Runs, utility: str | Measure, rng: np.random.Generator
) -> tuple[Preferences, Clicks]:
    """What users say of every two of the runs, query by query, and what they click in the first one.

    A list is worth to them what the measure `utility` says of the mean labels that judges would give, alone (`expected`
    of the pages) and after each other page (`expected` of the pairs): every pair has one, judged or not.
    """
    alone = pages.select("query", "doc", pl.lit(None, pl.String).alias("context"), label="expected")
    after = pairs.select("query", "doc", "context", label="expected")
    worth = Judgments(pl.concat([alone, after]).drop_nulls("label"))
    top = Runs(ranked(runs, SHOWN).with_columns(score=-pl.col("rank").cast(pl.Float64)))
    preferences = side_by_side(
        worth, top, utility, judges=EACH, noise=NOISE, equal=EQUAL, clear=CLEAR, block=0, seed=rng
    )
    first = ranked(runs, 10).filter(pl.col("system") == runs.systems[0])
    shown = first.join(alone, on=["query", "doc"]).with_columns(
        grade=pl.col("label").fill_null(0).round().cast(pl.Int64)
    )
    return preferences, position_clicks(shown.select("query", "doc", "rank", "grade"), seed=rng)
