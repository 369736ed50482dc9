"""LETOR's lines, as SVMlight and RankLib take them: `2 qid:10032 1:0.05 2:0.7 #docid = GX029-35-5894638`.

The grade is the label; features become columns `f1`, `f2`, ... Where no line names its document, the number of the
line is its id.
"""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import refuse_empty
from karat.formats.format_registry import Format, Narrow, add_format
from karat.formats.open_files import File
from karat.formats.trec import plain_number
from karat.records import Judgments, Scale, Source
from karat.records.table import count

LINE = re.compile(rb"^\s*[+-]?\d+(\.\d+)?\s+qid:\S+(\s|$)")
PARTS = r"^(?<label>\S+)\s+qid:(?<query>\S+)(?<features>(?:\s+\d+:\S+)*)\s*(?:#\s*(?<comment>.*))?$"
DOCID = r"(?i)doc_?(?:id|no)?\s*[=:]\s*(\S+)"


def read_letor(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments with a column for each feature."""
    refuse_empty(file)
    lines = pl.Series("text", file.text.splitlines(), dtype=pl.String).str.strip_chars().to_frame()
    lines = lines.with_row_index("line", offset=1).filter((pl.col("text") != "") & ~pl.col("text").str.starts_with("#"))
    parts = lines.with_columns(pl.col("text").str.extract_groups(PARTS).struct.unnest())
    source = Source(file.name, lines["line"])
    source.refuse(
        parts["query"].is_null(),
        expected="a label, qid:QUERY and features as 1:0.5",
        found=lambda row: f'"{lines["text"][row][:60]}"',
    )
    frame, by_word = _named(parts)
    if frame["doc"].null_count() and frame["doc"].count():
        source.refuse(frame["doc"].is_null(), expected="a document, as #docid = d1", found=lambda row: "none")
    nameless = frame["doc"].null_count() > 0
    frame = frame.with_columns(pl.col("doc").fill_null(pl.col("line").cast(pl.String)))
    features = _features(frame, source)
    table = pl.concat([frame.select("query", "doc", "label"), features], how="horizontal")
    judgments = Judgments.check(table, scale=scale, source=source, drop_bad_labels=drop_bad_labels, one_each=True)
    notes = [note for note in judgments.notes if "not understood" not in note]
    if features.width:
        notes.append(f"{file.name}: {count(features.width, 'feature')} as columns {', '.join(features.columns[:3])}...")
    if by_word:
        notes.append(f"{file.name}: the first word behind # counts as the document's id")
    if nameless:
        notes.append(f"{file.name}: no line names its document: the numbers of the lines are the ids")
    return replace(judgments, notes=tuple(notes))


def _named(parts: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The lines with their documents, and whether these are the first of several words.

    The examples of the Elasticsearch plugin, and Quepid, write the document and then the query: `# 7555 rambo`. Other
    words stand there again and again, so the first ones are ids only where no query has one twice.
    """
    comment = pl.col("comment").str.strip_chars()
    told, first = comment.str.extract(DOCID), comment.str.extract(r"^(\S+?)(?:;?\s|$)")
    frame = parts.select("query", "label", "features", "line", pl.coalesce(told, first).alias("doc"), told=told)
    alone = parts.select(told.is_not_null() | comment.str.contains(r"^\S*$")).to_series().fill_null(True)
    if alone.all():
        return frame.drop("told"), False
    once = not frame.select("query", "doc").is_duplicated().any()
    return frame.with_columns(doc="doc" if once else "told").drop("told"), once


def _features(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """A column for each feature; what a line does not name is 0, as SVMlight has it."""
    pairs = frame.select(pl.int_range(pl.len()).alias("row"), pl.col("features").str.extract_all(r"\d+:\S+"))
    pairs = pairs.explode("features").drop_nulls("features")
    if not pairs.height:
        return pl.DataFrame()
    pairs = pairs.with_columns(
        pl.col("features").str.extract(r"^(\d+):").cast(pl.Int64).alias("number"),
        pl.col("features").str.extract(r":(.*)$").cast(pl.Float64, strict=False).alias("value"),
    )
    wrong = pairs.filter(pl.col("value").is_null())
    if wrong.height:
        row, text = wrong.select("row", "features").row(0)
        raise BadInput.at(source.at(row), expected="a number as feature", found=f'"{text}"')
    twice = pairs.select("row", "number").is_duplicated()
    if twice.any():
        row, text = pairs.filter(twice).select("row", "features").row(0)
        raise BadInput.at(source.at(row), expected="each feature once", found=f'"{text}" again')
    if pairs["number"].n_unique() > 2_000:
        raise BadInput.at(source.name, expected="at most 2,000 features", found=f"{pairs['number'].n_unique():,}")
    numbers = pairs["number"].unique().sort().to_list()
    wide = pairs.pivot(on="number", index="row", values="value").rename({str(n): f"f{n}" for n in numbers})
    rows = pl.DataFrame({"row": range(frame.height)}, schema={"row": pl.Int64})
    return rows.join(wide, on="row", how="left", maintain_order="left").select(
        pl.col(f"f{n}").fill_null(0.0) for n in numbers
    )


def write_letor(judgments: Judgments, name: str) -> bytes:
    """Judgments with their columns of numbers as features, in the order in which they stand."""
    frame = judgments.frame.drop_nulls("label")
    known = {*judgments.schema.names}
    features = [n for n in frame.columns if n not in known and frame[n].dtype.is_numeric()]
    if not features:
        raise BadInput.at(
            "writing letor", expected="columns of numbers, as features", found=", ".join(frame.columns) or "none"
        )
    for id_ in ("query", "doc"):
        spaced = frame[id_].str.contains(r"\s|^$|#")
        if spaced.any():
            found = f'"{frame[id_][int(spaced.arg_max() or 0)]}"'
            raise BadInput.at("writing letor", expected=f"ids without white space as {id_}", found=found)
    numbers = [pl.format(f"{place}:{{}}", pl.col(name).fill_null(0)) for place, name in enumerate(features, 1)]
    line = pl.format(
        "{} qid:{} {} #docid = {}", plain_number("label"), "query", pl.concat_str(numbers, separator=" "), "doc"
    )
    lines = frame.sort("query", maintain_order=True).select(line.alias("line"))["line"].to_list()
    return ("\n".join(lines) + "\n").encode() if lines else b""


add_format(
    Format(
        "letor",
        sniff=lambda file, schema: LINE.match(file.head) is not None,
        records={
            Judgments: Narrow(read_letor, write_letor, frozenset({"query", "doc", "label"})),
        },
        holds=lambda file: "judgments",
        exact=True,
        only="judgments",
    ),
    __name__,
)
