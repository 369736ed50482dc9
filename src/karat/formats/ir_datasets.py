"""Datasets of the package ir_datasets by id, as `ir_datasets:msmarco-passage/dev`: labels, queries and documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from karat.errors import BadInput, MissingExtra
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.open_files import NO_FILES, File
from karat.records import Judgments, Queries, Runs, Scale, Source

(PREFIX,) = NO_FILES
#: The fields of queries and documents in which datasets keep a text, the better one first.
TEXTS = ("text", "title", "query", "default_text")


def read_qrels(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """The labels of a dataset; the iteration is the subtopic where it tells labels apart."""
    rows = _all(file, "qrels")
    found = [(r.query_id, getattr(r, "subtopic_id", getattr(r, "iteration", "0")), r.doc_id, r.relevance) for r in rows]
    names = {"query": pl.String, "subtopic": pl.String, "doc": pl.String, "label": pl.Float64}
    frame = pl.DataFrame(found, schema=names, orient="row", strict=False)
    if frame["subtopic"].n_unique() <= 1:
        frame = frame.drop("subtopic")
    source = Source(file.path)
    return Judgments.check(frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, one_each=True)


def read_queries(file: File) -> Queries:
    """The queries of a dataset with their texts."""
    rows = [(str(query.query_id), _text(query), getattr(query, "description", None)) for query in _all(file, "queries")]
    names = dict.fromkeys(("query", "text", "description"), pl.String)
    frame = pl.DataFrame(rows, schema=names, orient="row", strict=False)
    return Queries.check(frame if frame["description"].count() else frame.drop("description"), source=Source(file.path))


def read_run(file: File, ranks: bool = True) -> Runs:
    """The documents that a dataset gives to be ranked, as a run."""
    rows = [(str(one.query_id), str(one.doc_id), float(one.score)) for one in _all(file, "scoreddocs")]
    frame = pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "score": pl.Float64}, orient="row")
    return Runs.check(frame, system=file.path.removeprefix(PREFIX), source=Source(file.path))


def read_documents(file: File) -> Rows:
    """The documents of a dataset, all of them."""
    rows = [
        (str(doc.doc_id), getattr(doc, "title", None), getattr(doc, "url", None), _text(doc))
        for doc in _all(file, "docs")
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("doc", "title", "url", "text"), pl.String), orient="row"), Source(
        file.path
    )


def _text(found: Any) -> str | None:
    text = next((getattr(found, name) for name in TEXTS if hasattr(found, name)), None)
    return str(text() if callable(text) else text) if text is not None else None


def _all(file: File, what: str) -> Iterable[Any]:
    """All qrels, queries, docs or scoreddocs of the dataset that the path names, fetched where they are not here."""
    name = file.path.removeprefix(PREFIX)
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtra(
            f"{file.path} needs the package ir_datasets; install it with: pip install ir_datasets"
        ) from None
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        remedy = "https://ir-datasets.com lists them"
        raise BadInput.at(file.path, expected="the id of a dataset", found=f'"{name}"', remedy=remedy) from None
    if not getattr(dataset, f"has_{what}")():
        has = [one for one in ("docs", "queries", "qrels", "scoreddocs") if getattr(dataset, f"has_{one}")()]
        raise BadInput.at(file.path, expected=what, found=f"a dataset with {', '.join(has) or 'nothing'}")
    try:
        return list(getattr(dataset, f"{what}_iter")())
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput(f"{file.path}: cannot be fetched or read ({error})") from None


add_format(
    Format(
        "ir_datasets",
        read_documents,
        read_from=(),
        has_lines=False,
        records={
            Judgments: Narrow(read_qrels),
            Queries: Narrow(read_queries),
            Runs: Narrow(read_run),
        },
        holds=lambda file: "judgments",
        prefix=PREFIX,
    ),
    __name__,
)
