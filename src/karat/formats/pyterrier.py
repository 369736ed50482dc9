"""PyTerrier's frames as CSV: topics `qid,query`, results `qid,docno,rank,score`, labels `qid,docno,label`.

They are read as any table is, frames in Python too; this writes them. Ranks start at 0, as PyTerrier's do.
"""

from __future__ import annotations

import polars as pl

from karat.formats.csv import read_csv, whole_labels
from karat.formats.format_registry import Format, Narrow, add_format
from karat.records import Documents, Judgments, Queries, Runs
from karat.records.runs import ranked

IDS = {"query": "qid", "doc": "docno"}


def write_labels(judgments: Judgments, name: str) -> bytes:
    """Labels as `qid,docno,label`."""
    return _csv(whole_labels(judgments.frame.drop_nulls("label").select("query", "doc", "label")))


def write_results(runs: Runs, name: str) -> bytes:
    """Results as `qid,docno,rank,score`; of several systems, with the name of each."""
    order = ranked(runs).with_columns(pl.col("rank") - 1)
    scores = runs.frame.select("system", "query", "doc", "score")
    frame = order.join(scores, on=["system", "query", "doc"], how="left", maintain_order="left")
    columns = ["query", "doc", "rank", "score"]
    return _csv(frame.select(columns if len(runs.systems) == 1 else ["system", *columns]))


def write_topics(queries: Queries, name: str) -> bytes:
    """Topics as `qid,query`."""
    text = pl.col("text") if queries.has("text") else pl.lit(None, pl.String)
    return queries.frame.select(pl.col("query").alias("qid"), text.alias("query")).write_csv().encode()


def write_documents(documents: Documents, name: str) -> bytes:
    """Documents as `docno,text` and what else is known."""
    return _csv(documents.frame)


def _csv(frame: pl.DataFrame) -> bytes:
    return frame.rename(IDS, strict=False).write_csv().encode()


add_format(
    Format(
        "pyterrier",
        read_csv,
        records={
            Judgments: Narrow(write=write_labels, columns=frozenset({"query", "doc", "label"})),
            Runs: Narrow(write=write_results, columns=frozenset({"system", "query", "doc", "rank", "score"})),
            Queries: Narrow(write=write_topics, columns=frozenset({"query", "text"})),
            Documents: Narrow(write=write_documents, columns=frozenset({"doc", "title", "snippet", "url", "text"})),
        },
    ),
    __name__,
)
