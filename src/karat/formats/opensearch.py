"""OpenSearch's Search Relevance Workbench: judgment lists, in and out, results of its experiments as runs.

The workbench knows queries by their text, so the text is the query's id here. What its interface answers
(`{"hits": {"hits": [...]}}`) is read as well as the bodies that it takes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.click_events import log_of_searches
from karat.formats.format_registry import Format, Narrow, Rows, add_format, one_kind
from karat.formats.json_files import is_json, load_json, load_objects, objects, read_jsonl, refuse_twice, shown
from karat.formats.open_files import File
from karat.formats.parquet import read_parquet
from karat.formats.read_errors import blame_json
from karat.records import ClickLog, Judgments, Queries, Runs, Scale, Source
from karat.records.table import count

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


#: What karat wants to know of a document of either index; other fields are left where they are.
_OBJECT = pl.Struct(dict.fromkeys(("object_id", "internal_id", "search_config"), pl.String))
_ATTRIBUTES = pl.Struct(
    {
        "object": _OBJECT,
        "position": pl.Struct({"ordinal": pl.String}),
        "dwell_time": pl.String,
        "session_id": pl.String,
        "search_config": pl.String,
    }
)
_TEXTS = (
    *("action_name", "query_id", "session_id", "client_id", "user_id", "timestamp", "user_query", "query_response_id"),
    *("message", "message_type", "application"),
)
_SOURCE = pl.Struct(
    dict.fromkeys(_TEXTS, pl.String) | {"event_attributes": _ATTRIBUTES, "query_response_hit_ids": pl.List(pl.String)}
)
#: Signs of such documents, each with what else must be there.
SIGNS = ((b'"action_name"', b'"query_id"'), (b'"query_response_hit_ids"', b'"query_id"'), (b'"user_query"', b'"ubi'))


def is_ubi(file: File) -> bool:
    """Whether a file begins as one of UBI does."""
    begins = is_json(file) or file.head.lstrip().startswith(b"[")
    return begins and any(all(part in file.head for part in sign) for sign in SIGNS)


def is_ubi_table(columns: Sequence[str]) -> bool:
    """Whether a table has UBI's columns, as a Parquet file of one of its indices."""
    return "query_id" in columns and ("event_attributes" in columns or "query_response_hit_ids" in columns)


def read_ubi(files: Sequence[File]) -> ClickLog:
    """The log in these files, taken together."""
    parts = [_documents(file) for file in files]
    table = pl.concat([part.with_columns(file=pl.lit(file.name)) for part, file in zip(parts, files, strict=True)])
    name = ", ".join(file.name for file in files)
    events = table.filter(pl.col("action_name").is_not_null())
    searches = table.filter(pl.col("action_name").is_null() & pl.col("query_id").is_not_null())
    if not events.height:
        raise BadInput.at(
            name, expected="events (ubi_events)", found="searches alone", remedy="name the file of events, too"
        )
    attributes = pl.col("event_attributes").struct
    thing = attributes.field("object").struct
    flat = events.select(
        query=pl.coalesce("user_query", "query_id"),
        doc=pl.coalesce(thing.field("object_id"), thing.field("internal_id")),
        action="action_name",
        rank=attributes.field("position").struct.field("ordinal"),
        session=pl.coalesce("session_id", attributes.field("session_id")),
        user=pl.coalesce("user_id", "client_id"),
        impression="query_id",
        time="timestamp",
        dwell=attributes.field("dwell_time"),
        team=pl.coalesce(thing.field("search_config"), attributes.field("search_config")),
    )
    lost = flat["impression"].null_count()
    flat = flat.drop_nulls("impression")
    flat = flat.drop(
        [column for column in flat.columns if flat[column].null_count() == flat.height and column != "doc"]
    )
    log = log_of_searches(flat, _returned(searches), Source(name))
    notes = [f"{lost:,} events of no search (without query_id) left aside"] if lost else []
    return ClickLog(log.frame, (*log.notes, *notes))


def _returned(searches: pl.DataFrame) -> pl.DataFrame:
    """What each search returned, a row for each result."""
    known = searches.select(
        impression="query_id",
        query=pl.coalesce(pl.when(pl.col("user_query").str.strip_chars() != "").then("user_query"), "query_id"),
        user=pl.coalesce("user_id", "client_id"),
        session="session_id",
        doc="query_response_hit_ids",
    ).unique("impression", maintain_order=True, keep="first")
    ranked = known.with_columns(rank=pl.int_ranges(1, pl.col("doc").list.len().fill_null(0) + 1))
    return ranked.filter(pl.col("rank").list.len() > 0).explode("doc", "rank").drop_nulls("doc")


