"""Scores by Spark are those of one machine: every measure, odd data, the same errors."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat as kt
import karat.spark
from karat.errors import BadInput
from karat.measures import MEASURES
from spark_frames import in_spark

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


def made(queries: int = 40, docs: int = 30, seed: int = 1) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels 0 to 3 of most documents with two subtopics, and two runs with ties in their scores."""
    rng = np.random.default_rng(seed)
    pairs = [(f"q{q}", f"d{d}") for q in range(queries) for d in range(docs)]
    labels = pl.DataFrame(
        {
            "query": [q for q, _ in pairs for _ in range(2)],
            "doc": [d for _, d in pairs for _ in range(2)],
            "label": rng.integers(-1, 4, 2 * len(pairs)),
            "subtopic": ["1", "2"] * len(pairs),
        }
    ).sample(fraction=0.8, seed=seed)
    runs = pl.concat(
        pl.DataFrame(
            {
                "system": system,
                "query": [q for q, _ in pairs],
                "doc": [d for _, d in pairs],
                "score": rng.integers(0, 12, len(pairs)) / 4,
            }
        ).sample(fraction=0.7, seed=seed)
        for system in ("a", "b")
    )
    # A judged query that no run has, one that one run has not, one that nobody judged.
    runs = runs.filter((pl.col("query") != "q0") & ~((pl.col("query") == "q1") & (pl.col("system") == "b")))
    return labels.filter(pl.col("query") != "q2"), runs


def assert_same(found: pl.DataFrame, wanted: pl.DataFrame) -> None:
    found = found.sort("system", "query").select(wanted.columns)
    wanted = wanted.sort("system", "query")
    assert found.select("system", "query").equals(wanted.select("system", "query"))
    for name in wanted.columns[2:]:
        np.testing.assert_allclose(found[name].to_numpy(), wanted[name].to_numpy(), rtol=0, atol=1e-12, err_msg=name)


def readable(name: str) -> str:
    """The measure with a cutoff, with a recall, or as it is: whichever it takes."""
    for spelled in (f"{name}@10", f"{name}@0.1"):
        with contextlib.suppress(BadInput):
            return str(kt.parse_measure(spelled))
    return name


EVERY = [readable(name) for name in MEASURES]


@pytest.mark.parametrize("complete", [False, True])
def test_every_measure_is_the_same_on_a_cluster(spark: Any, complete: bool) -> None:
    labels, runs = made()
    wanted = kt.score(labels, runs, EVERY, complete=complete, draws=0)
    found = karat.spark.score(in_spark(spark, labels), in_spark(spark, runs), EVERY, complete=complete, buckets=7)
    brought = found.collect(draws=0)
    assert_same(brought.queries, wanted.queries)
    means = {(row["system"], row["measure"]): (row["value"], row["n"]) for row in found.means().collect()}
    for system, measure, value, n in wanted.means.select("system", "measure", "value", "n").rows():
        mean, number = means[system, measure]
        assert number == n
        assert mean == pytest.approx(value, abs=1e-12) if n else mean is None


def test_intervals_are_those_of_one_machine(spark: Any) -> None:
    labels, runs = made(seed=2)
    wanted = kt.score(labels, runs, ["nDCG@10"], seed=5)
    found = karat.spark.score(in_spark(spark, labels), in_spark(spark, runs), ["nDCG@10"]).collect(seed=5)
    for column in ("value", "low", "high", "n"):
        assert found.means[column].to_list() == pytest.approx(wanted.means[column].to_list(), abs=1e-12)
    assert found.finding == wanted.finding


