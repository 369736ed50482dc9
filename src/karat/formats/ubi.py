"""OpenSearch's User Behavior Insights (UBI): searches with what they returned, and the events that followed.

Both come as lines of JSON: documents of the indices `ubi_queries` and `ubi_events`, bulk lines that would index them,
or the hits of a search; or as one answer to a search, or as Parquet. Both may be in one file or in several.

Reference: the schemas of UBI 1.3 (https://github.com/o19s/ubi).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from karat.errors import BadInput
from karat.formats.click_events import log_of_searches
from karat.formats.format import Format, Rows, add_format
from karat.formats.json_text import load_json, refuse_twice
from karat.formats.jsonl import is_json  # registered before, so that this format is asked first
from karat.formats.open_files import File
from karat.formats.parquet import read_parquet
from karat.formats.parse_errors import blame_json
from karat.records import ClickLog, Queries, Source

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
