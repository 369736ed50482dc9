"""TREC RAG's answers as JSON lines: sentences, each with the passages that it cites.

An answer is a list here and its documents are its sentences, named RUN/QUERY/NUMBER, those without a citation too: as
CitationRecall and CitationPrecision take them, with labels of how far the cited passages support each sentence.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.json_files import is_json, load_objects, objects, shown
from karat.formats.open_files import File
from karat.records import Queries, Runs, Source

EXPECTED = "lines with run_id, topic_id, references and an answer of text and citations"


def _sentences(file: File) -> pl.DataFrame:
    """A row for each sentence of each answer."""
    rows: list[dict[str, Any]] = []
    for place, record in enumerate(load_objects(file, EXPECTED), 1):
        at = f"{file.name} record {place}"
        about = record["metadata"] if isinstance(record.get("metadata"), dict) else record  # 2025 has them apart
        run, query = (_first(about, names) for names in (("run_id",), ("topic_id", "narrative_id")))
        answer = record.get("answer")
        if run is None or query is None or not isinstance(answer, list):
            raise BadInput.at(at, expected=EXPECTED, found=shown(record))
        for number, sentence in enumerate(objects(answer, file, EXPECTED), 1):
            if not isinstance(sentence.get("text"), str) or not isinstance(sentence.get("citations", []), list):
                raise BadInput.at(at, expected="sentences with text and citations", found=shown(sentence))
            rows.append(
                {
                    "system": run,
                    "query": query,
                    "doc": f"{run}/{query}/{number}",
                    "rank": number,
                    "title": _cited(sentence.get("citations", []), record.get("references"), at),
                    "text": sentence["text"],
                    "topic": _first(about, ("topic", "narrative")) or "",
                }
            )
    if not rows:
        raise BadInput.at(file.name, expected=EXPECTED, found="no sentence")
    return pl.DataFrame(rows)


def _first(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these that is there and not empty, as text."""
    return next((str(record[name]) for name in names if record.get(name) not in (None, "")), None)


def _cited(citations: list[Any], references: Any, at: str) -> str:
    """The passages that a sentence cites, by name, where citations are places in the list of references."""
    known = references if isinstance(references, list) else []
    named = []
    for cited in citations:
        by_place = isinstance(cited, int) and not isinstance(cited, bool)
        if by_place and not 0 <= cited < len(known):
            raise BadInput.at(at, expected=f"a citation of the {len(known)} references, from 0", found=shown(cited))
        named.append(str(known[cited] if by_place else cited))
    return "cites " + ", ".join(named) if named else "cites nothing"


def read_answers(file: File, ranks: bool = True) -> Runs:
    """Answers as lists of their sentences."""
    return Runs.check(_sentences(file).select("system", "query", "doc", "rank"), source=Source(file.name))


def read_queries(file: File) -> Queries:
    """The queries that were answered, with their texts."""
    frame = _sentences(file).select("query", text="topic").unique("query", keep="first", maintain_order=True)
    return Queries.check(frame, source=Source(file.name))


def read_documents(file: File) -> Rows:
    """The sentences, with what they cite as title."""
    return _sentences(file).select("doc", "title", "text"), Source(file.name)


add_format(
    Format(
        "rag-answers",
        read_documents,
        read_from=(".jsonl", ".ndjson", ".json"),
        sniff=lambda file, schema: is_json(file) and b'"answer"' in file.head and b'"citations"' in file.head,
        records={Runs: Narrow(read_answers), Queries: Narrow(read_queries)},
        holds=lambda file: "runs",
        exact=True,
    ),
    __name__,
)