def test_what_is_decided_over_all_labels_is_so_in_every_bucket(spark: Any) -> None:
    """Snippets of queries that have nothing else, gold beside others, and the top grade that one judge gave once.

    Some buckets have labels and lists of different queries.
    """
    rows = [(f"q{q}", f"d{d}", (q + d) % 3, "crowd", "page") for q in range(9) for d in range(4)]
    rows += [("q9", f"d{d}", 8, "crowd", "snippet") for d in range(4)]
    rows += [("q10", f"d{d}", 9, "gold", "page") for d in range(4)]
    rows += [("q11", "d0", grade, f"crowd {grade}", "page") for grade in (1, 1, 5)]
    labels = pl.DataFrame(rows, schema=["query", "doc", "label", "group", "surface"], orient="row")
    runs = pl.DataFrame(
        [(f"q{q}", f"d{d}", 10.0 - d) for q in range(4, 24) for d in range(4)],
        schema=["query", "doc", "score"],
        orient="row",
    )
    wanted = kt.score(labels, runs, ["ERR@4", "nDCG@4"], draws=0)
    found = karat.spark.score(in_spark(spark, labels), in_spark(spark, runs), ["ERR@4", "nDCG@4"], buckets=12)
    assert_same(found.collect(draws=0).queries, wanted.queries)


@pytest.mark.parametrize("profile", ["ndeval", "gdeval"])
def test_profiles_count_the_same_queries(spark: Any, profile: str) -> None:
    labels, runs = made(queries=12)
    labels = labels.with_columns(pl.when(pl.col("query") == "q4").then(0).otherwise("label").alias("label"))
    runs = runs.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("system", "query").cast(int))
    names = ["alpha_nDCG@10", "ERR_IA@10"] if profile == "ndeval" else ["nDCG@20", "ERR@20"]
    wanted = kt.score(labels, runs, names, profile=profile, draws=0)
    found = karat.spark.score(in_spark(spark, labels), in_spark(spark, runs), names, profile=profile)
    assert found.collect(draws=0).means["value"].to_list() == pytest.approx(wanted.means["value"].to_list(), abs=1e-12)


def test_names_that_other_tools_use_are_understood_and_one_long_list_is_no_trouble(spark: Any) -> None:
    labels = pl.DataFrame({"qid": ["q"] * 50, "docno": [f"d{d}" for d in range(50)], "rel": [1] * 50})
    runs = pl.DataFrame(
        {"qid": ["q"] * 20_000, "docno": [f"d{d}" for d in range(20_000)], "score": np.arange(20_000, 0, -1.0)}
    )
    found = karat.spark.score(in_spark(spark, labels), in_spark(spark, runs), ["AP", "P@50"], buckets=50)
    assert found.collect(draws=0).queries.select("AP", "P@50").row(0) == pytest.approx((1.0, 1.0))


BAD = {
    "a document twice": ({"query": ["q", "q"], "doc": ["d", "d"], "score": [1.0, 2.0]}, "expected document d once"),
    "a score that is none": ({"query": ["q"], "doc": ["d"], "score": [float("nan")]}, "expected a number as score"),
    "a query without a name": ({"query": [None, "q"], "doc": ["d", "d"], "score": [1.0, 1.0]}, "expected a text as"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_one_machine_refuses_a_cluster_refuses_in_the_same_words(spark: Any, case: str) -> None:
    columns, said = BAD[case]
    labels, runs = pl.DataFrame({"query": ["q"], "doc": ["d"], "label": [1]}), pl.DataFrame(columns)
    with pytest.raises(BadInput, match=said):
        kt.score(labels, runs, ["AP"])
    with pytest.raises(BadInput, match=said):
        karat.spark.score(in_spark(spark, labels), in_spark(spark, runs), ["AP"]).collect()


def test_frames_of_spark_are_not_collected_in_silence_and_others_are_not_dealt_out(spark: Any) -> None:
    labels, runs = made(queries=2)
    with pytest.raises(BadInput, match=r"karat\.spark\.score"):
        kt.score(in_spark(spark, labels), runs)
    with pytest.raises(BadInput, match=r"karat\.spark\.score"):
        kt.score(labels, in_spark(spark, runs))
    with pytest.raises(BadInput, match="expected a DataFrame of Spark, found DataFrame of polars"):
        karat.spark.score(labels, in_spark(spark, runs))
    with pytest.raises(BadInput, match="no label"):
        karat.spark.score(in_spark(spark, labels.drop("label")), in_spark(spark, runs))
    with pytest.raises(BadInput, match="gains that are known"):
        karat.spark.score(in_spark(spark, labels), in_spark(spark, runs), ["nDCG(gains=udm(1/3))@10"])
    with pytest.raises(BadInput, match="at least one label"):
        karat.spark.score(in_spark(spark, labels.clear()), in_spark(spark, runs))
