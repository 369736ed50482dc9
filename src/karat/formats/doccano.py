"""doccano's export of text classification as JSON lines: `{"id": 1, "text": "...", "label": ["2"], ...}`.

The columns that were imported beside the text, such as the ids of query and document, stand in each line; `id` is
doccano's own. A text without a label is not annotated yet, and counted.
"""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Rows, add_format
from karat.formats.jsonl import is_json, read_jsonl
from karat.formats.open_files import File
from karat.records import Judgments
from karat.records.base import count

LABEL = re.compile(rb'"label"\s*:\s*\[')


def read_doccano(file: File) -> Rows:
    """The texts with a label, a row each."""
    frame, source = read_jsonl(file)
    if "label" not in frame.columns or frame["label"].dtype != pl.List:
        raise BadInput.at(file.name, expected="a list as label in each line", found=", ".join(frame.columns))
    if frame["label"].dtype.inner.is_nested():  # type: ignore[attr-defined]
        found = "places in texts or relations"
        raise BadInput.at(file.name, expected="labels of whole texts", found=found, remedy="export text classification")
    many = frame["label"].list.len().fill_null(0)
    source.refuse(many > 1, expected="one label", found=lambda row: ", ".join(map(str, frame["label"][row])), remedy="")
    empty = int((many == 0).sum())
    notes = (f"{file.name}: {count(empty, 'text')} without a label",) if empty else ()
    frame, source = frame.filter(many == 1), source.keep(many == 1)
    frame = frame.with_columns(pl.col("label").list.first()).rename({"id": "task"}, strict=False)
    frame = frame.select(name for name in frame.columns if not frame[name].dtype.is_nested())
    frame = frame if "text" in frame.columns else frame.rename({"data": "text"}, strict=False)
    return frame, replace(source, notes=notes)


def is_doccano(file: File) -> bool:
    """Whether the first record is a text with a list of labels."""
    first = file.head.partition(b"\n")[0]
    # Some versions call the text data: https://github.com/doccano/doccano/issues/1522.
    return is_json(file) and (b'"text"' in first or b'"data"' in first) and LABEL.search(first) is not None


add_format(
    Format(
        "doccano",
        read_doccano,
        read_from=(".jsonl", ".ndjson", ".json"),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and is_doccano(file),
        holds=lambda file: "judgments",
        exact=True,
    ),
    __name__,
)
