"""Put queries to engines and take their lists: `fetch`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import polars as pl

from karat.advice import advise
from karat.engines.client import FIRST, HttpClient, Manners
from karat.engines.engine import Engine, read_engines
from karat.engines.fetched import Fetched, Outcomes, fetched
from karat.engines.hits import NoHits
from karat.engines.http_calls import Stopped, done, each
from karat.engines.response_cache import KeptAnswers
from karat.engines.sql import SqlClient
from karat.engines.templates import Values
from karat.errors import BadInput
from karat.records import PathLike as AnyPath
from karat.records import Queries
from karat.records.table import count

#: So many queries in a row without an answer, each tried as often as it may be: something is wrong with all.
MOST_IN_A_ROW = 16


def fetch(
    engine: str | PathLike[str] | Engine | Sequence[Engine],
    queries: Any,
    *,
    template: str | PathLike[str] | Mapping[str, Any] | None = None,
    sql: str | PathLike[str] | None = None,
    system: str = "",
    headers: Mapping[str, str] | None = None,
    request: Literal["GET", "POST"] | None = None,
    hits: str | None = None,
    columns: Mapping[str, str] | None = None,
    depth: int = 10,
    concurrency: int = 4,
    rate: float | None = None,
    attempts: int = 5,
    timeout: float = 30.0,
    ca: str | None = None,
    insecure: bool = False,
    answers: AnyPath | None = None,
) -> Fetched:
    """The rankings of live search engines for queries: runs in the engines' own order, and the documents in them.

        found = kt.fetch("http://localhost:9200/docs/_search", kt.read_queries("queries.csv"),
                         template={"size": "{{depth}}", "query": {"match": {"text": "{{query}}"}}}, depth=20)
        kt.compare(labels, found.runs, "nDCG@10")

    `engine` is an address, which the options down to `columns` describe as `kt.Engine` does; one or several
    `kt.Engine`; or a file that ends in .toml with several. Elasticsearch, OpenSearch, Solr, Vespa and Groonga are
    understood as they are; other services by `hits` and `columns`. `rate` is the most calls a second. With `answers`, a
    file, a call that ends half-way goes on from there the next time.

    A query that fails is in `failed` with the reason and has no rows; one that finds nothing is named in a note. Use
    it on engines of your own, or with their owners' leave: it asks as fast as `rate` and `concurrency` allow.
    """
    asked = Queries.of(queries)
    if depth < 1 or concurrency < 1 or attempts < 1 or not timeout > 0 or (rate is not None and not rate > 0):
        numbers = f"depth {depth}, concurrency {concurrency}, attempts {attempts}, timeout {timeout}, rate {rate}"
        raise BadInput.at("kt.fetch", expected="numbers above zero", found=numbers)
    if isinstance(engine, str | PathLike) and str(engine).endswith(".toml"):
        given = (template, sql, system or None, headers, request, hits, columns)
        if any(option is not None for option in given):
            raise BadInput.at(str(engine), expected="all about the engines in the file", found="some of it beside it")
        engines = read_engines(engine)
    elif isinstance(engine, str | PathLike):
        engines = [Engine(str(engine), system, template, sql, dict(headers or {}), request, hits, dict(columns or {}))]
    else:
        engines = [engine] if isinstance(engine, Engine) else list(engine)
    manners = Manners(concurrency, rate, attempts, timeout, ca, insecure)

    kept = KeptAnswers(":memory:" if answers is None else answers)
    try:
        return fetch_all(engines, asked, depth, manners, kept)
    finally:
        kept.close()


def fetch_all(
    engines: Sequence[Engine],
    queries: Queries,
    depth: int,
    manners: Manners,
    kept: KeptAnswers,
    told: Callable[[], None] = lambda: None,
) -> Fetched:
    """Ask each engine each query that has no answer yet, one engine after another; `told` is called after each."""
    names = [engine.system for engine in engines]
    again = next((name for name in names if names.count(name) > 1), None)
    if not engines or again is not None:
        found = "none" if again is None else f"two called {again}"
        raise BadInput.at(advise("--system", "system="), expected="engines, each of a name of its own", found=found)
    asked = values_of(queries, depth)
    for engine in engines:  # a place without a value is said before anything is sent
        client_of(engine, manners, kept, next(iter(asked.values())))
    made = [done(_fetch_one(engine, asked, depth, manners, kept, told)) for engine in engines]
    return fetched(made, list(asked), depth)


def client_of(engine: Engine, manners: Manners, kept: KeptAnswers, first: Values) -> HttpClient | SqlClient:
    """What asks an engine; what would fail for the first query and for all is refused now."""
    client = HttpClient(engine, manners, kept) if engine.sql is None else SqlClient(engine, manners, kept)
    client.shown(first)
    return client


def values_of(queries: Queries, depth: int) -> dict[str, Values]:
    """What stands in the places of a template, by the queries' ids.

    >>> values_of(Queries.of([{"query": "q1", "text": "horse hooves", "shop": "7"}]), 10)
    {'q1': {'query': 'horse hooves', 'depth': 10, 'from': 0, 'page': 1, 'shop': '7'}}

    Without a column of texts, ids with white space are the texts themselves.
    """
    frame = queries.frame
    if not frame.height:
        raise BadInput.at("the queries", expected="at least one", found="none")
    if "text" not in frame.columns and frame["query"].str.contains(r"\s").any():
        frame = frame.with_columns(text=pl.col("query"))
    texts = frame["text"] if "text" in frame.columns else queries.need("text", "asking an engine")
    empty = [query for query, text in zip(frame["query"], texts, strict=True) if not (text or "").strip()]
    if empty:
        more = f" and {count(len(empty) - 1, 'other')}" if len(empty) > 1 else ""
        raise BadInput.at("the queries", expected="a text for each", found=f"none for query {empty[0]}{more}")
    extra = [name for name in frame.columns if name not in ("query", "text", "depth")]
    return {
        row["query"]: {"query": row["text"], "depth": depth}
        | FIRST
        | {name: "" if row[name] is None else str(row[name]) for name in extra}
        for row in frame.iter_rows(named=True)
    }


async def _fetch_one(
    engine: Engine,
    asked: Mapping[str, Values],
    depth: int,
    manners: Manners,
    kept: KeptAnswers,
    told: Callable[[], None],
) -> Outcomes:
    """What became of every query at one engine."""
    outcomes, todo, in_a_row = Outcomes(engine.system), list[str](), 0
    async with client_of(engine, manners, kept, next(iter(asked.values()))) as client:
        for query, values in asked.items():
            try:
                kept_hits = client.find(values, depth)
            except NoHits:  # where other paths are named now, which the old answer does not have
                kept_hits = None
            if kept_hits is None:
                todo.append(query)
            else:
                outcomes.add(query, *kept_hits, earlier=True)
                told()

        async def work(query: str) -> None:
            nonlocal in_a_row
            try:
                hits, answer = await client.ask(asked[query], depth)
            except NoHits as error:
                outcomes.failed[query] = str(error)
                in_a_row += 1
                if in_a_row >= MOST_IN_A_ROW:
                    raise Stopped(f"not asked, as {MOST_IN_A_ROW} queries in a row had no answer") from None
            else:
                outcomes.add(query, hits, answer)
                in_a_row = 0
            told()

        try:
            if todo:  # one alone: if the address, the key or the template is wrong, it is the only one that is sent
                await work(todo[0])
            await each(todo[1:], work, manners.concurrency)
        except Stopped as stopped:
            for query in todo:
                if query not in outcomes.lists:
                    outcomes.failed.setdefault(query, str(stopped))
    return outcomes
