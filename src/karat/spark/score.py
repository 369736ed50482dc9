"""Scores of runs that are larger than one machine: every query's by Spark, means and intervals from these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import BadInput
from karat.measures import Measure, Profile, as_measures, parse_measure, profile_named
from karat.records import Judgments, Runs, Scale
from karat.scoring import Scorer, Scores
from karat.scoring.scorer import OF_A_SAMPLE
from karat.spark.facts import NOBODY, Facts
from karat.spark.frames import BUCKET, cogrouped, collected, dealt, default_buckets, functions, in_words, known, quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: What a worker does not tell.
NOT_TOLD = (
    "scored by Spark: ties, unjudged documents and judged queries that a run misses are not counted in notes; "
    "Judged@10 among the measures tells how much of the lists is judged"
)


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
        return Scores.of_queries(
            queries,
            self.measures,
            profile=self.profile,
            level=level,
            draws=draws,
            seed=seed,
            notes=(*self.notes, NOT_TOLD),
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
    shown = known(runs, Runs.schema, "the runs")
    in_context = any(getattr(measure, "context", 0) for measure in wanted)
    apart = ("context", "subtopic") if in_context else ("subtopic",)
    facts = in_words(lambda: Facts.of(judged, None if scale is None else scale.top.grade, apart))
    systems: list[str] = []
    if complete:
        systems = (
            [row[0] for row in shown.select("system").distinct().collect()] if "system" in shown.columns else ["run"]
        )
    number = default_buckets(shown, buckets)
    schema = ", ".join(["system string", "query string", *(f"{quoted(str(measure))} double" for measure in wanted)])
    queries = cogrouped(
        dealt(judged, ["query"], number),
        dealt(shown, ["query"], number),
        _kernel(facts, wanted, scale, tool, complete, systems, one_each),
        schema,
    )
    notes = (OF_A_SAMPLE,) if facts.of_a_sample else ()
    return SparkScores(queries, tuple(str(measure) for measure in wanted), tool.name, notes)


def _kernel(
    facts: Facts,
    measures: list[Measure],
    scale: Scale | None,
    tool: Profile,
    complete: bool,
    systems: list[str],
    one_each: bool,
) -> Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]:
    """What is done with the labels and the lists of one bucket of queries."""

    def score_bucket(labels: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
        schema = {"system": pl.String, "query": pl.String} | {str(measure): pl.Float64 for measure in measures}
        labels, runs = labels.drop(BUCKET), runs.drop(BUCKET)
        if not labels.height or not (runs.height or complete):
            _refuse_nameless(labels, runs)
            return pl.DataFrame(schema=schema)
        judged = Judgments.check(facts.told(labels), scale=scale, one_each=one_each)
        lists = Runs.check(_with_systems(runs, systems) if complete else runs)
        scorer = Scorer(judged, measures, profile=tool, complete=complete, draws=0)
        return scorer.counted_queries(lists).filter(pl.col("query") != NOBODY).select(list(schema))

    return score_bucket


def _refuse_nameless(labels: pl.DataFrame, runs: pl.DataFrame) -> None:
    """Refuse what scoring would refuse, in a bucket that has nothing to score."""
    if labels.height:
        Judgments.check(labels)
    if runs.height:
        Runs.check(runs)


def _with_systems(runs: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
    """The lists of a bucket, and one of every system for a query that nobody asked: it may have no other here."""
    named = "system" in runs.columns
    rows: dict[str, Any] = {"query": [NOBODY] * len(systems), "doc": [NOBODY] * len(systems)}
    rows |= {"system": systems} if named else {}
    rows |= {name: [1] * len(systems) for name in ("score", "rank") if name in runs.columns}
    whole = [
        pl.Series(name, rows.get(name, [None] * len(systems)), strict=False).cast(kind)
        for name, kind in runs.schema.items()
    ]
    return pl.concat([runs, pl.DataFrame(whole)])
