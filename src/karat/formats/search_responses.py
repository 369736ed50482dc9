"""Responses of Elasticsearch's and OpenSearch's `_search` and `_msearch`, saved as JSON: the hits of each are a list.

A response does not say which query it answers. The query stands beside it (`{"query": "q1", "response": {...}}`, one
in each line or all in a list), or is its name (`{"q1": {...}, "q2": {...}}`); the responses of `_msearch` come in the
order of the requests, whose queries a file beside it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import read_csv
from karat.formats.format_registry import Format, Narrow, add_format
from karat.formats.json_files import is_json, load_json, load_line, objects, read_jsonl, shown
from karat.formats.open_files import File
from karat.records import Queries, Runs, Source
from karat.records.column_names import QUERY
from karat.records.table import count

RESPONSES = "responses of _search or _msearch"
#: Where a response stands beside its query.
RESPONSE = ("response", "result", "body")
#: How responses begin: with hits, with those of several searches, or with an error.
HITS = re.compile(rb'"hits"\s*:\s*\{')
SEVERAL = re.compile(rb'"responses"\s*:\s*\[|"response"\s*:\s*\{\s*"error"')
OF_ENGINE = (b'"took"', b'"_shards"', b'"_id"', b'"timed_out"')
#: Endings of files beside the responses of _msearch: the queries in the order of the requests, or the requests.
QUERIES_BESIDE = (".queries.txt", ".queries.csv", ".queries.tsv", ".queries.jsonl")
REQUESTS_BESIDE = (".requests.ndjson", ".request.ndjson", ".requests.jsonl", ".ndjson")
ONE_BY_ONE = (
    'put each query beside its response, one in each line: {"query": "q1", "response": {...}}, '
    "for example with jq -c '{query: \"q1\", response: .}'"
)


def read_run(file: File, ranks: bool = True) -> Runs:
    """A run from responses, in the order of their hits; errors and partial results are refused."""
    rows: list[tuple[str, str, str, int, float | None]] = []
    empty, failed = 0, list[str]()
    for system, query, response in _responses(file):
        trouble = _trouble(response)
        if trouble:
            failed.append(f"query {query}: {trouble}")
            continue
        hits = response.get("hits")
        found = objects(hits.get("hits", []) if isinstance(hits, dict) else hits, file, RESPONSES)
        empty += not found
        for rank, hit in enumerate(found, 1):
            if hit.get("_id") is None:
                raise BadInput.at(f"{file.name}: query {query}", expected="hits with _id", found=shown(hit))
            rows.append((system, query, str(hit["_id"]), rank, _number(hit.get("_score"))))
    if failed:
        more = f" (and {count(len(failed) - 1, 'more query', 'more queries')})" if failed[1:] else ""
        raise BadInput.at(
            file.name,
            expected="whole results for every query",
            found=failed[0] + more,
            remedy="search again for these queries, or remove their responses: the run then has no results for them",
        )
    schema = {"system": pl.String, "query": pl.String, "doc": pl.String, "rank": pl.Int64, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    if frame["score"].null_count():  # sorted by something else than the score
        frame = frame.drop("score")
    if frame["system"].n_unique() < 2:
        runs = Runs.check(frame.drop("system"), system=rows[0][0] if rows else file.stem, source=Source(file.name))
    else:
        runs = Runs.check(frame, source=Source(file.name))
    note = f"{file.name}: {count(empty, 'query', 'queries')} without a hit"
    return replace(runs, notes=(*runs.notes, *([note] if empty else [])))


def _responses(file: File) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each response with its system and its query."""
    for number, one in _documents(file):
        place = file.name if number is None else f"{file.name} line {number}"
        if not isinstance(one, dict):
            raise BadInput.at(place, expected=RESPONSES, found=shown(one))
        beside = next((name for name in RESPONSE if isinstance(one.get(name), dict)), None)
        query = next((one[name] for name in QUERY if isinstance(one.get(name), str | int)), None)
        if query is not None and (beside is not None or _is_response(one)):
            yield str(one.get("system") or file.stem), str(query), one if beside is None else one[beside]
        elif isinstance(one.get("responses"), list):
            answers = objects(one["responses"], file, RESPONSES)
            for name, response in zip(_queries_beside(file, len(answers)), answers, strict=True):
                yield file.stem, name, response
        elif _is_response(one) or beside is not None:
            raise BadInput.at(place, expected="the query of each response", found="a response alone", remedy=ONE_BY_ONE)
        elif one and all(isinstance(value, dict) and _is_response(value) for value in one.values()):
            for name, response in one.items():
                yield file.stem, name, response
        else:
            raise BadInput.at(place, expected=RESPONSES, found=shown(one), remedy=ONE_BY_ONE)


