"""Opening files: plain, gzip, zstd or lz4, by name or `-` for standard input, told apart by their first bytes."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path

from karat.errors import BadInput
from karat.formats.atomic_write import put_in_place
from karat.formats.decompression import PACKED, head_of, read_stream, unpacked, unpacked_parts

#: Endings of packed files, before which the ending stands that tells the format.
ENDINGS = (".gz", ".zst", ".lz4")
NEWLINE = b"\n"
BLANK = re.compile(rb"(?:[ \t]*\r?\n)*")
#: What Excel writes, or wants, above a table: `sep=;` says what divides its cells.
SEPARATOR = b"sep="
BOM = b"\xef\xbb\xbf"
#: As many bytes as are looked at to tell formats apart, and as many packed ones as are sure to hold some: zstd unpacks
#: whole blocks only, of up to 128 kB.
HEAD, PACKED_HEAD = 65536, 3 << 16
#: What files begin with that karat does not read, and what to do about it.
STRANGE = {
    b"\xfd7zXZ": "a file packed with xz; unpack it first, for example with xz -dc",
    b"BZh": "a file packed with bzip2; unpack it first, for example with bzip2 -dc",
    b"PK\x03\x04": "a zip archive or spreadsheet; save it as CSV",
    b"ARROW1": "an Arrow or Feather file; save it as Parquet",
    b"Obj\x01": "an Avro file; save it as Parquet",
    b"SQLite format 3\0": "an SQLite database; export its table as CSV",
    b"\xff\xfe": "text in UTF-16; convert it with iconv -f utf-16 -t utf-8",
    b"\xfe\xff": "text in UTF-16; convert it with iconv -f utf-16 -t utf-8",
}
#: What begins so is no file, but the name of something that a format finds by it.
NO_FILES = ("ir_datasets:",)
#: Files of bytes, in which a carriage return is no end of a line.
BINARY = (b"PAR1",)


@cache
def _stream(path: str) -> bytes:
    """What comes through standard input or a pipe: it can be read once only, so it is kept."""
    if path == "-":
        return read_stream(sys.stdin.buffer, "standard input")
    with Path(path).open("rb") as stream:
        return read_stream(stream, path)


@dataclass(frozen=True)
class File:
    """A file to read. Plain files stay on disk until their bytes are wanted; pipes are read once.

    >>> File("runs/bm25.run.gz").stem, File("-").name
    ('bm25', 'standard input')
    """

    path: str
    #: Some whole lines of the file, where it is read in parts, and how many lines stand above them.
    lines: bytes | None = None
    lines_above: int = 0

    @property
    def name(self) -> str:
        """The name that errors use: as the user wrote it."""
        return "standard input" if self.path == "-" else self.path

    @property
    def stem(self) -> str:
        """The name without folders and endings."""
        name = Path(self.path).name
        return "standard input" if self.path == "-" else name.split(".")[0] or name

    @property
    def ending(self) -> str:
        """The ending that tells the format, in lower case: `.csv` for `labels.csv.gz`."""
        suffixes = [s.lower() for s in Path(self.path).suffixes]
        return next((s for s in reversed(suffixes) if s not in ENDINGS), "")

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked and without a byte order mark, to tell formats apart."""
        raw = self._raw_head
        return _below_separator((head_of(raw, HEAD) if raw.startswith(PACKED) else raw[:HEAD]).removeprefix(BOM))

    @property
    def blank(self) -> bytes:
        """The blank lines above everything else, which no table begins with."""
        return BLANK.match(self.head)[0]  # type: ignore[index]  # nothing matches, too

    @property
    def first_line(self) -> bytes:
        """The first line that is not blank."""
        return self.head[len(self.blank) :].partition(NEWLINE)[0]

    @cached_property
    def above(self) -> int:
        """How many lines stand above the table: one where Excel's `sep=;` does."""
        raw = self._raw_head
        raw = (head_of(raw, HEAD) if raw.startswith(PACKED) else raw).removeprefix(BOM)
        return int(len(_below_separator(raw)) < len(raw))

    @cached_property
    def on_disk(self) -> bool:
        """Whether the file can be read where it lies: plain, and without anything that is to be seen to first."""
        first = (*PACKED, BOM, SEPARATOR, *STRANGE)
        return self._is_regular and not self._raw_head.startswith(first) and not self._returns

    @cached_property
    def content(self) -> bytes:
        """All bytes, unpacked and without a byte order mark."""
        self.check()
        if self.lines is not None:
            return self.lines.removeprefix(BOM)
        data = Path(self.path).read_bytes() if self._is_regular else _stream(self.path)
        return _below_separator(unpacked(data, self.name).removeprefix(BOM))

    @property
    def text(self) -> str:
        """All of it as text."""
        try:
            return self.content.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(self.name, self.content, error) from None

    def check(self) -> None:
        """Raise the error that helps when there is no such file, or none that can be read."""
        if self.path.startswith(NO_FILES):
            return
        for magic, what in STRANGE.items():
            if self._raw_head.startswith(magic):
                raise BadInput.at(self.name, expected="text, .gz or .zst", found=what)
        if self._returns:
            raise BadInput.at(
                self.name,
                expected="lines that end in a line feed",
                found="carriage returns only, as old Macs wrote them",
                remedy="convert it with tr '\\r' '\\n'",
            )

    def parts(self, size: int) -> Iterator[bytes]:
        """The bytes, unpacked, some at a time; what a pipe brings comes at once."""
        self.check()
        if not self._is_regular:
            yield self.content
            return
        with Path(self.path).open("rb") as stream:
            yield from unpacked_parts(stream, self._raw_head, self.name, size)

    @property
    def for_polars(self) -> Path | io.BytesIO:
        """What Polars reads fastest: the path of a plain file, otherwise the bytes."""
        return Path(self.path) if self.on_disk else io.BytesIO(self.content)

    @cached_property
    def _returns(self) -> bool:
        """Whether lines end in carriage returns alone."""
        line, found, rest = self.head.partition(b"\r")
        return bool(found and rest) and NEWLINE not in self.head and not line.startswith(BINARY)

    @cached_property
    def _is_regular(self) -> bool:
        return self.lines is None and self.path != "-" and Path(self.path).is_file()

    @cached_property
    def _raw_head(self) -> bytes:
        if self.lines is not None:
            return self.lines[:HEAD]
        try:
            if self.path == "-" or Path(self.path).is_fifo() or Path(self.path).is_char_device():
                return _stream(self.path)[:PACKED_HEAD]
            with Path(self.path).open("rb") as stream:
                head = stream.read(HEAD)
                return head + stream.read(PACKED_HEAD - HEAD) if head.startswith(PACKED) else head
        except FileNotFoundError:
            raise BadInput(f"{self.path}: no such file{_instead(Path(self.path))}") from None
        except IsADirectoryError:
            raise BadInput(f"{self.path}: this is a folder; name the files in it") from None
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be read ({error.strerror})") from None


