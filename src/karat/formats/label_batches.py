"""Labels that are larger than memory: read in parts, and dealt by query into files that fit into it.

TREC's lines, CSV, TSV and JSON lines, packed or not, and Parquet come so; labels in other formats are read at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from karat.formats.column_mapping import said_of
from karat.formats.format_registry import Format, Rows, format_of
from karat.formats.open_files import File
from karat.formats.parquet import count_rows, read_slice
from karat.formats.partitions import LINES, Piles, bytes_of, counted_from, whole_lines
from karat.formats.run_batches import ROWS, one_ahead
from karat.labels.label_table import tally, together
from karat.labels.selection import ALTERED
from karat.records import Judgments, Scale, Source

#: Labels in files of so many bytes are not read at once: some five million lines of qrels, a gigabyte of memory.
LARGE = 1 << 27
#: How many bytes each of the files should have into which they are dealt.
BUCKET = 1 << 24
#: A row of Parquet as text has about so many bytes.
A_ROW = 25
#: What says of a label whether it counts.
KEPT = ({*Judgments.schema.names} - {"comment"}) | {ALTERED, "source"}


@dataclass(frozen=True)
class DealtLabels:
    """Labels in buckets of queries; whether the format has one for a document, and what was counted of all of them."""

    file: File
    piles: Piles
    columns: list[str]
    counted: dict[str, Any]
    one_each: bool

    def taken(self, bucket: int) -> Rows:
        """The labels of one bucket, and the line of each."""
        frame, lines = self.piles.taken(bucket)
        return frame.select(self.columns), Source(self.file.name, lines=lines)


def size_of_labels(path: str) -> int:
    """About how many bytes labels have that can be read in parts; 0 for others."""
    file = File(path)
    if not Path(path).is_file():
        return 0
    format = format_of(file, Judgments.schema)
    if format.name == "parquet" and file.on_disk:
        return A_ROW * count_rows(file)
    # What Excel writes above a table, or blank lines; a list is one text.
    whole = file.above or file.blank or file.head.lstrip().startswith(b"[") or said_of(None).said
    return bytes_of(file) if format.name in ("trec", *LINES) and not whole else 0


def deal_labels(path: str, folder: Path, buckets: int, scale: Scale | None, apart: Collection[str]) -> DealtLabels:
    """Read labels part by part, and deal them into so many files of this folder; what is told `apart` all counts."""
    file = File(path)
    format = format_of(file, Judgments.schema)
    tallies, subtopics, columns = [], set[str | None](), list[str]()
    with Piles(folder, buckets) as piles:
        for frame, source in one_ahead(_parts(file, format)):
            if not columns:
                Judgments.check(frame, scale=scale, source=source)  # which says what is wrong with such a table
            named = frame.rename(Judgments.schema.rename(frame.columns, source.columns))
            known = named.select(name for name in named.columns if name in KEPT).cast(pl.String)
            columns = columns or known.columns
            tallies.append(tally(known, apart))
            if format.name == "trec":
                subtopics |= {*known["subtopic"].unique()}
            piles.add(known.select(columns), source)
    counted = together(tallies)
    if len(subtopics) == 1:  # TREC's second column counts where it differs
        columns = [name for name in columns if name != "subtopic"]
        counted.pop("subtopic")
    return DealtLabels(file, piles, columns, counted, format.name == "trec")


def _parts(file: File, format: Format) -> Iterator[Rows]:
    from karat.formats.trec import rows_of_qrels  # formats are asked in the order in which they are loaded

    if format.name == "parquet":
        for start in range(0, max(count_rows(file), 1), ROWS):
            some = read_slice(file, start, ROWS)
            yield said_of(None).named_in((some, Source(file.name, first_line=start + 1)), Judgments.schema)
        return
    for part in whole_lines(file, table=format.name in ("csv", "tsv")):
        if format.name == "trec":
            yield rows_of_qrels(part)
            continue
        with counted_from(file.name, part.lines_above):
            frame, source = format.rows(part, Judgments.schema.name)
        below = None if (lines := source.places(frame.height)) is None else lines + part.lines_above
        yield said_of(None).named_in((frame, replace(source, lines=below, first_line=None)), Judgments.schema)
