"""What clicks say of documents, from logs that are larger than one machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import BadInput
from karat.records import ClickLog
from karat.spark.frames import BUCKET, collected, dealt, default_buckets, functions, grouped, in_words, known, quoted
from karat.stats.bootstrap import check_level
from karat.users.click_counts import COLUMNS, Columns, Kernel, Known, Shown
from karat.users.click_models import FIGURES, KINDS, ClickLabels, described, figures, notes_of, ranks_of
from karat.users.rank_examination import RankModel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class SparkClicks:
    """The figures of each query and document as a DataFrame of Spark, and what is known of the ranks, which is here."""

    #: query, doc, impressions, clicks, and rate, coec and attractiveness with their intervals.
    frame: DataFrame
    #: rank, impressions, clicks, rate, examination and its interval.
    ranks: pl.DataFrame
    notes: tuple[str, ...]
    #: The log as it was dealt out, kept where it lies until `unpersist` is called.
    dealt: DataFrame
    model: RankModel
    level: float

    def labels(self, kind: str | None = None) -> DataFrame:
        """One of the figures as labels: query, doc, label, low, high; by default as `kt.ClickLabels.labels` chooses."""
        if kind is None:
            kind = "attractiveness" if self.model.means.looked.linked.any() else "coec"
        if kind not in KINDS:
            raise BadInput.at("the label", expected=" or ".join(KINDS), found=f'"{kind}"')
        f = functions()
        told = self.frame.where(~f.isnan(f.col(kind)))
        ends = [f.col(f"{kind}_{end}").alias(end) for end in ("low", "high")]
        return told.select("query", "doc", f.col(kind).alias("label"), *ends)

    def collect(self) -> ClickLabels:
        """The figures of every document on this machine."""
        frame = collected(self.frame).sort(
            "query", "attractiveness", "coec", "doc", descending=[False, True, True, False], nulls_last=True
        )
        return described(self.model, frame, self.level, ())

    def unpersist(self) -> None:
        """Let Spark forget the log that was dealt out; the figures would be made from the events again."""
        self.dealt.unpersist()


def clicks(
    events: Any, *, satisfied_after: float | None = None, level: float = 0.95, buckets: int | None = None
) -> SparkClicks:
    """What clicks say of documents once it is known at which ranks they were shown: `kt.click_labels_by_rank` by Spark.

    The log is a DataFrame with a row for each result shown: query, doc, rank, clicked, maybe session and dwell; other
    tools' names for them are understood. Documents are dealt to buckets, as many as Spark shuffles into or `buckets`,
    and each bucket is worked on by the code of one machine. What comes here meanwhile is about ranks: how many
    documents were shown and clicked in which way (a few bytes for each way there is), and sums by rank.

        found = karat.spark.clicks(log)
        found.labels().write.parquet("labels")    # query, doc, label, low, high, wherever they lie
        found.ranks                               # how likely each rank is looked at
        found.collect()                           # kt.ClickLabels, on this machine
    """
    check_level(level)
    f = functions()
    log = known(events, ClickLog.schema, "the click log")
    log = log.select(*[name for name in COLUMNS if name in log.columns])
    filled = [name for name in COLUMNS[2:] if name in log.columns]
    some = [f.count(f.when(f.trim(f.col(name).cast("string")) != "", 1)).alias(name) for name in filled]
    row = in_words(lambda: log.agg(f.count(f.lit(1)).alias("all"), *some).collect()[0].asDict())
    facts = Known(row["all"], tuple(log.columns), {name: row[name] for name in filled}).check(satisfied_after)
    number = default_buckets(log, buckets)
    parts = dealt(log, ["query", "doc"], number).repartition(number, BUCKET).persist()
    spread = _Spread(parts, facts, satisfied_after)
    try:
        model = RankModel.of(spread, facts)
    except BaseException:
        parts.unpersist()
        raise
    frame = spread.each(partial(figures, model, level), FIGURES)
    return SparkClicks(frame, ranks_of(model, level), tuple(notes_of(model)), parts, model, level)


@dataclass(frozen=True, eq=False)
class _Spread:
    """Buckets on a cluster."""

    log: DataFrame
    facts: Known
    satisfied_after: float | None

    def each(self, kernel: Kernel, columns: Columns) -> DataFrame:
        """What the kernel makes of every bucket, where it lies."""
        facts, satisfied_after = self.facts, self.satisfied_after

        def of_bucket(rows: pl.DataFrame) -> pl.DataFrame:
            return kernel(Shown.of(ClickLog.check(rows.drop(BUCKET)), facts, satisfied_after))

        return grouped(self.log, of_bucket, columns)

    def summed(self, kernel: Kernel, columns: Columns, by: list[str]) -> pl.DataFrame:
        """The same, rows that agree on some columns added up, on this machine."""
        f = functions()
        sums = [f.sum(quoted(name)).alias(name) for name in columns if name not in by]
        return collected(self.each(kernel, columns).groupBy(*by).agg(*sums))