def _documents(file: File) -> pl.DataFrame:
    """The documents of a file, with the fields that are wanted, whatever wraps them."""
    if file.head.startswith(b"PAR1"):
        frame = read_parquet(file)[0]
        try:
            return frame.select(
                _field(pl.col(f.name), frame.schema.get(f.name), f.dtype, f.name) for f in _SOURCE.fields
            )
        except _OtherwiseTyped:  # as where attributes are a text of JSON
            pass
        return _decoded(file, frame.select(pl.struct(pl.all()).struct.json_encode()).to_series())
    data = file.content.removeprefix(b"\xef\xbb\xbf")
    whole = _one_document(file, data)
    if whole is not None:
        return _decoded(file, pl.Series(whole, dtype=pl.String))
    try:
        lines = pl.Series(data.decode().split("\n"), dtype=pl.String).str.strip_chars()
    except UnicodeDecodeError:
        raise blame_json(file, data) from None
    found = _decoded(file, lines.filter(lines != ""))
    at = pl.col("event_attributes").struct
    names = ("action_name", "query_id", "user_query", "timestamp", "query_response_hit_ids")
    filled = found.select(
        *(pl.col(name).count() for name in names),
        at.field("object").struct.field("object_id").count(),
        at.field("position").struct.field("ordinal").count(),
    )
    refuse_twice(file, data, data.split(b"\n"), filled.row(0, named=True))
    return found


class _OtherwiseTyped(Exception):
    """A column of a table that is not typed as the documents of an index are."""


def _field(value: pl.Expr, found: object, wanted: object, name: str) -> pl.Expr:
    """A field of a table as it is wanted, taken as it is typed: by way of JSON it would take ten times the memory."""
    if found is None or found == pl.Null:
        return pl.lit(None, dtype=wanted).alias(name)  # type: ignore[arg-type]
    if isinstance(wanted, pl.Struct):
        if not isinstance(found, pl.Struct):
            raise _OtherwiseTyped
        there = {field.name: field.dtype for field in found.fields}
        inside = [_field(value.struct.field(f.name), there.get(f.name), f.dtype, f.name) for f in wanted.fields]
        return pl.struct(inside).alias(name)
    nested = isinstance(found, pl.Struct | pl.List | pl.Array)
    if nested != isinstance(wanted, pl.List) or (nested and not isinstance(found, pl.List)):
        raise _OtherwiseTyped
    return value.cast(wanted).alias(name)  # type: ignore[arg-type]


def _one_document(file: File, data: bytes) -> list[str] | None:
    """The documents in one JSON text over several lines or in one: an answer to a search, or a list."""
    first = data.lstrip()[:1]
    if first == b"{" and b'"hits"' not in data[:4096]:
        return None
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return None
    whole = load_json(file)
    if isinstance(whole, dict):
        hits = whole.get("hits")
        whole = hits.get("hits") if isinstance(hits, dict) else None
    return [json.dumps(one) for one in whole if isinstance(one, dict)] if isinstance(whole, list) else None


def _decoded(file: File, texts: pl.Series) -> pl.DataFrame:
    wrapped = pl.Struct({**{field.name: field.dtype for field in _SOURCE.fields}, "_source": _SOURCE})
    try:
        found = texts.str.json_decode(wrapped).struct.unnest()
    except pl.exceptions.PolarsError:
        raise blame_json(file, "\n".join(texts).encode()) from None
    inner = pl.col("_source").struct
    return found.select(
        pl.coalesce(inner.field(field.name), pl.col(field.name)).alias(field.name) for field in _SOURCE.fields
    )


def _rows(file: File) -> Rows:
    return read_ubi([file]).frame, Source(file.name)


add_format(
    Format(
        "ubi",
        _rows,
        read_from=(".json", ".jsonl", ".ndjson"),
        # The searches are queries, too, where queries are wanted.
        sniff=lambda file, schema: schema.name != Queries.schema.name and is_ubi(file),
        holds=lambda file: "clicks",
        exact=True,
    ),
    __name__,
)
