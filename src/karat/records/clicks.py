"""Clicks: what users did with the results they were shown, as counts or as the log behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from karat.errors import BadInput
from karat.records import column_names
from karat.records.schema import Column, Schema
from karat.records.source import Source
from karat.records.table import Records, count, frame_of

#: A click counts as satisfied when the user stayed this long (seconds).
SATISFIED_AFTER = 30.0

_QUERY = Column("query", pl.String, "the query's id or text", True, column_names.QUERY)
_DOC = Column("doc", pl.String, "the document's id", True, (*column_names.DOC, "url"))

#: What logs call the one search that showed a result, and the system that brought it.
IMPRESSION = ("impression_id", "search_id", "search", "request_id", "serp", "serp_id", "page_id")
TEAM = ("search_config", "search_configuration_uuid", "interleaving", "[interleaving]")


@dataclass(frozen=True, eq=False, repr=False)
class Clicks(Records):
    """How often each result was shown, clicked, and clicked with satisfaction.

    >>> Clicks.of([{"query": "q1", "doc": "d1", "impressions": 10, "clicks": 4, "satisfied": 1}])
    4 clicks in 10 impressions of 1 result for 1 query
    """

    schema: ClassVar[Schema] = Schema(
        "clicks",
        (
            _QUERY,
            _DOC,
            Column("impressions", pl.Int64, "how often the result was shown", aliases=("views", "shown"), least=0),
            Column("clicks", pl.Int64, "how often it was clicked", True, least=0),
            Column("satisfied", pl.Int64, "how many clicks had a dwell of 30 s or more", least=0),
        ),
        key=("query", "doc"),
        once="one row of counts for a result",
        remedy="add the counts up, or give the log with a row per impression",
    )

    @classmethod
    def of(cls, data: Any, *, satisfied_after: float = SATISFIED_AFTER) -> Clicks:
        """Click counts from a frame or rows; a log (with a column `clicked`) is counted."""
        if isinstance(data, Clicks):
            return data
        if not isinstance(data, ClickLog):
            frame = frame_of(data, "the clicks")
            if not {"clicked", "click"} & {name.strip().lower() for name in frame.columns}:
                return cls.check(frame)
            data = ClickLog.check(frame)
        log: ClickLog = data
        return log.counts(satisfied_after)

    @classmethod
    def _refuse(cls, frame: pl.DataFrame, source: Source) -> None:
        _refuse_more(frame, "clicks", "impressions", source)
        _refuse_more(frame, "satisfied", "clicks", source)

    def __repr__(self) -> str:
        shown = f" in {count(int(self.frame['impressions'].sum()), 'impression')}" if self.has("impressions") else ""
        return (
            f"{count(int(self.frame['clicks'].sum()), 'click')}{shown} of {count(len(self), 'result')} for "
            f"{count(self.frame['query'].n_unique(), 'query', 'queries')}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog(Records):
    """One row per result shown to a user: was it clicked, and how long did the user stay?"""

    schema: ClassVar[Schema] = Schema(
        "click log",
        (
            _QUERY,
            _DOC,
            Column("clicked", pl.Boolean, "whether the user clicked the result", True, ("click",)),
            Column(
                "dwell", pl.Float64, "seconds until the user came back", False, ("dwell_time", "dwell_seconds"), least=0
            ),
            Column("rank", pl.Int64, "where the result stood, 1 the top", aliases=("position", "ordinal"), least=1),
            Column("session", pl.String, "the user's session", aliases=("session_id",)),
            Column("time", pl.String, "when, as ISO 8601"),
            Column("user", pl.String, "who searched", aliases=("user_id", "client_id")),
            Column("impression", pl.String, "the one search that showed it", aliases=IMPRESSION),
            Column("team", pl.String, "which system brought it, in an interleaved list", aliases=TEAM),
        ),
    )

    def counted(self, satisfied_after: float | None = None) -> pl.Series:
        """Whether each result was clicked; with `satisfied_after`, whether the user also stayed so many seconds."""
        if satisfied_after is None:
            return self.frame["clicked"]
        if "dwell" not in self.frame.columns:
            self.need("dwell", "telling how long users stayed")
        return self.frame.select(_stayed(satisfied_after)).to_series()

    def counts(self, satisfied_after: float = SATISFIED_AFTER) -> Clicks:
        """The counts per query and document; a satisfied click has a dwell of `satisfied_after` seconds.

        >>> log = ClickLog.check(pl.DataFrame({"query": ["q"] * 3, "doc": ["d"] * 3,
        ...     "clicked": [True, True, False], "dwell": [31.0, 5.0, None]}))
        >>> log.counts().frame.row(0)
        ('q', 'd', 3, 2, 1)
        """
        totals = [
            pl.len().cast(pl.Int64).alias("impressions"),
            pl.col("clicked").sum().cast(pl.Int64).alias("clicks"),
        ]
        if "dwell" in self.frame.columns:
            totals.append(_stayed(satisfied_after).sum().cast(pl.Int64).alias("satisfied"))
        return Clicks(self.frame.group_by("query", "doc", maintain_order=True).agg(totals))

    def __repr__(self) -> str:
        return (
            f"{count(int(self.frame['clicked'].sum()), 'click')} in {count(len(self), 'impression')} for "
            f"{count(self.frame['query'].n_unique(), 'query', 'queries')}"
        )


def _stayed(satisfied_after: float) -> pl.Expr:
    """Whether a result was clicked and the user stayed so many seconds; a stay that is unknown is none."""
    if not satisfied_after >= 0:
        raise BadInput.at("satisfied_after", expected="0 seconds or more", found=str(satisfied_after))
    return pl.col("clicked") & (pl.col("dwell").fill_nan(None) >= satisfied_after).fill_null(False)


def _refuse_more(frame: pl.DataFrame, few: str, many: str, source: Source) -> None:
    if few in frame.columns and many in frame.columns:
        source.refuse(
            frame[few] > frame[many],
            expected=f"at most as many {few} as {many}",
            found=lambda row: f"{frame[few][row]} {few} in {frame[many][row]} {many}",
        )
