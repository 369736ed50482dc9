"""Labels of tools that know queries and documents by their texts alone, under the ids that gold labels have."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from karat.records import Documents, Judgments, Queries
from karat.records.base import count


def known_by_text(
    judgments: Judgments, gold: Judgments | None, queries: Queries | None, documents: Documents | None
) -> Judgments:
    """The labels with ids in place of texts, where `queries` and `documents` tell whose texts they are.

    >>> labels = Judgments.of([{"query": "flea life", "doc": "A flea lives long.", "label": 3}])
    >>> queries, documents = [{"query": "q1", "text": "Flea life"}], [{"doc": "d1", "text": "A flea lives long."}]
    >>> gold = Judgments.of({"q1": {"d1": 2}})
    >>> found = known_by_text(labels, gold, Queries.of(queries), Documents.of(documents))
    >>> found.frame.select("query", "doc").row(0), found.notes[0]
    (('q1', 'd1'), '1 label known by the text of query and document')

    Upper and lower case and white space do not tell texts apart. What is known by its id already stays as it is.
    """
    if gold is None or judgments.frame.join(gold.frame, on=["query", "doc"], how="semi").height:
        return judgments
    frame, renamed = judgments.frame, list[str]()
    for name, known, text in (("query", queries, "text"), ("doc", documents, "text")):
        if known is None or not known.has(text) or frame.join(gold.frame, on=name, how="semi").height:
            continue
        ids = known.frame.select(_plain(text).alias("_text"), pl.col(name).alias("_id")).drop_nulls()
        ids = ids.unique("_text", keep="none")  # a text that two have tells neither
        frame = frame.with_columns(_plain(name).alias("_text")).join(ids, on="_text", how="left", maintain_order="left")
        frame = frame.with_columns(pl.coalesce("_id", name).alias(name)).drop("_text", "_id")
        renamed.append("query" if name == "query" else "document")
    if not renamed:
        here, there = (one.frame.select("query", "doc").head(1).rows() for one in (judgments, gold))
        if not here or not there:
            return judgments
        note = (
            f"no label is of a document with a gold label: {_short(here[0])} is none of those such as "
            f"{_short(there[0])}; where a tool knows them by their texts, queries and documents tell whose they are"
        )
        return replace(judgments, notes=(*judgments.notes, note))
    note = f"{count(frame.height, 'label')} known by the text of {' and '.join(renamed)}"
    return replace(judgments, frame=frame, notes=(*judgments.notes, note))


def _short(named: tuple[str, str]) -> str:
    """A query and a document by their names, the beginning of them where they are texts."""
    return " and ".join(f'"{one[:30]}..."' if len(one) > 30 else f'"{one}"' for one in named)


def _plain(name: str) -> pl.Expr:
    return pl.col(name).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
