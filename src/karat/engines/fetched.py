"""What was fetched: the runs in the engines' own order, the documents, and what became of every query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar

import polars as pl

from karat.advice import advise
from karat.engines.hits import Hits
from karat.engines.response_cache import Answer
from karat.records import Documents, Runs
from karat.records.result import Caution, Result
from karat.records.table import count

#: So many queries are named; the others are counted.
MOST_NAMED = 5
_FAILED = {"system": pl.String, "query": pl.String, "why": pl.String}


@dataclass
class Outcomes:
    """What became of the queries that one system was asked."""

    system: str
    lists: dict[str, Hits] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    #: When the answers were given that were there already.
    earlier: list[float] = field(default_factory=list)

    def add(self, query: str, hits: Hits, answer: Answer, *, earlier: bool = False) -> None:
        """Put down an answer."""
        self.lists[query] = hits
        self.seconds[query] = answer.seconds
        if earlier:
            self.earlier.append(answer.at)


@dataclass(frozen=True, eq=False, repr=False)
class Fetched(Result):
    """Rankings from live engines: a row for each system; `runs`, `documents`, and the queries that `failed`, with why.

    A run's order is the engine's. Where an engine's scores would not give that order again (there are none, two are
    equal, or a later one is higher), the run has scores by rank: the last document of the longest list has 1.
    """

    runs: Runs = field(default_factory=lambda: Runs.of(_no_rows()), kw_only=True)
    documents: Documents = field(default_factory=lambda: Documents.of(pl.DataFrame({"doc": []})), kw_only=True)
    failed: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_FAILED), kw_only=True)

    beside: ClassVar[tuple[str, ...]] = ("failed",)


def fetched(outcomes: Sequence[Outcomes], queries: Sequence[str], depth: int) -> Fetched:
    """The result of asking engines, in the order of the queries."""
    runs, notes, rows, failed = [], list[str](), [], []
    for one in outcomes:
        run, said = _run(one, queries)
        runs.append(run)
        notes += said + _lists_in_words(one, queries, depth)
        answered = [query for query in queries if query in one.lists]
        failed += [(one.system, query, one.failed[query]) for query in queries if query in one.failed]
        rows.append(
            {
                "system": one.system,
                "queries": len(queries),
                "answered": len(answered),
                "failed": len(queries) - len(answered),
                "empty": sum(not one.lists[query].hits for query in answered),
                "documents": run.height,
                "median_seconds": pl.Series([one.seconds[query] for query in answered], dtype=pl.Float64).median(),
            }
        )
    documents = _documents(outcomes, queries)
    if documents.height and documents.width == 1:
        notes.append(
            "no title, snippet, url or text was found in the hits: name their paths by "
            + advise("--columns", "columns=")
        )
    frame = pl.DataFrame(rows, schema_overrides={"median_seconds": pl.Float64})
    return Fetched(
        frame,
        _finding(frame, depth),
        (*notes, *_failures(failed)),
        runs=Runs.of(pl.concat(runs)) if any(run.height for run in runs) else Runs.of(_no_rows()),
        documents=Documents.of(documents),
        failed=pl.DataFrame(failed, schema=_FAILED, orient="row"),
    )


def _run(one: Outcomes, queries: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """The run, with scores that give the engine's order again, and what is to be said of them."""
    lists = [(query, one.lists[query].hits) for query in queries if query in one.lists]
    frame = pl.DataFrame(
        {
            "system": [one.system for _, hits in lists for _ in hits],
            "query": [query for query, hits in lists for _ in hits],
            "doc": [hit.doc for _, hits in lists for hit in hits],
            "rank": [rank for _, hits in lists for rank in range(1, len(hits) + 1)],
            "score": [hit.score for _, hits in lists for hit in hits],
        },
        schema=_no_rows().schema,
    )
    # As trec_eval reads them, in single precision: two that are equal there are a tie.
    seen = pl.col("score").cast(pl.Float32)
    step = frame.select("query", drop=(seen.shift(1) - seen).over("query"), missing=pl.col("score").is_null())
    inner = step.filter(pl.col("drop").is_not_null())
    missing, ties, higher = int(step["missing"].sum()), int((inner["drop"] == 0).sum()), int((inner["drop"] < 0).sum())
    if not missing and not ties and not higher:
        return frame, []
    why = [f"{count(missing, 'hit')} without a score"] if missing else []
    why += [f"{count(ties, 'tie')} in score"] if ties else []
    why += [f"{count(higher, 'score')} higher than that before"] if higher else []
    most = pl.col("rank").max()
    note = f"{one.system}: the scores are by rank, so that the order is the engine's ({', '.join(why)})"
    return frame.with_columns(score=(most + 1 - pl.col("rank")).cast(pl.Float64)), [note]


