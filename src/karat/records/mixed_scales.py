"""Labels that may be on different scales in one table, and -1 where it may mean "not judged"."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from karat.records.result import Caution, VerdictWarning
from karat.records.source import Source
from karat.records.table import count

#: Judges with fewer labels, or queries with fewer labelled documents, do not show their range.
MIN_LABELS = 10
#: The chance, were all on one scale, below which a range that somebody avoids is no accident.
MAX_CHANCE_OF_JUDGES, MAX_CHANCE_OF_QUERIES = 0.01, 1e-6
#: With fewer queries on a side, where nothing says who judged, the queries themselves may be the reason.
MIN_QUERIES = 3
#: What some people write for "not judged".
UNJUDGED_MARK = -1.0
#: Names that a note shows.
MAX_NAMES = 3


def scale_notes(frame: pl.DataFrame, source: Source) -> list[str]:
    """What to say of labels, if no scale is known, that seem to be on several scales.

    >>> rows = [("ann", n % 4) for n in range(20)] + [("ben", 1 + n % 4) for n in range(20)]
    >>> frame = pl.DataFrame(rows, schema={"judge": pl.String, "label": pl.Float64}, orient="row")
    >>> scale_notes(frame.with_columns(query=pl.lit("q")), Source("labels.csv"))[0].partition(":")[2]
    ' judges may use different scales: 0..3 (ann), 1..4 (ben); nobody uses both 0 and 4. Bring them to one scale first'
    """
    frame = frame.filter(pl.col("label").is_not_null())
    if not frame.height or (frame["label"] != frame["label"].round(0)).any():
        return []
    # Each aspect may have a scale of its own.
    parts = frame.partition_by("aspect") if "aspect" in frame.columns else [frame]
    return [VerdictWarning(f"{source.name}: {said}") for part in parts if (said := _different_scales(part))]


def unjudged_note(frame: pl.DataFrame, source: Source) -> str:
    """What to say of labels of -1 in tables, where they may mean "not judged"; empty where there are none.

    >>> rows = {"query": ["q"] * 3, "label": [-1.0, 0.0, 2.0]}
    >>> unjudged_note(pl.DataFrame(rows), Source("labels.csv"))
    'labels.csv: 1 label of -1 counts as not relevant; if -1 means not judged, leave it out'
    """
    marked = frame["label"] == UNJUDGED_MARK
    number = int(marked.sum())
    if not number or number == len(marked.drop_nulls()):
        return ""
    who = ""
    if "judge" in frame.columns:
        names = frame.filter(marked)["judge"].drop_nulls().unique(maintain_order=True).to_list()
        who = f" ({_listed(names)})" if names else ""
    counts = "counts" if number == 1 else "count"
    said = f"{count(number, 'label')} of -1{who} {counts} as not relevant; if -1 means not judged, leave "
    return Caution(f"{source.name}: {said}{'it' if number == 1 else 'them'} out")


@dataclass(frozen=True)
class _Side:
    """Judges, or queries, with the same end of the range of grades."""

    names: list[str]
    labels: int
    low: float
    high: float


def _different_scales(frame: pl.DataFrame) -> str:
    key = next((k for k in ("judge", "group") if k in frame.columns and frame[k].null_count() < frame.height), "query")
    label = pl.col("label")
    named = frame.filter(pl.col(key).is_not_null()).group_by(key, maintain_order=True)
    each = named.agg(label.min().alias("low"), label.max().alias("high"), pl.len().alias("n"))
    each = each.filter(pl.col("n") >= MIN_LABELS)
    if each.height < 2:
        return ""
    low, high = each.select(pl.col("low").min(), pl.col("high").max()).row(0)
    uses_low, uses_high = pl.col("low") == low, pl.col("high") == high
    if each.select((uses_low & uses_high).any()).item():
        return ""
    lower, upper = _side(each.filter(uses_low), key), _side(each.filter(uses_high), key)
    of_low = _count(frame, key, lower.names, low) / lower.labels
    of_high = _count(frame, key, upper.names, high) / upper.labels
    chance = max((1 - of_low) ** upper.labels, (1 - of_high) ** lower.labels)
    by_query = key == "query"
    if by_query and min(len(lower.names), len(upper.names)) < MIN_QUERIES:
        return ""
    if chance >= (MAX_CHANCE_OF_QUERIES if by_query else MAX_CHANCE_OF_JUDGES):
        return ""
    who, nobody = {"judge": ("judges", "nobody"), "group": ("groups", "no group")}.get(key, ("queries", "no query"))
    sides = ", ".join(f"{side.low:g}..{side.high:g} ({_listed(side.names)})" for side in (lower, upper))
    said = f"{who} may use different scales: {sides}; {nobody} uses both {low:g} and {high:g}"
    return f"{said}. Bring them to one scale first"


def _side(rows: pl.DataFrame, key: str) -> _Side:
    low, high, labels = rows.select(pl.col("low").min(), pl.col("high").max(), pl.col("n").sum()).row(0)
    return _Side(rows[key].cast(pl.String).to_list(), int(labels), float(low), float(high))


def _count(frame: pl.DataFrame, key: str, names: list[str], label: float) -> int:
    return frame.filter(pl.col(key).cast(pl.String).is_in(names) & (pl.col("label") == label)).height


def _listed(names: list[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")
