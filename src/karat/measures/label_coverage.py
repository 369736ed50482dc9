"""How well runs and labels fit together: judged queries that a run misses, and retrieved documents without a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.measures import Lists, Measure, Profile
from karat.measures.rankings import cause_of, shown
from karat.records.result import VerdictWarning
from karat.records.table import count

#: Above this share of unjudged documents a comparison has a warning, and above the other there is no verdict.
WARN_SHARE, REFUSE_SHARE = 0.1, 0.5
#: Shares that are further apart between two systems have a warning, too.
WARN_GAP = 0.05
#: How far down rankings unjudged documents are counted for a measure without a cutoff.
TOP = 10
#: Shares are sums of decimal fractions.
ROUNDING = 1e-9
COVERAGE = {
    "system": pl.String,
    "judged_queries": pl.Int64,
    "missing_queries": pl.Int64,
    "depth": pl.Int64,
    "unjudged": pl.Float64,
}


def label_coverage(lists: Lists, systems: Sequence[str], measures: Sequence[Measure], profile: Profile) -> pl.DataFrame:
    """How much of what each system retrieves is judged.

    The columns are system, judged_queries, missing_queries (judged queries that the system does not answer), depth
    (the first measure's cutoff, or 10) and unjudged (the share of the documents down to that depth without a label;
    null where the measure copes with such documents). Queries without a relevant document are not counted where the
    profile leaves them out of the means.
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
    frame = frame.select("system", judged_queries=pl.lit(judged, pl.Int64), missing_queries=missing)
    depth = depth_of(measures[0])
    shares = {} if depth is None else unjudged_shares(lists, depth)
    return frame.with_columns(
        depth=pl.lit(depth, pl.Int64),
        unjudged=pl.Series([None if depth is None else shares.get(name, 0.0) for name in systems], dtype=pl.Float64),
    )


def depth_of(measure: Measure) -> int | None:
    """How far down rankings unjudged documents are counted for a measure; None where it copes with them."""
    return (measure.cutoff or TOP) if measure.counts_unjudged else None


def unjudged_shares(lists: Lists, depth: int) -> dict[str, float]:
    """The share of each system's documents down to this rank that have no label.

    A label below 0 says that a document was pooled and not judged; one given in a context only is a label.
    """
    seen = lists.cut(depth)
    known = (seen.label >= 0) | np.isnan(seen.label)
    per_list = lists.keys.select("system").with_columns(
        documents=pl.Series(np.minimum(lists.size, depth)), judged=pl.Series(seen.total(known))
    )
    sums = per_list.group_by("system").agg(pl.col("documents").sum(), pl.col("judged").sum())
    shares = sums.select("system", share=(1 - pl.col("judged") / pl.col("documents")).fill_nan(0.0))
    return dict(shares.iter_rows())


def unknown_documents(lists: Lists, system: str) -> tuple[str, str]:
    """Documents of a system whose ids occur nowhere in the labels, and the likely cause; each may be empty."""
    mine = lists.unlabelled.filter(pl.col("system") == system)["doc"].unique().sort()
    labelled = lists.topics.docs["doc"].unique(maintain_order=True)
    unknown = mine.filter(~mine.is_in(labelled.implode()))
    if not len(unknown):
        return "", ""
    text = f"{count(len(unknown), 'document id')} of its top {TOP} {'is' if len(unknown) == 1 else 'are'} "
    text += f"nowhere in the labels ({shown(unknown)})"
    cause, pairs = cause_of(labelled, unknown)
    if cause:
        cause = f"; {pairs.height:,} of them differ from ids in the labels by {cause} ({shown(pairs['labels'])})"
    return text, cause


def unequal_shares(coverage: pl.DataFrame) -> list[str]:
    """A warning where the unjudged shares of two systems are far apart, and neither is large by itself."""
    known = coverage.drop_nulls("unjudged").sort("unjudged")
    if known.height < 2 or is_above(known["unjudged"][-1], WARN_SHARE):
        return []
    ends = known[[0, -1]]
    shares = dict(ends.select("system", "unjudged").iter_rows())
    if not is_above(ends["unjudged"][1] - ends["unjudged"][0], WARN_GAP):
        return []
    return [VerdictWarning(f"{in_percent(shares, ends['depth'][0])} have no label: they count as not relevant")]


def is_above(share: float, limit: float) -> bool:
    """Whether a share is above a limit, by more than rounding."""
    return share > limit + ROUNDING


def as_percent(share: float) -> str:
    """A share in per cent.

    >>> as_percent(0.345), as_percent(0.004), as_percent(0.0)
    ('34%', 'under 1%', '0%')
    """
    return "under 1%" if 0 < share < 0.01 else f"{share:.0%}"


def in_percent(shares: dict[str, float], depth: int) -> str:
    """The unjudged shares of some systems, in words.

    >>> in_percent({"live": 0.02, "new": 0.345}, 10)
    '2% of the top 10 of live and 34% of the top 10 of new'
    """
    listed = [f"{as_percent(share)} of the top {depth} of {system}" for system, share in shares.items()]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
