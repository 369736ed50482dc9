"""Saved responses of Elasticsearch and OpenSearch are runs; errors among them are never lists without results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from commands import karat


def response(*hits: tuple[str, float | None], **more: Any) -> dict[str, Any]:
    """A response as the documentation of both engines shows it."""
    return {
        "took": 5,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(hits), "relation": "eq"},
            "max_score": hits[0][1] if hits else None,
            "hits": [{"_index": "shop", "_id": doc, "_score": score, "_source": {"name": doc}} for doc, score in hits],
        },
    } | more


ONE, TWO = response(("d2", 3.5), ("d1", 1.25)), response(("d1", 2.0), ("d3", 2.0))
ERROR = {"error": {"type": "index_not_found_exception", "reason": "no such index [shop]"}, "status": 404}
EXPECTED = [("q1", "d2", 1), ("q1", "d1", 2), ("q2", "d1", 1), ("q2", "d3", 2)]


def saved(folder: Path, content: Any, name: str = "bm25.json") -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text)
    return str(folder / name)


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


SHAPES = {
    "by name": {"q1": ONE, "q2": TWO},
    "a list": [{"query": "q1", "response": ONE}, {"query": "q2", "response": TWO}],
    "lines": lines({"query": "q1", "response": ONE}, {"query": "q2", "response": TWO}),
    "lines by qid": lines({"qid": "q1"} | ONE, {"qid": "q2"} | TWO),
    "filtered": {"q1": {"hits": {"hits": [{"_id": "d2"}, {"_id": "d1"}]}}, "q2": {"took": 1, "hits": TWO["hits"]}},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", ["bm25.json", "bm25.jsonl", "bm25.ndjson", "bm25"])
def test_responses_with_their_queries_are_a_run(tmp_path: Path, shape: Any, name: str) -> None:
    run = kt.read_runs(saved(tmp_path, shape, name))
    assert run.frame.select("query", "doc", "rank").rows() == EXPECTED
    assert run.systems == ["bm25"]


def test_score_takes_responses_as_a_run(tmp_path: Path) -> None:
    labels = saved(tmp_path, "query,doc,label\nq1,d1,1\nq2,d3,1\n", "labels.csv")
    done = karat("score", labels, saved(tmp_path, SHAPES["by name"]), "-m", "RR", "--tsv", "--draws", "0")
    assert done.stdout.splitlines()[1].split("\t")[3] == "0.5"  # second of two in both lists, d3 by its position
    done = karat("convert", saved(tmp_path, SHAPES["lines"], "x.jsonl"), str(tmp_path / "x.run"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.run").read_text().splitlines()[0].split()[:4] == ["q1", "Q0", "d2", "1"]


def test_hits_without_scores_keep_their_order(tmp_path: Path) -> None:
    sorted_by_price = response(("a", None), ("b", None), ("c", None))
    run = kt.read_runs(saved(tmp_path, {"q": sorted_by_price}))
    assert kt.score({"q": {"a": 1}}, run, "RR", draws=0).means["value"][0] == 1.0


def test_systems_may_stand_in_the_lines(tmp_path: Path) -> None:
    rows = [{"query": "q1", "system": name, "response": ONE} for name in ("a", "b")]
    assert kt.read_runs(saved(tmp_path, lines(*rows), "x.jsonl")).systems == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("bm25.queries.txt", "q1\nq2\n"),
        ("bm25.queries.csv", "query,text\nq1,tea\nq2,milk\n"),
        ("bm25.queries.jsonl", '{"query": "q1"}\n{"query": "q2"}\n'),
        (
            "bm25.requests.ndjson",
            lines(
                {"index": "shop"},
                {"query": {"match": {"name": "q1"}}, "size": 10},
                {},
                {"query": {"bool": {"must": [{"multi_match": {"query": "q2", "fields": ["name", "text"]}}]}}},
            ),
        ),
    ],
)
def test_msearch_takes_its_queries_from_a_file_beside_it(tmp_path: Path, name: str, beside: str) -> None:
    path = saved(tmp_path, {"took": 9, "responses": [ONE | {"status": 200}, TWO | {"status": 200}]})
    saved(tmp_path, beside, name)
    assert kt.read_runs(path).frame.select("query", "doc", "rank").rows() == EXPECTED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (ONE, "expected the query of each response, found a response alone; put each query beside its response"),
        ({"took": 1, "responses": [ONE]}, "in bm25.queries.txt, one in each line, or keep the requests as"),
        ({"q1": ONE, "q2": ERROR}, "query q2: an error: index_not_found_exception: no such index [shop]"),
        ([{"query": "q1", "response": ERROR}] * 3, "no such index [shop] (and 2 more queries); search again"),
        ({"q1": ONE | {"timed_out": True}}, "query q1: a timeout, with a part of the hits only"),
        ({"q1": ONE | {"_shards": {"total": 5, "failed": 2}}}, "2 of 5 shards failed"),
        ({"q1": {"took": 1, "hits": {"hits": [{"_score": 1}]}}}, "query q1: expected hits with _id, found an object"),
        ({"q1": response(("d", 1.0), ("d", 0.5))}, "document d once in the list of query q1"),
    ],
)
def test_what_is_no_whole_list_is_refused(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(kt.BadInput) as error:
        kt.read_runs(saved(tmp_path, content))
    assert said in str(error.value)


def test_errors_within_msearch_name_their_query(tmp_path: Path) -> None:
    saved(tmp_path, "q1\nq2\n", "bm25.queries.txt")
    with pytest.raises(kt.BadInput, match="query q2: an error: index_not_found_exception"):
        kt.read_runs(saved(tmp_path, {"responses": [ONE, ERROR]}))
    saved(tmp_path, "q1\n", "bm25.queries.txt")
    with pytest.raises(kt.BadInput, match=r"expected 2 queries, as .* has responses, found 1"):
        kt.read_runs(saved(tmp_path, {"responses": [ONE, TWO]}))


def test_a_request_without_one_text_asks_for_a_list(tmp_path: Path) -> None:
    saved(tmp_path, lines({}, {"query": {"match_all": {}}}), "bm25.requests.ndjson")
    with pytest.raises(kt.BadInput, match=r"line 2: expected one text that is searched for, found none; list"):
        kt.read_runs(saved(tmp_path, {"responses": [ONE]}))


def test_a_query_without_a_hit_is_counted(tmp_path: Path) -> None:
    run = kt.read_runs(saved(tmp_path, {"q1": ONE, "q2": response()}))
    assert any("1 query without a hit" in note for note in run.notes)
