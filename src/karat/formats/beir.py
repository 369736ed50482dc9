"""BEIR's files, which MTEB has, too: `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`.

They are read as any table is (`_id`, `query-id`, `corpus-id`, and a label called `score`); this writes them.
"""

from __future__ import annotations

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import read_csv
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.json_files import is_json, read_jsonl, write_jsonl
from karat.formats.open_files import File
from karat.records import Documents, Judgments, Queries


def read_beir(file: File) -> Rows:
    """The rows of a file of JSON lines, or of a table of labels."""
    return read_jsonl(file) if is_json(file) else read_csv(file)


def write_qrels(judgments: Judgments, name: str) -> bytes:
    """Labels as `query-id corpus-id score`, divided by tabs; BEIR has whole numbers only."""
    frame = judgments.frame.drop_nulls("label")
    broken = frame["label"] != frame["label"].round(0)
    if broken.any():
        found = f"{frame['label'][int(broken.arg_max() or 0)]:g}"
        raise BadInput.at("writing beir", expected="whole numbers as labels", found=found)
    score = pl.col("label").cast(pl.Int64).alias("score")
    named = frame.select(pl.col("query").alias("query-id"), pl.col("doc").alias("corpus-id"), score)
    return named.write_csv(separator="\t").encode()


def write_queries(queries: Queries, name: str) -> bytes:
    """Queries as `_id, text`."""
    text = pl.col("text") if queries.has("text") else pl.lit("").alias("text")
    return write_jsonl(queries.frame.select(pl.col("query").alias("_id"), text.fill_null("")))


def write_corpus(documents: Documents, name: str) -> bytes:
    """Documents as `_id, title, text`."""
    parts = [
        (pl.col(part) if documents.has(part) else pl.lit("")).fill_null("").alias(part) for part in ("title", "text")
    ]
    return write_jsonl(documents.frame.select(pl.col("doc").alias("_id"), *parts))


add_format(
    Format(
        "beir",
        read_beir,
        records={
            Judgments: Narrow(write=write_qrels, columns=frozenset({"query", "doc", "label"})),
            Queries: Narrow(write=write_queries, columns=frozenset({"query", "text"})),
            Documents: Narrow(write=write_corpus, columns=frozenset({"doc", "title", "text"})),
        },
    ),
    __name__,
)
