"""Names of columns: the better name counts, what was passed over is said, what means nothing is named."""

from __future__ import annotations

from pathlib import Path

import pandas
import polars as pl
import pytest

import karat as kt
from karat.advice import speak_command_line
from karat.formats.content_type import kind_of

#: PyTerrier's documentation of its data model: queries [qid, query], documents [docid, docno], results of both.
RESULTS = pandas.DataFrame(
    {
        "qid": ["1", "1", "2"],
        "query": ["chemical reactions", "chemical reactions", "what is a cell"],
        "docid": [2, 5, 1],
        "docno": ["d10", "d20", "d11"],
        "rank": [0, 1, 0],
        "score": [2.5, 1.2, 0.5],
    }
)


def test_a_frame_of_pyterrier_scores_as_trec_eval_would() -> None:
    labels = pandas.DataFrame({"qid": ["1", "2"], "docno": ["d20", "d11"], "label": [1, 1]})
    scores = kt.score(labels, RESULTS, ["RR"])
    assert scores.queries.sort("query")["RR"].to_list() == [0.5, 1.0], "d20 stands second, d11 first"


def test_what_was_passed_over_is_kept_and_said() -> None:
    runs = kt.Runs.of(RESULTS)
    assert runs.frame["doc"].to_list() == ["d10", "d20", "d11"]
    assert runs.frame.columns == ["system", "query", "doc", "rank", "score", "query_text", "other_docid"]
    assert runs.notes == (
        "the run: qid counts as the query's id, and not query",
        "the run: docno counts as the document's id, and not docid",
    )


@pytest.mark.parametrize("better", ["qid", "query_id", "query-id", "topic"])
@pytest.mark.parametrize("records", [kt.Judgments, kt.Runs, kt.Queries, kt.Clicks, kt.Preferences])
def test_an_id_comes_before_the_query(better: str, records: type[kt.Judgments]) -> None:
    rest = {"doc": "d", "label": 1, "rank": 1, "clicks": 1, "left": "a", "right": "b", "choice": "left"}
    found = records.of([{"query": "the words", better: "7"} | rest])
    assert found.frame["query"].to_list() == ["7"]


@pytest.mark.parametrize("better", ["docno", "doc_id", "document_id", "corpus-id", "pid", "passage_id"])
@pytest.mark.parametrize("other", ["docid", "doc", "_id", "id"])
def test_a_documents_id_comes_before_internal_numbers(better: str, other: str) -> None:
    row = {"query": "q", other: "3", better: "d7", "label": 1, "rank": 1, "clicks": 1, "title": "t"}
    for records in (kt.Judgments, kt.Runs, kt.Documents, kt.Clicks):
        assert records.of([row]).frame["doc"].to_list() == ["d7"], records


def test_a_query_beside_an_id_is_the_text() -> None:
    queries = kt.Queries.of([{"query_id": "1", "query": "horse hooves"}])
    assert queries.frame.select("query", "text").rows() == [("1", "horse hooves")]
    assert not queries.notes, "both columns have their place"
    alone = kt.Queries.of([{"query": "1", "text": "horse hooves"}])
    assert alone.frame.select("query", "text").rows() == [("1", "horse hooves")]


@pytest.mark.parametrize("name", ["annotator", "worker", "worker_id", "_worker_id", "completed_by", "user"])
def test_who_judged_has_many_names(name: str) -> None:
    assert kt.Judgments.of([{"query": "q", "doc": "d", "label": 1, name: "w1"}]).frame["judge"].to_list() == ["w1"]


@pytest.mark.parametrize("name", ["relevance", "rel", "rating", "grade", "judgment", "score"])
def test_a_grade_has_many_names(name: str) -> None:
    assert kt.Judgments.of([{"query": "q", "doc": "d", name: 2}]).frame["label"].to_list() == [2.0]


@pytest.mark.parametrize("name", ["description", "body", "content", "abstract"])
def test_the_text_of_a_document_has_many_names(name: str) -> None:
    assert kt.Documents.of([{"_id": "d", "title": "t", name: "words"}]).frame["text"].to_list() == ["words"]


def test_columns_that_mean_nothing_are_named_in_one_note() -> None:
    labels = kt.Judgments.of([{"query": "q", "doc": "d", "label": 1, "colour": "red", "shape": "round", "url": "x"}])
    assert labels.notes == ("the judgments: columns that were not understood, kept as they are: colour, shape",)
    assert "colour" in labels.frame.columns


def test_a_checked_table_is_the_same_when_checked_again() -> None:
    for records, frame in (
        (kt.Runs, pl.from_pandas(RESULTS)),
        (kt.Queries, pl.DataFrame({"qid": ["1"], "query": ["words"], "title": ["t"], "id": [9]})),
        (kt.Documents, pl.DataFrame({"docno": ["1"], "doc": ["words"], "docid": [3], "text": ["more"]})),
    ):
        once = records.of(frame)
        assert records.of(once.frame).frame.equals(once.frame), records


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("x.csv", "qid,query\n1,words\n", "queries"),
        ("x.csv", "id,query\n1,words\n", "queries"),
        ("x.jsonl", '{"_id": "d", "title": "t", "text": "words"}\n', "documents"),
        ("queries.jsonl", '{"_id": "q", "text": "words"}\n', "queries"),
        ("corpus.jsonl", '{"_id": "d", "text": "words"}\n', "documents"),
        ("x.csv", "query,doc,label,rank\nq,d,1,3\n", "judgments"),
        ("x.jsonl", '{"_id": "q", "text": "words"}\n', "queries or documents"),
        ("x.csv", "qid,docno,label,score,rank\n1,d,1,0.3,1\n", "judgments or runs"),
        ("x.csv", "query,doc\n1,d\n", "queries or documents"),
    ],
)
def test_what_could_be_two_things_is_refused_with_both_names(tmp_path: Path, name: str, text: str, kind: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    if " or " not in kind:
        assert kind_of(str(path)) == kind
        return
    with speak_command_line(), pytest.raises(kt.BadInput, match=f"which could be {kind}; say it with --kind"):
        kind_of(str(path))
