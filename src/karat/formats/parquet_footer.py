"""The footer of a Parquet file: its column chunks have to lie within the file.

Polars checks this in a thread of its own, which panics and prints a backtrace while the reader goes on. So the footer
is looked through before. It is a Thrift structure in the compact protocol:
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from karat.errors import BadInput

MAGIC = b"PAR1"
#: The footer's length and the magic bytes at the end.
END_BYTES = 8
#: Structures lie in each other five deep; damaged bytes may say anything.
MAX_DEPTH = 32

# The types of the compact protocol.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
# The fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData that are looked at.
FILE_ROWS, FILE_ROW_GROUPS = 3, 4
GROUP_COLUMNS = 1
CHUNK_PATH, CHUNK_META = 1, 3
COMPRESSED_SIZE, DATA_PAGE_OFFSET, DICTIONARY_PAGE_OFFSET = 7, 9, 11


@dataclass(frozen=True)
class Footer:
    """What a Parquet file says of itself."""

    rows: int
    columns: int


def read_footer(size: int, read: Callable[[int, int], bytes], name: str) -> Footer:
    """The footer of a file of so many bytes, of which `read` gives some from an offset on; `name` is for errors."""
    try:
        end = read(max(size - END_BYTES, 0), END_BYTES)
        start = size - END_BYTES - int.from_bytes(end[:4], "little")
        if read(0, len(MAGIC)) != MAGIC or end[4:] != MAGIC or start < len(MAGIC):
            raise _Damaged("one that does not begin and end with PAR1")
        footer = _Thrift(read(start, size - END_BYTES - start)).struct()
        rows, groups = footer.get(FILE_ROWS, 0), footer.get(FILE_ROW_GROUPS, [])
        chunks = [chunk for group in groups for chunk in group.get(GROUP_COLUMNS, [])]
        for chunk in chunks:
            _check_chunk(chunk, start)
        if not isinstance(rows, int) or rows < 0:
            raise _Damaged("a negative number of rows")
        return Footer(rows, len(chunks) // max(len(groups), 1))
    except (_Damaged, IndexError, AttributeError, TypeError) as wrong:
        found = str(wrong) if isinstance(wrong, _Damaged) else "a damaged footer"
        remedy = "is the file whole? Save or fetch it again"
        raise BadInput.at(name, expected="a Parquet file", found=found, remedy=remedy) from None


def _check_chunk(chunk: dict[int, Any], end: int) -> None:
    """Refuse a column chunk that does not lie between the first bytes and the footer, or is in another file."""
    meta = chunk.get(CHUNK_META, {})
    length, first = meta.get(COMPRESSED_SIZE, -1), meta.get(DATA_PAGE_OFFSET, -1)
    starts = [first, *([meta[DICTIONARY_PAGE_OFFSET]] if DICTIONARY_PAGE_OFFSET in meta else [])]
    if CHUNK_PATH in chunk:
        raise _Damaged("columns in another file")
    # Some writers say 0 where there is no dictionary.
    start = min(one for one in starts if one or one is first)
    if length < 0 or start < len(MAGIC) or max(starts) > end or start + length > end:
        raise _Damaged("columns beyond its end")


class _Damaged(Exception):
    """What is wrong with the footer."""


class _Thrift:
    """Reads structures of the compact protocol as dicts of field number to value."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > MAX_DEPTH:
            raise _Damaged("a damaged footer")
        found, field = dict[int, Any](), 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._whole()
            found[field] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (I16, I32, I64):
            return self._whole()
        if kind == BINARY:
            return self._skip(self._unsigned())
        if kind in (BYTE, DOUBLE):
            return self._skip(8 if kind == DOUBLE else 1)
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            return self._list(depth + 1)
        raise _Damaged("a damaged footer")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned()
        kind = head & 15
        if size > len(self.data) - self.at:
            raise _Damaged("a damaged footer")
        if kind in (TRUE, FALSE):
            self._skip(size)
            return []
        return [self._value(kind, depth) for _ in range(size)]

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 70:
                raise _Damaged("a damaged footer")

    def _whole(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _skip(self, size: int) -> None:
        if size > len(self.data) - self.at:
            raise _Damaged("a damaged footer")
        self.at += size
