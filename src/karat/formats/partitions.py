"""Rows dealt by query into the files of a temporary folder, each of which fits into memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

from karat.errors import BadInput
from karat.formats.decompression import VARIABLE, most_bytes
from karat.formats.open_files import BINARY, NEWLINE, File
from karat.records import Source

#: How many files there are at most: they are all open at once.
MOST = 256
#: How many bytes a packed byte stands for, where only the packed ones can be counted.
UNPACKED = 8
ROW, PILE = "\0row", "\0pile"


class Piles:
    """Files for the rows of so many buckets of queries; a query's rows are all in one of them, in their order."""

    def __init__(self, folder: Path, number: int) -> None:
        folder.mkdir(exist_ok=True)
        self._paths = [folder / str(bucket) for bucket in range(number)]
        self._stack = ExitStack()
        self._files = [self._stack.enter_context(path.open("wb")) for path in self._paths]
        self._row = 0
        self._schema: dict[str, pl.DataType] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def add(self, frame: pl.DataFrame, lines: Source | None = None) -> None:
        """Deal these rows out; `lines` says where they stand in their file, else they are counted."""
        places = None if lines is None else lines.places(frame.height)
        row = pl.int_range(self._row + 1, self._row + 1 + frame.height, eager=True) if places is None else places
        self._row += frame.height
        frame = frame.with_columns(row.cast(pl.Int64).alias(ROW))
        self._schema = dict(frame.schema)
        pile = (pl.col("query").cast(pl.String).hash() % len(self._paths)).alias(PILE)
        for (bucket,), rows in frame.with_columns(pile).partition_by(PILE, as_dict=True).items():
            rows.drop(PILE).write_csv(self._files[int(bucket)], include_header=False)

    def taken(self, bucket: int) -> tuple[pl.DataFrame, pl.Series]:
        """The rows of a bucket, and where they stood; its file is gone then."""
        path = self._paths[bucket]
        empty = not path.stat().st_size
        frame = pl.DataFrame(schema=self._schema) if empty else pl.read_csv(path, has_header=False, schema=self._schema)
        path.unlink()
        return frame.drop(ROW, strict=False), frame[ROW] if ROW in frame.columns else pl.Series([], dtype=pl.Int64)


def buckets_for(file: File, each: int) -> int:
    """How many files take the rows of one, when each should have so many bytes."""
    return min(max(bytes_of(file) // each, 1), MOST)


def bytes_of(file: File) -> int:
    """About how many bytes a file has, unpacked; 0 where it is none on a disk."""
    path = Path(file.path)
    packed = not file.on_disk or file.head.startswith(BINARY)
    return path.stat().st_size * (UNPACKED if packed else 1) if path.is_file() else 0


#: As many bytes as are read at a time: few enough for little memory, enough that the work on a part counts for more
#: than beginning it.
BYTES = 1 << 24
#: Formats in which a line is a row, but for what stands in quotes.
LINES = ("csv", "tsv", "jsonl")
QUOTE = b'"'


@contextmanager
def counted_from(name: str, above: int) -> Iterator[None]:
    """Errors about a line or row of a part name the line or row of the file."""
    try:
        yield
    except BadInput as error:
        place = re.compile(rf"({re.escape(name)} (?:line|row)) (\d+)")
        raise BadInput(place.sub(lambda found: f"{found[1]} {int(found[2]) + above}", str(error))) from None


def whole_lines(file: File, *, table: bool) -> Iterator[File]:
    """The lines of a file in parts; those of a table below its line of names, and no part ends within quotes."""
    rest, above, names = b"", 0, b""
    for part in file.parts(BYTES):
        lines = rest + part
        if len(lines) > most_bytes():
            raise BadInput.at(
                file.name,
                expected=f"at most {most_bytes():,} bytes between quotes",
                found="more",
                remedy=f"is there a quote that nobody closed? Set {VARIABLE} to allow more",
            )
        cut = _last_line(lines) if table else lines.rfind(NEWLINE) + 1
        if cut:
            yield File(file.path, names + lines[:cut], above)
            above += lines.count(NEWLINE, 0, cut)
            if table and not names:
                # The line of names stands above every part, and is counted in each.
                names, above = lines[: lines.index(NEWLINE) + 1], above - 1
        rest = lines[cut:]
    if rest or not above:
        yield File(file.path, names + rest, above)


def _last_line(lines: bytes) -> int:
    """Where the last line begins that does not stand between quotes; 0 where there is none."""
    start = lines.rfind(NEWLINE) + 1
    quotes = lines.count(QUOTE, 0, start)
    while start and quotes % 2:
        above = lines.rfind(NEWLINE, 0, start - 1) + 1
        quotes -= lines.count(QUOTE, above, start)
        start = above
    return start