def _instead(path: Path) -> str:
    """What there is in place of a file that is not: names near to its own, or else those of its ending."""
    if not path.parent.is_dir():
        return f"; there is no folder {path.parent}"
    files = sorted(one.name for one in path.parent.iterdir() if one.is_file() and one.name[0] != ".")
    begin = [name for name in files if path.stem and name.startswith(path.stem[:3])]
    near = list(dict.fromkeys([*begin, *get_close_matches(path.name, files)]))[:3]
    alike = [name for name in files if path.suffix and name.endswith(path.suffix)]
    if near or not alike:
        return f"; near it: {', '.join(near)}" if near else ""
    return f"; that folder has {', '.join(alike[:5])}{', ...' if len(alike) > 5 else ''}"


def _below_separator(data: bytes) -> bytes:
    r"""The bytes without a first line `sep=;`.

    >>> _below_separator(b"sep=;\r\nquery;doc\r\n"), _below_separator(b"sep=words and more\n")
    (b'query;doc\r\n', b'sep=words and more\n')
    """
    line, found, _ = data[:10].partition(NEWLINE)
    sign = line.removeprefix(SEPARATOR).rstrip(b"\r")
    return data[len(line) + 1 :] if found and line.startswith(SEPARATOR) and len(sign) == 1 else data


def not_utf8(name: str, data: bytes, error: UnicodeDecodeError) -> BadInput:
    """The error for bytes that are no UTF-8 text: the line, the byte, and how to convert."""
    return BadInput.at(
        f"{name} line {data.count(NEWLINE, 0, error.start) + 1}",
        expected="text in UTF-8",
        found=f"the byte 0x{data[error.start]:02x}",
        remedy="save it as CSV UTF-8, or convert it: iconv -f windows-1252 -t utf-8 for what Excel writes in the West",
    )


def write_bytes(path: str, data: bytes) -> None:
    """Write a file, packed when its name ends in .gz or .zst; `-` is standard output."""
    if path.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    elif path.endswith(".zst"):
        import zstandard

        data = zstandard.ZstdCompressor().compress(data)
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if path.lower().endswith((".bz2", ".xz", ".zip", ".lz4")):
        raise BadInput(f"{path}: only .gz and .zst are packed")
    try:
        put_in_place(Path(path), data)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from None
