"""Labels and runs from wherever Spark reads: Parquet, CSV with a header, TREC's lines; globs, object stores."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.advice import advise
from karat.errors import BadInput, MissingExtra
from karat.formats.trec import QRELS, RUN
from karat.measures.scores import Scores
from karat.records import Scale
from karat.records.list_order import FOLLOWS_SCORE
from karat.spark.frames import functions, in_words
from karat.spark.score import score

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: All else is set where Spark's settings stand (spark-defaults.conf, SPARK_CONF_DIR).
QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}


def session_at(master: str) -> SparkSession:
    """A session at this master: `local[2]`, `yarn`, `spark://...`, or `sc://...` for Spark Connect."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra.named("spark", "working on a cluster") from None
    # Workers on this machine are to use the Python that has karat.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder
    builder = builder.remote(master) if master.startswith("sc://") else builder.master(master).appName("karat")
    for name, value in QUIET.items():
        builder = builder.config(name, value)
    try:
        session: SparkSession = builder.getOrCreate()
        return session
    except Exception as error:
        said = str(error).strip().splitlines()
        raise BadInput.at(
            advise("--spark", "the master of Spark"),
            expected="a master that Spark can start at",
            found=f"{master} ({said[0] if said else 'no answer'})",
        ) from None


def score_files(
    master: str,
    labels: str,
    runs: Sequence[str],
    measures: object,
    *,
    scale: Scale | None = None,
    profile: str = "trec_eval",
    complete: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Scores:
    """The scores of runs that lie where Spark reads them; every query's score comes to this machine."""
    session = session_at(master)
    judged, one_each = _labels(session, labels)
    lists = [_runs(session, path) for path in runs]
    shown = lists[0]
    for other in lists[1:]:
        shown = shown.unionByName(other, allowMissingColumns=True)
    found = score(judged, shown, measures, scale=scale, profile=profile, complete=complete, one_each=one_each)
    return found.collect(level=level, draws=draws, seed=seed)


def _labels(session: SparkSession, path: str) -> tuple[DataFrame, bool]:
    """Labels, and whether the file has one label for a document. TREC's second column counts where it differs."""
    frame = _read(session, path, QRELS)
    if frame.columns != QRELS:
        return frame, False
    f = functions()
    row = in_words(lambda: frame.agg(f.min("subtopic"), f.max("subtopic")).collect()[0])
    return (frame.drop("subtopic") if row[0] == row[1] else frame), True


def _runs(session: SparkSession, path: str) -> DataFrame:
    """Runs; those in TREC's lines are marked, because their scores order them."""
    frame = _read(session, path, RUN)
    return frame.withColumn(FOLLOWS_SCORE, functions().lit(True)) if _ending(path) == "" else frame


def _ending(path: str) -> str:
    """The ending of a table's name; empty for TREC's lines."""
    plain = path.rstrip("/").removesuffix(".gz").removesuffix(".zst").removesuffix(".bz2")
    if plain.endswith(".parquet") or "parquet" in plain.rpartition("/")[2]:
        return ".parquet"
    return plain[-4:] if plain.endswith((".csv", ".tsv")) else ""


def _read(session: SparkSession, path: str, columns: Sequence[str]) -> DataFrame:
    """A file, folder or glob: Parquet, CSV or TSV by its ending, otherwise TREC's lines with these columns."""
    f = functions()
    ending = _ending(path)
    try:
        if ending == ".parquet":
            return session.read.parquet(path)
        if ending:
            return session.read.csv(path, header=True, sep="\t" if ending == ".tsv" else ",")
        lines = session.read.text(path)
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error) or "does not exist" in str(error):
            raise BadInput(f"{path}: no such file or folder where Spark looks") from None
        raise
    parts = f.split(f.trim(f.col("value")), r"\s+")
    wrong = f.concat(
        f.lit(
            f'karat.errors.BadInput: {path}: expected lines of {len(columns)} columns ({" ".join(columns)}), found "'
        ),
        f.col("value"),
        f.lit('"\n\n'),
    )
    checked = f.when(f.size(parts) == len(columns), parts).otherwise(f.raise_error(wrong))
    rows = lines.where(f.trim(f.col("value")) != "").select(checked.alias("parts"))
    return rows.select(*[f.col("parts")[place].alias(name) for place, name in enumerate(columns)]).drop("Q0")
