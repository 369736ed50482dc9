"""Who judges documents faster than anybody reads: the share of answers below the study's limits."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.labels.selection import LLM
from karat.records import Rules
from karat.users.preference_judges import MOSTLY

#: Fewer times say nothing about a judge, and fewer other judges nothing about what is usual.
MIN_TIMES, MIN_OTHERS = 5, 3
#: What is not known of a judge without times.
NO_TIMES: dict[str, Any] = dict.fromkeys(("pace", "fast", "fast_limit", "too_fast"))


def speed(times: pl.DataFrame, rules: Rules) -> dict[str, dict[str, Any]]:
    """How fast each judge is, by name, from the columns `judge, group, seconds` with a row for each answer.

    `pace` is the median of a judge's times. `fast_limit` is the larger of two limits: `min_seconds`, and
    `min_share_of_median` times the median pace of the other judges of the group, where there are at least three.
    `fast` is the share of answers below it, and `too_fast` says so where it is half of them or more, as for answers
    about two lists. Language models are left out.

    >>> times = pl.DataFrame({"judge": ["ann"] * 5, "group": ["crowd"] * 5, "seconds": [0.2, 0.2, 0.2, 9.0, 9.0]})
    >>> speed(times, Rules())["ann"]["too_fast"]
    'most documents judged in less than 1 second'
    """
    people = times.filter(pl.col("group") != LLM)
    table = people.group_by("judge", "group", maintain_order=True).agg(
        pl.col("seconds"), pace=pl.col("seconds").median()
    )
    found = {}
    for row in table.iter_rows(named=True):
        others = table.filter((pl.col("group") == row["group"]) & (pl.col("judge") != row["judge"]))["pace"]
        usual = float(others.median()) if len(others) >= MIN_OTHERS else 0.0  # type: ignore[arg-type]
        relative = rules.min_share_of_median * usual
        limit = max(rules.min_seconds, relative)
        fast = sum(seconds < limit for seconds in row["seconds"]) / len(row["seconds"])
        flagged = fast >= MOSTLY and len(row["seconds"]) >= MIN_TIMES
        below = sum(seconds < rules.min_seconds for seconds in row["seconds"]) / len(row["seconds"])
        unit = "second" if rules.min_seconds == 1 else "seconds"
        what = (
            f"{rules.min_seconds:g} {unit}"
            if below >= MOSTLY
            else f"{rules.min_share_of_median:.0%} of the others' time"
        )
        text = f"most documents judged in less than {what}" if flagged else None
        found[row["judge"]] = {"pace": row["pace"], "fast": fast, "fast_limit": limit or None, "too_fast": text}
    return found
