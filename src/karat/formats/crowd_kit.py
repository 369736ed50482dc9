"""crowd-kit's table of answers: `task,worker,label`.

A task is a query and a document, with a tab between them, as karat writes it. A task that is one word is a query with
one document, both called so: agreement and errors of workers need no more.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import names_of, read_csv, write_csv
from karat.formats.format import Format, Narrow, Rows, add_format
from karat.formats.open_files import File
from karat.records import Judgments

NAMES = {"task", "worker", "label"}
BETWEEN = "\t"


def read_answers(file: File) -> Rows:
    """The answers, with query and document from the task."""
    frame, source = read_csv(file)
    frame = frame.rename({name: name.strip().lower() for name in frame.columns})
    missing = sorted(NAMES - {*frame.columns})
    if missing:
        raise BadInput.at(file.name, expected="task, worker and label", found=", ".join(frame.columns))
    source.refuse(frame["worker"].fill_null("") == "", expected="a worker for every answer", found=lambda row: "none")
    parts = frame["task"].str.split(BETWEEN)
    both = bool((parts.list.len() == 2).all()) and frame.height > 0
    query, doc = (parts.list.first(), parts.list.last()) if both else (frame["task"], frame["task"])
    named = frame.drop("task").select(query.alias("query"), doc.alias("doc"), pl.all())
    notes = () if both else (f"{file.name}: tasks without a query: each counts as a query with one document",)
    return named, replace(source, notes=notes)


def write_answers(judgments: Judgments, name: str) -> bytes:
    """Judgments as `task,worker,label`."""
    if not judgments.has("judge") or judgments.frame["judge"].null_count():
        raise BadInput.at("writing crowd-kit", expected="a judge for every label", found="labels without one")
    task = pl.concat_str("query", "doc", separator=BETWEEN).alias("task")
    frame = judgments.frame.drop_nulls("label")
    return write_csv(frame.select(task, pl.col("judge").alias("worker"), "label"))


add_format(
    Format(
        "crowd-kit",
        read_answers,
        read_from=(".csv",),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and {*names_of(file)} == NAMES,
        records={
            Judgments: Narrow(write=write_answers, columns=frozenset({"query", "doc", "label", "judge"}), several=True)
        },
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)
