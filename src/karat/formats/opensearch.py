"""OpenSearch's Search Relevance Workbench: judgment lists, in and out, results of its experiments as runs.

The workbench knows queries by their text, so the text is the query's id here. What its interface answers
(`{"hits": {"hits": [...]}}`) is read as well as the bodies that it takes.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Narrow, add_format, one_kind
from karat.formats.json_text import load_objects, objects, shown
from karat.formats.jsonl import is_json, read_jsonl
from karat.formats.open_files import File
from karat.records import Judgments, Runs, Scale, Source
from karat.records.base import count

LISTS = "judgment lists (judgmentRatings with query and ratings of docId and rating)"
RESULTS = "evaluation results (searchText, documentIds, searchConfigurationId)"
COMPARED = "a pairwise experiment (results of queryText and snapshots with searchConfigurationId and docIds)"


def read_judgments(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from one or more judgment lists; of several, each is a judge by the list's name."""
    found = load_objects(file, LISTS)
    rows = []
    for place, one in enumerate(found, 1):
        name = str(one.get("name") or one.get("id") or f"list {place}")
        for query, ratings in _by_query(one.get("judgmentRatings"), file):
            for rating in objects(ratings, file, LISTS):
                if rating.get("docId") is None or "rating" not in rating:
                    raise BadInput.at(file.name, expected="docId and rating", found=f"{shown(rating)} of query {query}")
                said = rating["rating"]
                rows.append((query, str(rating["docId"]), None if said is None else str(said), name))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("query", "doc", "label", "judge"), pl.String), orient="row")
    several = len(found) > 1
    return Judgments.check(
        frame if several else frame.drop("judge"),
        scale=scale,
        source=Source(file.name),
        drop_bad_labels=drop_bad_labels,
        one_each=not several,
    )


def _by_query(ratings: Any, file: File) -> list[tuple[str, Any]]:
    """The ratings of each query: a list of objects, or in older versions an object by query."""
    if isinstance(ratings, dict):
        return [(str(query), given) for query, given in ratings.items()]
    found = []
    for one in objects(ratings, file, LISTS):
        if one.get("query") in (None, ""):
            raise BadInput.at(file.name, expected="a query for each list of ratings", found=shown(one))
        found.append((str(one["query"]), one.get("ratings", [])))
    return found


def write_judgments(judgments: Judgments, name: str) -> bytes:
    """Judgments as the body that imports them: PUT _plugins/_search_relevance/judgments."""
    lists: dict[str, list[dict[str, str]]] = {}
    for query, doc, label in judgments.frame.drop_nulls("label").select("query", "doc", "label").iter_rows():
        lists.setdefault(query, []).append({"docId": doc, "rating": f"{label:.3f}" if abs(label) < 1e9 else f"{label}"})
    body = {
        "name": name,
        "description": f"{count(sum(map(len, lists.values())), 'judgment')} written by karat",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [{"query": query, "ratings": ratings} for query, ratings in lists.items()],
    }
    return (json.dumps(body, indent=2, ensure_ascii=False) + "\n").encode()


def read_runs(file: File, ranks: bool = True) -> Runs:
    """A run of each search configuration from evaluation results or a pairwise experiment, in the order of its ids."""
    found = load_objects(file, RESULTS)
    # One index holds the results of all experiments: where a file has several, each has runs of its own.
    several = len({one.get("experimentId") for one in found}) > 1
    rows = [
        (system, query, str(doc), rank)
        for one in found
        for system, query, docs in (_compared if "results" in one else _evaluated)(one, file, several)
        for rank, doc in enumerate(docs, 1)
    ]
    schema = {"system": pl.String, "query": pl.String, "doc": pl.String, "rank": pl.Int64}
    return Runs.check(pl.DataFrame(rows, schema=schema, orient="row"), source=Source(file.name))


def _evaluated(one: dict[str, Any], file: File, several: bool) -> list[tuple[str, str, list[Any]]]:
    """The list of an evaluation result; a hybrid optimizer has one for each of its variants."""
    docs, query = one.get("documentIds"), one.get("searchText") or one.get("queryText")
    if not isinstance(docs, list) or query is None:
        raise BadInput.at(file.name, expected=RESULTS, found=shown(one))
    names = [one.get("searchConfigurationId") or file.stem, one.get("experimentVariantParameters")]
    names.append(one.get("experimentId") if several else None)
    return [(" ".join(str(name) for name in names if name), str(query), docs)]


def _compared(one: dict[str, Any], file: File, several: bool) -> list[tuple[str, str, list[Any]]]:
    """The lists of a pairwise experiment, of each configuration for each query."""
    lists = []
    for result in objects(one["results"], file, COMPARED):
        query, shots = result.get("queryText"), result.get("snapshots")
        if query is None or not isinstance(shots, list):
            remedy = "other experiments keep their lists in evaluation results (search-relevance-evaluation-result)"
            raise BadInput.at(file.name, expected=COMPARED, found=shown(result), remedy=remedy)
        for shot in objects(shots, file, COMPARED):
            docs, system = shot.get("docIds"), shot.get("searchConfigurationId")
            if not isinstance(docs, list) or system is None:
                raise BadInput.at(file.name, expected=COMPARED, found=shown(shot))
            lists.append((f"{system} {one['id']}" if several and "id" in one else str(system), str(query), docs))
    return lists


def _kinds(file: File) -> list[str]:
    judged = b'"judgmentRatings"' in file.head
    ranked = b'"documentIds"' in file.head or all(name in file.head for name in (b'"snapshots"', b'"docIds"'))
    return ["judgments"] * judged + ["runs"] * ranked


add_format(
    Format(
        "opensearch",
        read_jsonl,
        read_from=(".json", ".jsonl", ".ndjson"),
        sniff=lambda file, schema: is_json(file) and bool(_kinds(file)),
        records={
            Judgments: Narrow(read_judgments, write_judgments, frozenset({"query", "doc", "label"})),
            Runs: Narrow(read_runs),
        },
        holds=lambda file: one_kind(file, _kinds(file)),
        exact=True,
    ),
    __name__,
)
