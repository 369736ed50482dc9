"""What is true of all labels of a Spark frame together, by one pass over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.labels import GOLD
from karat.labels.facts import Facts
from karat.labels.selection import ALTERED, ASKED
from karat.spark.frames import functions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def facts_of(labels: DataFrame, top: float | None, apart: tuple[str, ...], *, of_judges: bool = False) -> Facts:
    """The facts about these labels; `top` where a scale names the highest grade.

    Where judges are looked at (`of_judges`), labels of nothing usual are taken each by itself, and judges come in
    groups or do not.
    """
    f = functions()
    apart = (*ASKED,) if of_judges else apart
    usual = {
        column: f.col(column).isNull()
        if asked.usual is None
        else f.coalesce(f.col(column), f.lit(asked.usual)) == asked.usual
        for column, asked in ASKED.items()
        if column in labels.columns
    }
    # The highest label is that of labels that count, as `karat.labels.facts.tally` has it.
    counts, by_gold = f.lit(True), f.lit(False)
    for column, one in usual.items():
        counts = counts if column in apart else counts & one
    if ALTERED in labels.columns:
        counts = counts & (f.coalesce(f.col(ALTERED).cast("string"), f.lit("")) == "")
    if "group" in labels.columns:
        by_gold = f.coalesce(f.col("group") == GOLD, f.lit(False))
    number = f.col("label").cast("double")
    number = f.when(counts & ~f.isnan(number), number)
    wanted = [
        f.count(f.lit(1)).alias("all"),
        f.max(f.when(~by_gold, number)).alias("top"),
        f.max(number).alias("top of gold"),
        *(f.sum(one.cast("long")).alias(column) for column, one in usual.items()),
    ]
    if "group" in labels.columns:
        wanted.append(f.sum(by_gold.cast("long")).alias("gold"))
        wanted.append(f.count(f.when(f.trim(f.col("group")) != "", 1)).alias("in groups"))
    if "probability" in labels.columns:
        wanted.append(f.min(f.col("probability").cast("double")).alias("least"))
    row = labels.agg(*wanted).collect()[0].asDict()
    made = Facts.made(labels.columns, row, top, apart)
    return made.for_judges(row) if of_judges else made
