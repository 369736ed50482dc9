"""How well runs and labels fit together: judged queries that a run misses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.measures import Lists, Profile

COVERAGE = {"system": pl.String, "judged_queries": pl.Int64, "missing_queries": pl.Int64}


def judged_queries(lists: Lists, systems: Sequence[str], profile: Profile) -> pl.DataFrame:
    """How many queries are judged, and how many of them each system misses: system, judged_queries, missing_queries.

    Queries without a relevant document are not counted where the profile leaves them out of the means.
    """
    topics = lists.topics
    counted = np.full(len(topics), not profile.leaves_out_empty)
    counted[topics.topic[topics.label > 0]] = True
    answered = (lists.size > 0) & counted[lists.topic]
    found = lists.keys.filter(pl.Series(answered)).group_by("system").len("answered")
    frame = pl.DataFrame({"system": list(systems)}, schema={"system": pl.String})
    frame = frame.join(found, on="system", how="left", maintain_order="left")
    judged = int(counted.sum())
    missing = pl.lit(judged) - pl.col("answered").fill_null(0).cast(pl.Int64)
    return frame.select("system", judged_queries=pl.lit(judged, pl.Int64), missing_queries=missing)
