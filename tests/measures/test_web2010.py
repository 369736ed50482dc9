"""The official per-topic scores of the TREC Web Track 2010 for a real run, by ndeval and gdeval."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat as kt

NDEVAL = {
    "ERR-IA": "ERR_IA",
    "nERR-IA": "nERR_IA",
    "alpha-DCG": "alpha_DCG",
    "alpha-nDCG": "alpha_nDCG",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP_IA",
    "P-IA": "P_IA",
    "strec": "StRecall",
}


def test_all_ndeval_columns_to_six_decimals(web2010: Path) -> None:
    official = pl.read_csv(web2010 / "wt2010-indri.ndeval.csv", schema_overrides={"topic": pl.String})
    columns = official.columns[2:]
    measures = {c: "@".join([NDEVAL[c.partition("@")[0]], *c.split("@")[1:]]) for c in columns}
    scores = kt.score(
        kt.read_judgments(str(web2010 / "10.diversity-qrels.final.txt.gz")),
        kt.read_runs(str(web2010 / "indri.run.gz")),
        list(measures.values()),
        profile="ndeval",
        draws=0,
    )
    topics = official.filter(pl.col("topic") != "amean")
    both = topics.join(scores.queries, left_on="topic", right_on="query", suffix="_karat")
    assert both.height == 48
    for column, measure in measures.items():
        assert (both[column] - both[measure]).abs().max() <= 0.51e-6, column
    means = dict(zip(scores.means["measure"], scores.means["value"], strict=True))
    average = official.filter(pl.col("topic") == "amean")
    for column, measure in measures.items():
        assert means[measure] == pytest.approx(average[column][0], abs=0.51e-6), column


def test_gdeval_columns_to_five_decimals(web2010: Path) -> None:
    official = pl.read_csv(web2010 / "wt2010-indri.gdeval.csv", schema_overrides={"topic": pl.String})
    scores = kt.score(
        kt.read_judgments(str(web2010 / "10.adhoc-qrels.final.txt.gz")),
        kt.read_runs(str(web2010 / "indri.run.gz")),
        ["nDCG@20", "ERR@20"],
        profile="gdeval",
        draws=0,
    )
    topics = official.filter(pl.col("topic") != "amean")
    both = topics.join(scores.queries, left_on="topic", right_on="query")
    assert both.height >= 40
    assert (both["ndcg@20"] - both["nDCG@20"]).abs().max() <= 0.51e-5
    assert (both["err@20"] - both["ERR@20"]).abs().max() <= 0.51e-5
    means = dict(zip(scores.means["measure"], scores.means["value"], strict=True))
    average = official.filter(pl.col("topic") == "amean")
    assert means["nDCG@20"] == pytest.approx(average["ndcg@20"][0], abs=0.51e-5)
    assert means["ERR@20"] == pytest.approx(average["err@20"][0], abs=0.51e-5)


def test_topics_have_kinds_and_subtopics(web2010: Path) -> None:
    queries = kt.read_queries(str(web2010 / "wt2010-topics.xml"))
    assert repr(queries).startswith("50 queries with ")
    first = queries.frame.row(0, named=True)
    assert (first["query"], first["text"], first["kind"]) == ("51", "horse hooves", "faceted")
    second = queries.subtopics.row(1, named=True)
    assert (second["subtopic"], second["kind"]) == ("2", "navigational")
    assert second["description"] == "Find pictures of horse hooves."
