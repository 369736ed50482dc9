"""Scores of runs that are larger than one machine: every query's by Spark, means and intervals from these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.errors import BadInput
from karat.labels import GOLD
from karat.labels.label_table import Facts
from karat.labels.selection import ALTERED, ASKED
from karat.measures import Profile, as_measures, parse_measure, profile_named
from karat.measures.scorer import NOT_TOLD, OF_A_SAMPLE, Buckets, nothing_in_common
from karat.measures.scores import Scores
from karat.records import Judgments, Runs, Scale
from karat.records.list_order import FOLLOWS_SCORE
from karat.spark.frames import BUCKET, cogrouped, collected, dealt, default_buckets, functions, in_words, known, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


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
    # The highest label is that of labels that count, as `karat.labels.label_table.tally` has it.
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


@dataclass(frozen=True, eq=False)
class SparkScores:
    """Every query's scores as a DataFrame of Spark: system, query and a column for each measure."""

    queries: DataFrame
    measures: tuple[str, ...]
    profile: str
    notes: tuple[str, ...] = ()

    def means(self) -> DataFrame:
        """The means as a DataFrame of Spark: system, measure, value, n; undefined scores are left out."""
        f = functions()
        defined = [f.when(~f.isnan(f.col(quoted(name))), f.col(quoted(name))) for name in self.measures]
        wide = self.queries.groupBy("system").agg(
            *[
                _mean(name, column).alias(f"value{i}")
                for i, (name, column) in enumerate(zip(self.measures, defined, strict=True))
            ],
            *[f.count(column).alias(f"n{i}") for i, column in enumerate(defined)],
        )
        each = [
            f.struct(f.lit(name).alias("measure"), f.col(f"value{i}").alias("value"), f.col(f"n{i}").alias("n"))
            for i, name in enumerate(self.measures)
        ]
        return wide.select("system", f.explode(f.array(*each)).alias("one")).select("system", "one.*")

    def collect(self, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Scores:
        """Every query's scores on this machine, one row a system and query, with means and their intervals."""
        queries = collected(self.queries).sort("system", "query")
        if not queries.height:
            raise nothing_in_common("the runs")
        return Scores.of_queries(
            queries,
            self.measures,
            profile=self.profile,
            level=level,
            draws=draws,
            seed=seed,
            notes=(*self.notes, f"scored by Spark: {NOT_TOLD}"),
        )


def _mean(name: str, column: Column) -> Column:
    """What stands for all queries: the mean, the geometric one of logarithms, or of counts the sum."""
    f, kind = functions(), parse_measure(name).mean
    found: Column = f.sum(column) if kind == "sum" else f.avg(column)
    return f.exp(found) if kind == "geometric" else found


def score(
    labels: Any,
    runs: Any,
    measures: object = ("nDCG@10", "AP", "RR", "P@10"),
    *,
    scale: Scale | None = None,
    profile: str | Profile = "trec_eval",
    complete: bool = False,
    one_each: bool = False,
    buckets: int | None = None,
) -> SparkScores:
    """How good the rankings of these runs are, where labels and runs are DataFrames of Spark.

    The columns are those of `kt.score`: query, doc, label, and query, doc, score or rank, with system where there are
    several; other tools' names for them are understood. The scores are those of `kt.score` to the last digit but
    rounding: each bucket of queries is scored by the same code. `buckets` is the number of parts into which queries are
    dealt, Spark's shuffle partitions unless given; a part has to fit into a worker's memory. The labels are looked
    through once right away, for what is decided over all of them; everything else waits until it is asked for. Several
    labels of a document without a judge's name are of different people, unless there should be `one_each`, as in qrels:
    then a second one that differs is refused.

        scores = karat.spark.score(labels, runs, ["nDCG@10", "AP"])
        scores.queries.write.parquet("scores")   # one row a system and query, wherever it lies
        scores.means().show()
        scores.collect()                          # kt.Scores with intervals, on this machine

    Subtopics count alike, and weights of users who disagree are not estimated here (`nDCG(gains=[0, 0.3, 1])@10` takes
    those that `karat disagree` found).
    """
    wanted = as_measures(measures)
    if not wanted:
        raise BadInput.at("the measures", expected="at least one, such as nDCG@10", found="none")
    udm = next((str(measure) for measure in wanted if "udm(" in str(measure)), None)
    if udm is not None:
        raise BadInput.at(
            "the measures",
            expected="gains that are known on a cluster",
            found=udm,
            remedy="estimate the weights with karat disagree and give them as gains=[...]",
        )
    tool = profile_named(profile)
    judged = known(labels, Judgments.schema, "the labels", also=("altered", "source"))
    shown = known(runs, Runs.schema, "the runs", also=(FOLLOWS_SCORE,))
    in_context = any(getattr(measure, "context", 0) for measure in wanted)
    apart = ("context", "subtopic") if in_context else ("subtopic",)
    facts = in_words(lambda: facts_of(judged, None if scale is None else scale.top.grade, apart))
    systems: list[str] = []
    if complete:
        systems = (
            [row[0] for row in shown.select("system").distinct().collect()] if "system" in shown.columns else ["run"]
        )
    number = default_buckets(shown, buckets)
    bucket = Buckets(facts, wanted, scale, tool, complete, one_each)
    schema = ", ".join(["system string", "query string", *(f"{quoted(str(measure))} double" for measure in wanted)])
    queries = cogrouped(
        dealt(judged, ["query"], number),
        dealt(shown, ["query"], number),
        lambda few, lists: bucket.score(few.drop(BUCKET), None, [(lists.drop(BUCKET), systems)]),
        schema,
    )
    notes = (OF_A_SAMPLE,) if facts.of_a_sample else ()
    return SparkScores(queries, tuple(str(measure) for measure in wanted), tool.name, notes)
