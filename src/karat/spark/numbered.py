"""Labels on a cluster by number: which label counts is decided bucket by bucket, as on one machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.judges.em import Answers
from karat.judges.error_model import refuse_unlearnable
from karat.judges.layout import Layout
from karat.labels.facts import NOBODY, Facts
from karat.labels.gathered import ALL
from karat.labels.panel import MOST_GRADES
from karat.records import Judgments, Scale
from karat.records.scale import refuse_many_grades
from karat.spark.facts import facts_of
from karat.spark.frames import BUCKET, beside, collected, dealt, default_buckets, functions, grouped, known, quoted
from karat.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The place of a row in its file, as Spark numbers them: of several labels of a judge the first counts.
ROW = "karat_row"
#: Group and name in one text, and what stands for no name.
WHO, NAMELESS = "karat_who", "\x1f"


@dataclass(frozen=True, eq=False)
class Numbered(Layout):
    """The labels of one bucket by number."""

    item: Ints
    judge: Ints
    grade: Ints
    known: Ints
    n_levels: int
    of_judges: int

    @classmethod
    def of(cls, rows: pl.DataFrame, levels: int, judges: int) -> tuple[Numbered, pl.DataFrame]:
        """The rows of a bucket, and the first row of each item."""
        rows = rows.sort("item", "judge", "grade")
        first = rows.unique("item", keep="first", maintain_order=True)
        item = np.searchsorted(first["item"].to_numpy(), rows["item"].to_numpy())
        judge, grade = (rows[name].to_numpy() for name in ("judge", "grade"))
        return cls(item, judge, grade, first["known"].to_numpy(), levels, judges), first

    @property
    def levels(self) -> int:
        """How many grades there are."""
        return self.n_levels

    @property
    def n_judges(self) -> int:
        """How many judges there are, in all buckets."""
        return self.of_judges


@dataclass(frozen=True, eq=False)
class SparkLabels:
    """The labels that count: a row each with the item's key, and numbers of item, judge, grade and known grade."""

    frame: DataFrame
    key: tuple[str, ...]
    #: `judge`, and `group` before it where there are groups; sorted.
    judges: pl.DataFrame
    grades: Floats

    @classmethod
    def of(cls, labels: Any, scale: Scale | None, buckets: int | None, *, learn: bool) -> SparkLabels:
        """The labels of a DataFrame, kept where they lie; `Undefined` where they cannot be learnt from, if asked."""
        f = functions()
        judged = known(labels, Judgments.schema, "the labels", also=("altered", "source"))
        facts = facts_of(judged, None if scale is None else scale.top.grade, (), of_judges=True)
        key = ("query", "doc", *facts.taken_apart())
        number = default_buckets(judged, buckets)
        rows = dealt(judged.withColumn(ROW, f.monotonically_increasing_id()), ["query"], number)
        columns: dict[str, Any] = dict.fromkeys((*key, "group", "judge", WHO), pl.String)
        columns |= {"item": pl.Int64, "label": pl.Float64, "gold": pl.Float64, "shared": pl.Boolean, BUCKET: pl.Int64}
        counted = grouped(rows, _counting(facts, scale, key), columns).persist()
        try:
            told = collected(
                counted.groupBy("group", "judge", WHO, "label", "gold").agg(
                    f.count(f.lit(1)).alias("n"), f.max(f.col("shared").cast("int")).alias("shared")
                )
            )
            people = told.select("group", "judge", WHO).unique()
            who = ["judge"] if people["group"].unique().to_list() == [ALL] else ["group", "judge"]
            people = people.sort(who)
            given = np.unique(pl.concat([told["label"], told["gold"]]).drop_nulls().to_numpy())
            grades: Floats = np.unique(np.append(given, [] if scale is None else scale.grades)) + 0.0
            refuse_many_grades(len(grades), MOST_GRADES)
            if learn:
                said = (lambda grade: f"{grade:g}") if scale is None else scale.name
                only = said(float(given[0])) if len(given) == 1 else None
                refuse_unlearnable(int(told["n"].sum()), only, bool(told["shared"].max()), people.height == 1)
            numbers = beside(counted, people.select(WHO, number=pl.int_range(pl.len(), dtype=pl.Int64)))

            def placed(column: str) -> Any:
                found = f.lit(-1)
                for place, grade in enumerate(grades):
                    found = f.when(f.col(column) == float(grade), place).otherwise(found)
                return found.cast("bigint")

            frame = counted.join(f.broadcast(numbers), WHO).select(
                BUCKET,
                *[f.col(quoted(name)) for name in key],
                "item",
                f.col("number").alias("judge"),
                placed("label").alias("grade"),
                placed("gold").alias("known"),
            )
            # Dealt once: a step that found the rows of a bucket apart would bring them together again.
            kept = frame.repartition(number, BUCKET).persist()
            kept.count()
            return cls(kept, key, people.select(who), grades)
        finally:
            counted.unpersist()


def _counting(facts: Facts, scale: Scale | None, key: tuple[str, ...]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What is done with the labels of one bucket of queries."""

    def of_bucket(rows: pl.DataFrame) -> pl.DataFrame:
        bucket = int(rows[BUCKET][0])
        frame = facts.told(rows.sort(ROW).drop(BUCKET, ROW))
        answers = Answers.of(Judgments.check(frame, scale=scale))
        people = answers.judges[answers.judge]
        group = people["group"] if "group" in people.columns else pl.repeat(ALL, people.height, eager=True)
        gold = np.append(answers.grades, np.nan)[answers.known[answers.item]]
        made = answers.items[answers.item].with_columns(
            group=group,
            judge=people["judge"],
            item=pl.Series(answers.item, dtype=pl.Int64),
            label=pl.Series(answers.grades[answers.grade]),
            gold=pl.Series(gold).fill_nan(None),
            shared=pl.Series(answers.shared),
        )
        who = pl.concat_str("group", pl.lit(NAMELESS), pl.col("judge").fill_null(NAMELESS))
        made = made.with_columns(who.alias(WHO), pl.lit(bucket, pl.Int64).alias(BUCKET))
        return made.filter(pl.col("query") != NOBODY)

    return of_bucket
