"""Grades and judges' errors by Spark are those of one machine: odd labels, gold, groups, the same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat as kt
import karat.spark
from karat.errors import BadInput, Undefined
from karat.judges import ErrorModel, dawid_skene, majority_posterior
from karat.judges import em as steps
from spark_frames import in_spark

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


def made(seed: int) -> pl.DataFrame:
    """Labels by 12 judges in two groups, most of one query; repeats, silence, people without a name, gold."""
    rng = np.random.default_rng(seed)
    doc = rng.integers(0, 150, 1200)
    truth, skill = rng.integers(0, 3, 150), rng.uniform(0.4, 0.95, 12)
    judge = rng.integers(0, 12, 1200)
    label = np.where(rng.random(1200) < skill[judge], truth[doc], rng.integers(0, 3, 1200)).astype(float)
    frame = pl.DataFrame({"query": np.where(doc < 100, "much", "q" + (doc % 7).astype(str)), "doc": doc.astype(str)})
    frame = frame.with_columns(
        label=pl.Series(label).set(pl.Series(rng.random(1200) < 0.03), None),
        judge=pl.Series([None if j == 11 else f"w{j}" for j in judge]),
        group=pl.Series(["crowd" if j % 2 else "experts" for j in judge]),
    )
    gold = pl.DataFrame({"doc": [str(d) for d in range(0, 150, 9)]}).with_columns(
        query=pl.when(pl.col("doc").cast(int) < 100)
        .then(pl.lit("much"))
        .otherwise(pl.lit("q") + (pl.col("doc").cast(int) % 7).cast(pl.String)),
        label=pl.Series(truth[::9].astype(float)),
        judge=pl.lit(None, pl.String),
        group=pl.lit("gold"),
    )
    return pl.concat([frame, gold.select(frame.columns)])


def assert_same(found: ErrorModel, wanted: ErrorModel) -> None:
    for name in ("posterior", "confusion", "judges"):
        one, other = getattr(found, name), getattr(wanted, name)
        assert one.columns == other.columns
        for column in other.columns:
            if other[column].dtype == pl.Float64:
                assert one[column].to_list() == pytest.approx(other[column].to_list(), abs=1e-9, nan_ok=True), column
            else:
                assert one[column].to_list() == other[column].to_list(), column
    assert list(found.prior) == list(wanted.prior)
    assert list(found.prior.values()) == pytest.approx(list(wanted.prior.values()), abs=1e-9)
    assert (found.iterations, found.converged) == (wanted.iterations, wanted.converged)
    assert found.log_likelihood == pytest.approx(wanted.log_likelihood, rel=1e-12, nan_ok=True)


def test_the_fit_is_that_of_one_machine(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain steps, and one that goes further along the way of two others; every step is a job, so there are few."""
    monkeypatch.setattr(steps, "PLAIN_STEPS", 3)
    frame = made(seed=1)
    found = karat.spark.judges(in_spark(spark, frame), max_iterations=7, tolerance=0.0, buckets=2)
    assert_same(found.collect(), dawid_skene(frame, max_iterations=7, tolerance=0.0))
    assert any("not converged after 7" in note for note in found.notes)
    found.unpersist()


def test_votes_and_the_majority(spark: Any) -> None:
    frame = made(seed=2).drop("group").filter(pl.col("label").is_not_null())
    found = karat.spark.judges(in_spark(spark, frame), "majority", buckets=20)  # more buckets than queries
    wanted = majority_posterior(frame)
    assert_same(found.collect(), wanted)
    votes = {
        (row["query"], row["doc"]): (row["n"], row["n_0"], row["n_1"], row["n_2"]) for row in found.votes.collect()
    }
    told = wanted.posterior.select("query", "doc", "n", *(pl.col(f"p_{g}") * pl.col("n") for g in range(3)))
    assert votes == {(q, d): (n, *(round(x) for x in rest)) for q, d, n, *rest in told.rows()}


def test_dawid_and_skenes_patients_have_the_published_fit(spark: Any, classic: Path) -> None:
    """The first observer saw each patient three times: as three people without a name, who share their errors."""
    table = pl.read_csv(classic / "dawid_skene_1979_table1_long.csv")
    solution = json.loads((classic / "dawid_skene_em_solution.json").read_text())
    named = pl.when(pl.col("observer") != table["observer"][0]).then(pl.col("observer").cast(pl.String))
    frame = table.select(query=pl.lit("q"), doc=pl.col("patient").cast(pl.String), label=pl.col("label"), judge=named)
    model = karat.spark.judges(in_spark(spark, frame), smoothing=0.0, tolerance=1e-3, buckets=1)
    assert model.converged
    assert list(model.prior.values()) == pytest.approx(solution["marginals"], abs=1e-3)
    assert model.log_likelihood == pytest.approx(solution["loglik"], abs=1e-2)


ROW = {"query": "q", "doc": "d", "label": 1, "judge": "ann"}
BAD: dict[str, tuple[list[dict[str, object]], type[Exception], str]] = {
    "no query": ([ROW, ROW | {"query": None, "judge": "bob"}], BadInput, "expected a text as query"),
    "one grade": ([ROW, ROW | {"judge": "bob"}], Undefined, "all 2 labels are 1: who errs cannot be told"),
    "one judge": ([ROW, ROW | {"doc": "e", "label": 0}], Undefined, "there is only one judge"),
    "nothing shared": ([ROW, ROW | {"doc": "e", "label": 0, "judge": "bob"}], Undefined, "no two judges labelled"),
    "no label": ([ROW | {"label": None}], Undefined, "there is no label"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_one_machine_refuses_a_cluster_refuses_in_the_same_words(spark: Any, case: str) -> None:
    rows, kind, said = BAD[case]
    frame = pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "label": pl.Int64, "judge": pl.String})
    with pytest.raises(kind, match=said):
        dawid_skene(frame)
    with pytest.raises(kind, match=said):
        karat.spark.judges(in_spark(spark, frame))


def test_frames_of_spark_are_refused_elsewhere_and_others_here(spark: Any) -> None:
    frame = made(seed=3)
    with pytest.raises(BadInput, match="a DataFrame of Spark"):
        kt.judges.dawid_skene(in_spark(spark, frame))
    with pytest.raises(BadInput, match="expected a DataFrame of Spark, found DataFrame of polars"):
        karat.spark.judges(frame)
    with pytest.raises(BadInput, match="dawid-skene or majority"):
        karat.spark.judges(in_spark(spark, frame), "ordinal")
