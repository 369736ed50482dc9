"""Other tools' JSON: each read as its own documentation has it, and written where that tool imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt
from commands import karat

#: The body that imports judgments, from https://docs.opensearch.org/docs/search-plugins/search-relevance/judgments.
IMPORTED = {
    "name": "Imported Judgments",
    "description": "Judgments generated outside SRW",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {
            "query": "red dress",
            "ratings": [{"docId": "B077ZJXCTS", "rating": "3.000"}, {"docId": "B071S6LTJJ", "rating": "2.000"}],
        },
        {"query": "blue jeans", "ratings": [{"docId": "B07L9V4Y98", "rating": "0.000"}]},
    ],
}
RED_AND_BLUE = [("red dress", "B077ZJXCTS", 3.0), ("red dress", "B071S6LTJJ", 2.0), ("blue jeans", "B07L9V4Y98", 0.0)]
#: A detailed result, from https://docs.opensearch.org/docs/search-plugins/search-relevance/evaluate-search-quality.
EVALUATED = {
    "id": "10c60fee-11ca-49b0-9e8a-82cb7b2c044b",
    "timestamp": "2025-06-13T08:06:40.869Z",
    "searchConfigurationId": "4f90e474-0806-4dd2-a8dd-0fb8a5f836eb",
    "searchText": "tv",
    "judgmentIds": ["d3d93bb3-2cf4-4da0-8d31-c298427c2756"],
    "documentIds": ["B07Q7VGW4Q", "B00GXD4NWE", "B07VML1CY1"],
    "metrics": [{"metric": "Coverage@8", "value": 0.0}],
}
#: A pairwise experiment, from https://docs.opensearch.org/latest/search-plugins/search-relevance/experiments.
PAIRWISE = {
    "id": "47cc3861-c37b-43cc-99c4-c1e7c90b4674",
    "type": "PAIRWISE_COMPARISON",
    "status": "COMPLETED",
    "searchConfigurationList": ["85f31a87", "050b8c98"],
    "judgmentList": [],
    "results": [
        {
            "metrics": [{"metric": "jaccard", "value": 0.33}],
            "queryText": "tv",
            "snapshots": [
                {"searchConfigurationId": "85f31a87", "docIds": ["B07Q7VGW4Q", "B00GXD4NWE"]},
                {"searchConfigurationId": "050b8c98", "docIds": ["B00GXD4NWE", "B07VML1CY1"]},
            ],
        }
    ],
}
#: A request and its response, from
#: https://elastic.co/guide/en/elasticsearch/reference/8.3/search-rank-eval.html (the response within "rank_eval").
REQUEST = {
    "requests": [
        {
            "id": "amsterdam_query",
            "request": {"query": {"match": {"text": "amsterdam"}}},
            "ratings": [
                {"_index": "my-index-000001", "_id": "doc1", "rating": 0},
                {"_index": "my-index-000001", "_id": "doc2", "rating": 3},
            ],
        },
        {
            "id": "berlin_query",
            "request": {"query": {"match": {"text": "berlin"}}},
            "ratings": [{"_index": "my-index-000001", "_id": "doc1", "rating": 1}],
        },
    ]
}
RESPONSE = {
    "metric_score": 0.4,
    "details": {
        "my_query_id1": {
            "metric_score": 0.6,
            "unrated_docs": [{"_index": "my-index-000001", "_id": "1960795"}],
            "hits": [
                {
                    "hit": {"_index": "my-index-000001", "_type": "page", "_id": "1528558", "_score": 7.0556192},
                    "rating": 1,
                },
                {
                    "hit": {"_index": "my-index-000001", "_type": "page", "_id": "1960795", "_score": 6.1},
                    "rating": None,
                },
            ],
            "metric_details": {"precision": {"relevant_docs_retrieved": 6, "docs_retrieved": 10}},
        }
    },
    "failures": {"my_query_id2": {}},
}
#: An export of a case, as _case.json.jbuilder and _query.json.jbuilder (app/views/api/v1/export/cases of o19s/quepid).
CASE = {
    "case_name": "Movies",
    "owner_email": "ann@example.com",
    "queries": [
        {"arranged_at": 0, "query_text": "star wars", "options": {}, "notes": None, "ratings": {"11": 3, "1892": 2.0}},
        {"arranged_at": 1, "query_text": "titanic", "ratings": {}},
    ],
    "try": {"query_params": "q=#$query##"},
}
#: Headers as snapshotHeaderToCSV and detailedQueriesHeaderToCSV (caseCSVSvc of o19s/quepid) write them.
SNAPSHOT = (
    "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\n"
    'before,2024-05-01,7,"star wars, first",11,1,Star Wars\nbefore,2024-05-01,7,"star wars, first",1892,2,Jedi\n'
    'after,2024-05-02,7,"star wars, first",1892,1,Jedi\nafter,2024-05-02,7,nothing,,,\n'
)
DETAILED = (
    "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\n"
    "mine,Movies,7,star wars,11,1,Star Wars,3\nmine,Movies,7,star wars,1892,2,Jedi,\n"
)
#: A judgement and an evaluation, as docs/docs/reference/data-model.md and src/server/api/evaluations.py of
#: elastic/relevance-studio describe them.
JUDGEMENT = {
    "@meta": {"created_at": "2025-01-01T10:00:00Z", "created_by": "ann", "updated_at": None, "updated_by": None},
    "workspace_id": "w",
    "scenario_id": "s1",
    "index": "products",
    "doc_id": "p7",
    "rating": 4,
}
EVALUATION = {
    "workspace_id": "w",
    "benchmark_id": "b",
    "strategy_id": ["bm25", "rrf"],
    "results": [
        {
            "strategy_id": "bm25",
            "searches": [
                {
                    "scenario_id": "s1",
                    "metrics": {"ndcg": 0.5},
                    "hits": [
                        {"hit": {"_index": "products", "_id": "p7", "_score": 2.0}, "rating": 4},
                        {"hit": {"_index": "products", "_id": "p8", "_score": 1.0}, "rating": None},
                    ],
                }
            ],
        },
        {"strategy_id": "rrf", "searches": [{"scenario_id": "s1", "metrics": {}, "hits": []}]},
    ],
}


def hits(*sources: object) -> dict[str, object]:
    """What a search engine answers where these are found."""
    return {
        "took": 3,
        "hits": {"total": {"value": len(sources)}, "hits": [{"_id": "x", "_source": s} for s in sources]},
    }


def saved(folder: Path, found: object, name: str = "file.json") -> str:
    (folder / name).write_text(found if isinstance(found, str) else json.dumps(found, indent=1))
    return str(folder / name)


def labels(path: str) -> list[tuple[object, ...]]:
    return kt.read_judgments(path).frame.select("query", "doc", "label").rows()


def ranking(path: str) -> list[tuple[object, ...]]:
    return (
        kt.read_runs(path)
        .frame.sort("system", "query", "score", descending=[False, False, True])
        .select("system", "query", "doc")
        .rows()
    )


@pytest.mark.parametrize("found", [IMPORTED, [IMPORTED], hits(IMPORTED), hits({**IMPORTED, "status": "COMPLETED"})])
@pytest.mark.parametrize("name", ["list.json", "list"])
def test_judgment_lists_of_opensearch_are_read(tmp_path: Path, found: object, name: str) -> None:
    assert labels(saved(tmp_path, found, name)) == RED_AND_BLUE


def test_older_judgment_lists_of_opensearch_are_read(tmp_path: Path) -> None:
    """Ratings by query, as the first version of opensearch-project/search-relevance had them."""
    older = {**IMPORTED, "judgmentRatings": {"red dress": [{"docId": "B077ZJXCTS", "rating": "0.000"}]}}
    assert labels(saved(tmp_path, older)) == [("red dress", "B077ZJXCTS", 0.0)]


def test_several_judgment_lists_are_several_judges(tmp_path: Path) -> None:
    read = kt.read_judgments(saved(tmp_path, hits(IMPORTED, {**IMPORTED, "name": "LLM"})))
    assert read.frame["judge"].unique().sort().to_list() == ["Imported Judgments", "LLM"]


def test_judgments_go_to_opensearch_and_back(tmp_path: Path) -> None:
    path, out = saved(tmp_path, IMPORTED), str(tmp_path / "Mine.json")
    assert karat("convert", path, out, "--to", "opensearch").returncode == 0
    written = json.loads(Path(out).read_text())
    assert (written["name"], written["type"]) == ("Mine", "IMPORT_JUDGMENT")
    assert written["judgmentRatings"] == IMPORTED["judgmentRatings"]
    assert labels(out) == RED_AND_BLUE


@pytest.mark.parametrize("form", ["answer", "lines", "list"])
def test_evaluation_results_of_opensearch_are_runs(tmp_path: Path, form: str) -> None:
    other = {**EVALUATED, "searchConfigurationId": "new", "documentIds": ["B07VML1CY1"]}
    found = {
        "answer": hits(EVALUATED, other),
        "lines": json.dumps(EVALUATED) + "\n" + json.dumps(other) + "\n",
        "list": [EVALUATED, other],
    }[form]
    system = "4f90e474-0806-4dd2-a8dd-0fb8a5f836eb"
    docs = [(system, "tv", doc) for doc in EVALUATED["documentIds"]]
    assert ranking(saved(tmp_path, found)) == [*docs, ("new", "tv", "B07VML1CY1")]


def test_each_variant_of_a_hybrid_optimizer_is_a_system(tmp_path: Path) -> None:
    # As getTextualParameters (ExperimentVariant.java of opensearch-project/search-relevance) writes them.
    one, other = (f"combination=arithmetic_mean, normalization=l2, weights={w}" for w in ("0.3;0.7", "0.7;0.3"))
    hybrid = {**EVALUATED, "searchConfigurationId": "c", "experimentId": "e1", "experimentVariantParameters": one}
    found = [hybrid, {**hybrid, "experimentVariantParameters": other, "documentIds": ["B00GXD4NWE", "B07Q7VGW4Q"]}]
    runs = ranking(saved(tmp_path, found))
    assert [row[2] for row in runs if row[0] == f"c {one}"] == EVALUATED["documentIds"]
    assert [row[2] for row in runs if row[0] == f"c {other}"] == ["B00GXD4NWE", "B07Q7VGW4Q"]


def test_the_same_configuration_in_two_experiments_is_two_systems(tmp_path: Path) -> None:
    one = {**EVALUATED, "searchConfigurationId": "c", "experimentId": "e1"}
    runs = ranking(saved(tmp_path, hits(one, {**one, "experimentId": "e2"})))
    assert [*dict.fromkeys(row[0] for row in runs)] == ["c e1", "c e2"]


@pytest.mark.parametrize("found", [PAIRWISE, hits(PAIRWISE)])
def test_a_pairwise_experiment_of_opensearch_is_two_runs(tmp_path: Path, found: object) -> None:
    assert ranking(saved(tmp_path, found)) == [
        ("050b8c98", "tv", "B00GXD4NWE"),
        ("050b8c98", "tv", "B07VML1CY1"),
        ("85f31a87", "tv", "B07Q7VGW4Q"),
        ("85f31a87", "tv", "B00GXD4NWE"),
    ]


def test_requests_of_rank_eval_are_labels_and_go_back(tmp_path: Path) -> None:
    path, out = saved(tmp_path, REQUEST), str(tmp_path / "out.json")
    found = [("amsterdam_query", "doc1", 0.0), ("amsterdam_query", "doc2", 3.0), ("berlin_query", "doc1", 1.0)]
    assert labels(path) == found
    assert karat("convert", path, out, "--to", "rank-eval").returncode == 0
    written = json.loads(Path(out).read_text())
    assert [request["ratings"] for request in written["requests"]] == [r["ratings"] for r in REQUEST["requests"]]
    assert labels(out) == found


def test_ratings_that_rank_eval_does_not_take_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "half.txt").write_text("q 0 d 0.5\n")
    done = karat("convert", str(tmp_path / "half.txt"), str(tmp_path / "o.json"), "--to", "rank-eval")
    assert "expected whole numbers from 0 as ratings, found 0.5 for d of query q" in done.stderr


@pytest.mark.parametrize("found", [RESPONSE, {"rank_eval": RESPONSE}])
def test_responses_of_rank_eval_are_runs(tmp_path: Path, found: object) -> None:
    path = saved(tmp_path, found, "bm25.json")
    assert ranking(path) == [("bm25", "my_query_id1", "1528558"), ("bm25", "my_query_id1", "1960795")]
    assert "1 of 2 requests failed" in "".join(kt.read_runs(path).notes)


def test_responses_of_rank_eval_of_older_versions_are_runs(tmp_path: Path) -> None:
    # docs/reference/search/rank-eval.asciidoc of elastic/elasticsearch, an old version: quality_level and unknown_docs.
    older = json.loads(
        json.dumps(RESPONSE).replace("metric_score", "quality_level").replace("unrated_docs", "unknown_docs")
    )
    path = saved(tmp_path, {"rank_eval": older})
    assert [doc for _, _, doc in ranking(path)] == ["1528558", "1960795"]


def test_cases_of_quepid_are_labels(tmp_path: Path) -> None:
    path = saved(tmp_path, CASE)
    assert labels(path) == [("star wars", "11", 3.0), ("star wars", "1892", 2.0)]
    assert "1 query without a rating" in "".join(kt.read_judgments(path).notes)


def test_snapshots_of_quepid_are_runs(tmp_path: Path) -> None:
    path, first = saved(tmp_path, SNAPSHOT, "snapshot.csv"), "star wars, first"
    assert ranking(path) == [("after", first, "1892"), ("before", first, "11"), ("before", first, "1892")]
    assert "1 query without a document" in "".join(kt.read_runs(path).notes)
    done = karat("convert", path, str(tmp_path / "run.csv"))
    assert "Wrote 3 rows of runs" in done.stderr


def test_detailed_exports_of_quepid_are_runs_and_labels(tmp_path: Path) -> None:
    path = saved(tmp_path, DETAILED, "detailed.csv")
    assert ranking(path) == [("Movies", "star wars", "11"), ("Movies", "star wars", "1892")]
    assert labels(path) == [("star wars", "11", 3.0)]


def test_a_snapshot_has_no_labels(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match=r"expected a column Rating, .* a snapshot has no ratings"):
        kt.read_judgments(saved(tmp_path, SNAPSHOT, "snapshot.csv"))


@pytest.mark.parametrize("form", ["answer", "lines", "list", "one"])
def test_judgements_of_relevance_studio_are_labels(tmp_path: Path, form: str) -> None:
    other = {**JUDGEMENT, "doc_id": "p8", "rating": 0}
    lines = json.dumps(JUDGEMENT) + "\n" + json.dumps(other) + "\n"
    found = {"answer": hits(JUDGEMENT, other), "lines": lines, "list": [JUDGEMENT, other], "one": JUDGEMENT}[form]
    path = saved(tmp_path, found)
    assert labels(path) == [("s1", "p7", 4.0), ("s1", "p8", 0.0)][: 1 if form == "one" else 2]
    assert kt.read_judgments(path).frame["judge"].unique().to_list() == ["ann"]


def test_evaluations_of_relevance_studio_are_runs(tmp_path: Path) -> None:
    assert ranking(saved(tmp_path, hits(EVALUATION))) == [("bm25", "s1", "p7"), ("bm25", "s1", "p8")]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({**IMPORTED, "judgmentRatings": 7}, "expected judgment lists .*, found 7"),
        ({**IMPORTED, "judgmentRatings": [{"query": "q", "ratings": [{"rating": "1"}]}]}, "docId and rating, found"),
        ({**IMPORTED, "judgmentRatings": [{"ratings": []}]}, "expected a query for each list"),
        (
            {**IMPORTED, "judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "good"}]}]},
            'found "good"',
        ),
        ({**IMPORTED, "query_doc_pairs": []}, "names that opensearch and quepid use; say which it is with format="),
        ({"requests": [{"id": "q", "ratings": [{"_index": "i", "rating": 1}]}]}, "request q: expected _id and rating"),
        ({"requests": [{"ratings": []}]}, "expected id and ratings of each request"),
        ({"requests": {"ratings": []}}, "expected a _rank_eval request"),
        ({**CASE, "queries": [{"ratings": {"d": 1}, "query_text": ""}]}, "expected a case"),
        ({**CASE, "queries": [{"ratings": [1], "query_text": "q"}]}, "expected a case"),
        ([JUDGEMENT, {"scenario_id": "s", "rating": 2}], "expected judgements .scenario_id, doc_id, rating."),
        ([JUDGEMENT, 7], "expected judgements .*, found 7"),
        ({"q1": {"d1": 1, "d2": "high"}}, 'query q1, document d2: expected a number as label, found "high"'),
        ({"q1": {"d1": 1}, "q2": []}, "expected {query: {document: number}}, found an empty list of q2"),
        ({"q1": {}}, "found no query with a document"),
    ],
)
def test_what_is_wrong_with_labels_is_told(tmp_path: Path, found: object, said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        kt.read_judgments(saved(tmp_path, found))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({**EVALUATED, "documentIds": "B07"}, "expected evaluation results"),
        ({**EVALUATED, "documentIds": ["a", "b", "a"]}, "expected document a once in the list of query tv"),
        ({**PAIRWISE, "results": [{**PAIRWISE["results"][0], "snapshots": {"docIds": []}}]}, "a pairwise experiment"),
        (
            [PAIRWISE, {**PAIRWISE, "results": [{"evaluationId": "x", "queryText": "tv"}]}],
            "other experiments keep their lists in evaluation results",
        ),
        ({**RESPONSE, "details": []}, "expected a _rank_eval response"),
        ({**RESPONSE, "details": {"q": {"hits": [{"rating": 1}]}}}, "request q: expected a hit with _id"),
        (hits({**EVALUATION, "results": [{"searches": []}]}, EVALUATION), None),
        (hits({**EVALUATION, "results": [{"searches": [{"hits": []}], "strategy_id": "a"}]}), "expected scenario_id"),
        ({"q": {"d": True}}, "expected"),
    ],
)
def test_what_is_wrong_with_runs_is_told(tmp_path: Path, found: object, said: str | None) -> None:
    path = saved(tmp_path, found)
    if said is None:  # a strategy without searches has no list, and the others count
        assert len(kt.read_runs(path)) == 2
        return
    with pytest.raises(kt.BadInput, match=said):
        kt.read_runs(path)


def test_lines_that_are_broken_are_told_with_their_number(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match=r"file\.jsonl line 2 line 1: expected JSON|line 2: expected"):
        kt.read_judgments(saved(tmp_path, json.dumps(JUDGEMENT) + '\n{"scenario_id": \n', "file.jsonl"))