def _documents(file: File) -> Iterator[tuple[int | None, Any]]:
    """The objects of a file: one, those of a list, or one in each line with the line's number."""
    start = file.content.lstrip()
    first, _, rest = start.partition(b"\n")
    if start.startswith(b"{") and first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{"):
        for number, line in enumerate(file.content.split(b"\n"), 1):
            if line.strip():
                yield number, load_line(line, f"{file.name} line {number}")
        return
    found = load_json(file)
    for one in found if isinstance(found, list) else [found]:
        yield None, one


def _is_response(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("hits"), dict) or "error" in one


def _trouble(response: Mapping[str, Any]) -> str:
    """Why a response has no hits, or not all of them; empty where all is well."""
    error = response.get("error")
    if error is not None:
        kind, reason = (error.get("type"), error.get("reason")) if isinstance(error, dict) else (None, error)
        return "an error: " + ": ".join(str(part) for part in (kind, reason) if part)
    if response.get("timed_out") is True:
        return "a timeout, with a part of the hits only"
    shards = response.get("_shards")
    failed = shards.get("failed") if isinstance(shards, dict) else 0
    if isinstance(failed, int) and failed > 0:
        return f"{failed} of {shards.get('total')} shards failed, with a part of the hits only"  # type: ignore[union-attr]
    return "" if isinstance(response.get("hits"), dict) else f"no hits, but {shown(dict(response))}"


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _queries_beside(file: File, number: int) -> list[str]:
    """The queries of the responses of _msearch, in their order, from a file beside theirs."""
    stem = file.path[: -len(Path(file.path).name)] + file.stem
    beside = [stem + ending for ending in (*QUERIES_BESIDE, *REQUESTS_BESIDE)]
    path = next((path for path in beside if path != file.path and Path(path).is_file()), None)
    if path is None:
        name = file.stem
        raise BadInput.at(
            file.name,
            expected="the queries of the responses of _msearch",
            found="none beside it",
            remedy=f"list their ids in the order of the requests in {name}.queries.txt, one in each line, or keep the "
            f"requests as {name}.requests.ndjson; or {ONE_BY_ONE}",
        )
    queries = _listed(File(path)) if path.endswith(QUERIES_BESIDE) else _searched(File(path))
    if len(queries) != number:
        raise BadInput.at(
            path, expected=f"{count(number, 'query', 'queries')}, as {file.name} has responses", found=f"{len(queries)}"
        )
    return queries


def _listed(file: File) -> list[str]:
    """The ids of queries in a text, one in each line, or in a table of queries."""
    if file.path.endswith(".txt"):
        return [line.strip() for line in file.text.splitlines() if line.strip()]
    frame, source = read_jsonl(file) if file.path.endswith(".jsonl") else read_csv(file)
    return Queries.schema.conform(frame, source)["query"].to_list()


def _searched(file: File) -> list[str]:
    """What the requests of _msearch search for, a line of header and one of body each, as the queries."""
    lines = [(n, line) for n, line in enumerate(file.content.split(b"\n"), 1) if line.strip()]
    found = []
    for number, line in lines[1::2]:
        place = f"{file.name} line {number}"
        words = list(dict.fromkeys(_words(load_line(line, place))))
        if len(words) != 1:
            raise BadInput.at(
                place,
                expected="one text that is searched for",
                found=", ".join(f'"{word}"' for word in words[:3]) or "none",
                remedy=f"list the queries' ids in {file.stem}.queries.txt, one in each line",
            )
        found.append(words[0])
    return found


def _words(body: Any) -> Iterator[str]:
    """The texts in the query of a request: those of match and its kin, called query or standing at a field."""
    if isinstance(body, list):
        for one in body:
            yield from _words(one)
    if not isinstance(body, dict):
        return
    for name, value in body.items():
        if name in ("query", "query_text") and isinstance(value, str):
            yield value
        elif name in ("match", "match_phrase", "match_bool_prefix", "match_phrase_prefix") and isinstance(value, dict):
            for asked in value.values():
                yield from [asked] if isinstance(asked, str) else _words(asked)
        elif name not in ("highlight", "aggs", "aggregations", "suggest", "_source", "fields", "filter"):
            yield from _words(value)


def _may_be(file: File) -> bool:
    head = file.head
    return bool(SEVERAL.search(head)) or (bool(HITS.search(head)) and any(sign in head for sign in OF_ENGINE))


add_format(
    Format(
        "search-responses",
        read_from=(".json", ".jsonl", ".ndjson"),
        sniff=lambda file, schema: is_json(file) and _may_be(file),
        records={Runs: Narrow(read_run)},
        holds=lambda file: "runs",
        only="runs",
    ),
    __name__,
)
