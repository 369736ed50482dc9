"""What clicks say is the same by Spark as on one machine: skewed logs, odd rows, the same errors."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import karat as kt
import karat.spark
from karat.errors import BadInput, Undefined
from karat.simulate.click_log import position_log
from simulated import THOROUGH
from spark_frames import in_spark

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


def assert_same(found: kt.users.ClickLabels, wanted: kt.users.ClickLabels) -> None:
    one, other = found.frame.sort("query", "doc"), wanted.frame.sort("query", "doc")
    assert one.select("query", "doc").equals(other.select("query", "doc"))
    for name in one.columns[2:]:
        assert one[name].to_list() == pytest.approx(other[name].to_list(), abs=1e-9, nan_ok=True), name
    for name in found.ranks.columns:
        assert found.ranks[name].to_list() == pytest.approx(wanted.ranks[name].to_list(), abs=1e-9, nan_ok=True)
    assert (found.finding, found.notes) == (wanted.finding, wanted.notes)


@pytest.mark.evidence
def test_figures_of_a_skewed_log_are_those_of_one_machine(spark: Any) -> None:
    """A query with two thirds of the rows, pages that were loaded twice, documents at one rank only."""
    frame = position_log(
        queries=40 if THOROUGH else 10, pages=400 if THOROUGH else 100, zipf=True, unlike=0.5, seed=1
    ).frame
    much = position_log(queries=1, pages=600 if THOROUGH else 150, seed=2).frame.with_columns(
        pl.lit("much").alias("query")
    )
    odd = pl.DataFrame({"query": "q1", "doc": "alone", "clicked": True, "rank": 40, "session": "s1"})
    frame = pl.concat([frame, frame.head(700), much, odd.cast(dict(frame.schema)).select(frame.columns)])
    found = karat.spark.clicks(in_spark(spark, frame), buckets=3)
    wanted = kt.click_labels_by_rank(frame)
    assert_same(found.collect(), wanted)
    labels = {(row["query"], row["doc"]): row["label"] for row in found.labels().collect()}
    told = wanted.labels().frame
    assert labels == pytest.approx({(q, d): x for q, d, x in told.select("query", "doc", "label").rows()}, abs=1e-9)
    found.unpersist()


def test_without_sessions_and_with_other_names(spark: Any) -> None:
    frame = position_log(queries=2, documents=4, pages=100, seed=3).frame.drop("session")
    # Eight documents: most of the buckets are empty.
    found = karat.spark.clicks(in_spark(spark, frame).withColumnRenamed("rank", "position"), buckets=17)
    assert_same(found.collect(), kt.click_labels_by_rank(frame))
    found.unpersist()


ROW = {"query": "q", "doc": "d", "clicked": True, "rank": 1}
BAD: dict[str, tuple[list[dict[str, object]], type[Exception], str]] = {
    "no query": ([ROW, ROW | {"query": None}], BadInput, "expected a text as query"),
    "rank 0": ([ROW, ROW | {"rank": 0}], BadInput, "expected a whole number from 1 as rank"),
    "no rank for some": ([ROW, ROW | {"rank": None}], BadInput, "a rank for every result shown"),
    "no ranks": ([ROW | {"rank": None}], BadInput, "the column rank for telling what a rank does"),
    "no clicks": ([ROW | {"clicked": False}], Undefined, "nobody clicked"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_one_machine_refuses_a_cluster_refuses_in_the_same_words(spark: Any, case: str) -> None:
    rows, kind, said = BAD[case]
    frame = pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "clicked": pl.Boolean, "rank": pl.Int64})
    with pytest.raises(kind, match=said):
        kt.click_labels_by_rank(frame)
    with pytest.raises(kind, match=said):
        karat.spark.clicks(in_spark(spark, frame))


def test_frames_of_spark_are_refused_elsewhere_and_others_here(spark: Any) -> None:
    frame = position_log(queries=1, pages=5, seed=3).frame
    with pytest.raises(BadInput, match="a DataFrame of Spark"):
        kt.click_labels_by_rank(in_spark(spark, frame))
    with pytest.raises(BadInput, match="expected a DataFrame of Spark, found DataFrame of polars"):
        karat.spark.clicks(frame)
    with pytest.raises(BadInput, match="the column dwell for telling how long"):
        karat.spark.clicks(in_spark(spark, frame), satisfied_after=3.0)
