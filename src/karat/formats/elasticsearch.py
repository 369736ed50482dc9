"""Elasticsearch's and OpenSearch's ranking evaluation: ratings of a `_rank_eval` request, hits of its response."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format_registry import Format, Narrow, add_format, one_kind
from karat.formats.json_files import is_json, load_json, load_objects, objects, read_jsonl, shown
from karat.formats.open_files import File
from karat.records import Judgments, Runs, Scale, Source

REQUEST = "a _rank_eval request (requests with id and ratings of _id and rating)"
RESPONSE = "a _rank_eval response (details of each request with hits)"


def read_request(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from the ratings of a request; the id of each request is the query's."""
    found = load_json(file)
    rows = []
    for request in objects(found.get("requests") if isinstance(found, dict) else found, file, REQUEST):
        if request.get("id") in (None, "") or not isinstance(request.get("ratings"), list):
            raise BadInput.at(file.name, expected="id and ratings of each request", found=shown(request))
        for rating in objects(request["ratings"], file, REQUEST):
            if rating.get("_id") is None or "rating" not in rating:
                place = f"{file.name}: request {request['id']}"
                raise BadInput.at(place, expected="_id and rating", found=shown(rating))
            rows.append((str(request["id"]), str(rating["_id"]), _text(rating["rating"]), _text(rating.get("_index"))))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("query", "doc", "label", "index"), pl.String), orient="row")
    source = Source(file.name)
    return Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, one_each=True)


def read_response(file: File, ranks: bool = True) -> Runs:
    """A run from the hits of a response, named by its file."""
    found = load_json(file)
    found = found.get("rank_eval", found) if isinstance(found, dict) else {}
    details = found.get("details")
    if not isinstance(details, dict):
        raise BadInput.at(file.name, expected=RESPONSE, found=shown(found))
    rows = []
    for query, detail in details.items():
        hits = detail.get("hits") if isinstance(detail, dict) else None
        for rank, one in enumerate(objects(hits, file, RESPONSE), 1):
            hit = one.get("hit")
            if not isinstance(hit, dict) or hit.get("_id") is None:
                raise BadInput.at(f"{file.name}: request {query}", expected="a hit with _id", found=shown(one))
            rows.append((str(query), str(hit["_id"]), rank))
    frame = pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "rank": pl.Int64}, orient="row")
    failed = len(found.get("failures") or ())
    runs = Runs.check(frame, system=file.stem, source=Source(file.name))
    note = f"{file.name}: {failed:,} of {failed + len(details):,} requests failed and are no lists"
    return Runs(runs.frame, (*runs.notes, *([note] if failed else [])), runs.one_system)


def write_request(judgments: Judgments, name: str) -> bytes:
    """Judgments as a request that searches for each query's id and asks for nDCG@10: change both to your own."""
    frame = judgments.frame.drop_nulls("label")
    labels = frame["label"]
    if ((labels != labels.round(0)) | (labels < 0)).any():
        odd = frame.filter((pl.col("label") != pl.col("label").round(0)) | (pl.col("label") < 0)).row(0, named=True)
        raise BadInput.at(
            "writing rank-eval",
            expected="whole numbers from 0 as ratings",
            found=f"{odd['label']:g} for {odd['doc']} of query {odd['query']}",
        )
    index = frame["index"] if judgments.has("index") else pl.Series([name] * frame.height)
    ratings: dict[str, list[dict[str, Any]]] = {}
    for query, doc, label, of in zip(frame["query"], frame["doc"], labels, index, strict=True):
        ratings.setdefault(query, []).append({"_index": of, "_id": doc, "rating": int(label)})
    requests = [
        {"id": query, "request": {"query": {"simple_query_string": {"query": query}}}, "ratings": given}
        for query, given in ratings.items()
    ]
    body = {"requests": requests, "metric": {"dcg": {"k": 10, "normalize": True}}}
    return (json.dumps(body, indent=2, ensure_ascii=False) + "\n").encode()


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _kinds(file: File) -> list[str]:
    head = file.head
    asks = b'"requests"' in head and b'"ratings"' in head
    # Old versions call the score quality_level.
    answers = b'"details"' in head and (b'"metric_score"' in head or b'"quality_level"' in head)
    return ["judgments"] * asks + ["runs"] * (answers and b'"searches"' not in head)


add_format(
    Format(
        "rank-eval",
        read_jsonl,
        read_from=(".json",),
        sniff=lambda file, schema: is_json(file) and bool(_kinds(file)),
        records={
            Judgments: Narrow(read_request, write_request, frozenset({"query", "doc", "label", "index"})),
            Runs: Narrow(read_response),
        },
        holds=lambda file: one_kind(file, _kinds(file)),
        exact=True,
    ),
    __name__,
)


JUDGEMENTS = "judgements (scenario_id, doc_id, rating)"
EVALUATIONS = "evaluations (results with strategy_id and searches of scenario_id and hits)"
COLUMNS = ("query", "doc", "label", "judge", "time", "index")


def read_judgements(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments with who last changed them, and when."""
    rows = []
    for one in load_objects(file, JUDGEMENTS):
        if one.get("scenario_id") is None or one.get("doc_id") is None or "rating" not in one:
            raise BadInput.at(file.name, expected=JUDGEMENTS, found=shown(one))
        meta = one.get("@meta")
        meta = meta if isinstance(meta, dict) else {}
        said = [meta.get(f"updated_{what}") or meta.get(f"created_{what}") for what in ("by", "at")]
        values = [one["scenario_id"], one["doc_id"], one["rating"], *said, one.get("index")]
        rows.append([None if value is None else str(value) for value in values])
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    frame = frame.select(name for name in COLUMNS if name == "label" or frame[name].count())
    return Judgments.check(frame, scale=scale, source=Source(file.name), drop_bad_labels=drop_bad_labels)


def read_evaluations(file: File, ranks: bool = True) -> Runs:
    """A run of each strategy from the hits of its searches."""
    rows: list[tuple[str, str, str, int]] = []
    for one in load_objects(file, EVALUATIONS):
        for strategy in objects(one.get("results"), file, EVALUATIONS):
            for search in objects(strategy.get("searches"), file, EVALUATIONS):
                hits = objects(search.get("hits"), file, EVALUATIONS)
                names = _name(strategy, "strategy_id", file), _name(search, "scenario_id", file)
                for rank, hit in enumerate(hits, 1):
                    found = hit.get("hit", hit)
                    rows.append((*names, _name(found if isinstance(found, dict) else {}, "_id", file), rank))
    schema = {"system": pl.String, "query": pl.String, "doc": pl.String, "rank": pl.Int64}
    return Runs.check(pl.DataFrame(rows, schema=schema, orient="row"), source=Source(file.name))


def _name(found: dict[str, Any], name: str, file: File) -> str:
    if found.get(name) is None:
        raise BadInput.at(file.name, expected=name, found=shown(found))
    return str(found[name])


def _holds(file: File) -> str | None:
    if b'"scenario_id"' in file.head and b'"rating"' in file.head and b'"doc_id"' in file.head:
        return "judgments"
    return "runs" if b'"strategy_id"' in file.head and b'"searches"' in file.head else None


add_format(
    Format(
        "relevance-studio",
        read_jsonl,
        read_from=(".json", ".jsonl", ".ndjson"),
        sniff=lambda file, schema: is_json(file) and _holds(file) is not None,
        records={Judgments: Narrow(read_judgements, several=True), Runs: Narrow(read_evaluations)},
        holds=_holds,
        exact=True,
    ),
    __name__,
)
