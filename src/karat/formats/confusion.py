"""A confusion matrix from a file: as `karat judges confusion` writes it, or a square of true grades and labels."""

from __future__ import annotations

from math import inf

import polars as pl

from karat.errors import BadInput
from karat.formats.format import FORMATS
from karat.formats.json_text import load_json
from karat.formats.open_files import File
from karat.formats.unbroken import unbroken
from karat.records import PathLike
from karat.records.schema import Column, Schema

SHARES = Schema(
    "confusion matrix",
    (
        Column("grade", pl.Float64, "the true grade", True, ("truth", "gold")),
        Column("label", pl.Float64, "the label given", True),
        Column("share", pl.Float64, "the share of the grade's documents with this label", True, ("probability",)),
        Column("n", pl.Float64, "the gold labels of the grade"),
        Column("effective", pl.Float64, "as how many independent gold labels they count"),
    ),
)
#: More gold labels than people have given.
MOST_LABELS = 1e12
SQUARE = "a square: true grades down the first column, labels across the first line; shares, or counts of gold labels"


def read_confusion(path: PathLike) -> pl.DataFrame:
    """How often each true grade gets each label: a table of grade, label, share and, where known, n.

    From what `karat judges confusion` writes with --out or --json, or from CSV as a square with true grades down and
    labels across, of shares or of counts; counts tell how sure the shares are, too.
    """
    file = File(str(path))
    frame = unbroken(_matrix)(file)
    for name in {"n", "effective"} & {*frame.columns}:
        most = frame[name].max()
        if isinstance(most, float) and MOST_LABELS < most < inf:
            raise BadInput.at(file.name, expected=f"a number of gold labels up to {MOST_LABELS:g}", found=f"{most:g}")
    return frame


def _matrix(file: File) -> pl.DataFrame:
    if file.head.lstrip()[:1] == b"{":
        return _of_document(file)
    frame, source = FORMATS["csv"].rows(file, "a confusion matrix")
    if "share" in frame.rename(SHARES.rename(frame.columns)).columns:
        return SHARES.conform(frame, source)
    return _of_square(file, frame)


def _of_document(file: File) -> pl.DataFrame:
    try:
        rows = load_json(file)["rows"]
        return pl.DataFrame(rows, infer_schema_length=None).select(
            pl.col(name).cast(pl.Float64) for name in ("grade", "label", "share", "effective")
        )
    except (KeyError, TypeError, pl.exceptions.PolarsError):
        raise BadInput.at(
            file.name,
            expected="the JSON of a confusion table (karat judges confusion, confusion(...).to_dict())",
            found="another document",
        ) from None


def _of_square(file: File, frame: pl.DataFrame) -> pl.DataFrame:
    first, *labels = frame.columns
    try:
        long = frame.unpivot(index=first, variable_name="label", value_name="share").select(
            grade=pl.col(first).cast(pl.Float64),
            label=pl.col("label").cast(pl.Float64),
            share=pl.col("share").cast(pl.Float64),
        )
    except pl.exceptions.PolarsError:
        raise BadInput.at(file.name, expected=SQUARE, found=f"columns {', '.join(frame.columns)}") from None
    if not labels or long.height == 0 or long["share"].null_count() or (long["share"] < 0).any():
        raise BadInput.at(file.name, expected=SQUARE, found="a cell without a number from 0, or no cells")
    totals = long.group_by("grade").agg(n=pl.col("share").sum())
    if (totals["n"] <= 1.5).all():
        return long
    if (long["share"] != long["share"].round()).any() or (totals["n"] == 0).any():
        raise BadInput.at(file.name, expected=SQUARE, found="rows that add up to neither 1 nor a count of labels")
    return long.join(totals, on="grade").with_columns(pl.col("share") / pl.col("n"))