def _lists_in_words(one: Outcomes, queries: Sequence[str], depth: int) -> list[str]:
    """How the lists were understood, and which are shorter than wanted."""
    found = [(query, one.lists[query]) for query in queries if query in one.lists]
    understood = next((hits.understood for _, hits in found if hits.hits), "")
    notes = [f"{one.system}: read as {understood}"] if understood else []
    if one.earlier:
        when = datetime.fromtimestamp(min(one.earlier), UTC).astimezone().strftime("%Y-%m-%d %H:%M")
        notes.append(f"{one.system}: {count(len(one.earlier), 'answer')} from an earlier try, the first of {when}")
    if again := sum(hits.again for _, hits in found):
        notes.append(f"{one.system}: {count(again, 'hit')} of a document that stood higher in the list left out")
    empty = [query for query, hits in found if not hits.hits]
    if empty:
        notes.append(
            Caution(f"{one.system}: nothing found for {_named(empty)}: no rows, which count as 0 in comparisons")
        )
    sizes = [len(hits.hits) for _, hits in found if hits.hits]
    short = sum(size < depth for size in sizes)
    if short:
        note = f"{one.system}: {count(short, 'list')} of {len(sizes):,} shorter than {depth}"
        same = max(sizes)
        if short == len(sizes) and sizes.count(same) > len(sizes) / 2:
            note += f", most of {same}: does the request ask for {{{{depth}}}} documents?"
        notes.append(note)
    return notes


def _failures(failed: Iterable[tuple[str, str, str]]) -> list[str]:
    """The queries that failed by why they did, which is said once."""
    by_reason = dict[tuple[str, str], list[str]]()
    for system, query, why in failed:
        by_reason.setdefault((system, why), []).append(query)
    return [
        Caution(f"{system}: no answer for {_named(queries)}: {why}") for (system, why), queries in by_reason.items()
    ]


def _named(queries: Sequence[str]) -> str:
    """Queries by name, the first of them.

    >>> _named(["q1", "q2"]), _named([f"q{n}" for n in range(7)])
    ('2 queries (q1, q2)', '7 queries (q0, q1, q2, q3, q4, ...)')
    """
    names = ", ".join(queries[:MOST_NAMED]) + (", ..." if len(queries) > MOST_NAMED else "")
    return f"{count(len(queries), 'query', 'queries')} ({names})"


def _documents(outcomes: Sequence[Outcomes], queries: Sequence[str]) -> pl.DataFrame:
    """Each document once, with all that any hit shows of it, the first of each."""
    rows = dict[str, dict[str, str]]()
    for one in outcomes:
        for query in queries:
            for hit in one.lists[query].hits if query in one.lists else ():
                known = rows.setdefault(hit.doc, {})
                for name, said in hit.shown.items():
                    known.setdefault(name, said)
    names = [name for name in ("title", "snippet", "url", "text") if any(name in row for row in rows.values())]
    columns: Mapping[str, list[str | None]] = {name: [row.get(name) for row in rows.values()] for name in names}
    return pl.DataFrame({"doc": list(rows), **columns}, schema=dict.fromkeys(("doc", *names), pl.String))


def _finding(frame: pl.DataFrame, depth: int) -> str:
    """What came of it, in a sentence."""
    asked, answered, documents = (int(frame[name].sum()) for name in ("queries", "answered", "documents"))
    who = frame["system"][0] if frame.height == 1 else f"{frame.height} systems ({', '.join(frame['system'])})"
    text = f"{who} answered {answered:,} of {count(asked, 'query', 'queries')} with {count(documents, 'document')}"
    return f"{text}, {depth} at most for each."


def _no_rows() -> pl.DataFrame:
    types = {"system": pl.String, "query": pl.String, "doc": pl.String, "rank": pl.Int64, "score": pl.Float64}
    return pl.DataFrame(schema=types)
