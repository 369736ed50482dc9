"""Opening files: plain, gzip or zstd, by name or `-` for standard input, told apart by their first bytes."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from karat.errors import BadInput

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
PACKED = (".gz", ".zst")


@dataclass(frozen=True)
class File:
    """A file to read. Plain files stay on disk until their bytes are wanted.

    >>> File("runs/bm25.run.gz").stem, File("-").name
    ('bm25', 'standard input')
    """

    path: str

    @property
    def name(self) -> str:
        """The name that errors use."""
        return "standard input" if self.path == "-" else Path(self.path).name

    @property
    def stem(self) -> str:
        """The name without folders and endings."""
        return self.name.split(".")[0] or self.name

    @property
    def ending(self) -> str:
        """The ending that tells the format, in lower case: `.csv` for `labels.csv.gz`."""
        suffixes = [s.lower() for s in Path(self.path).suffixes]
        return next((s for s in reversed(suffixes) if s not in PACKED), "")

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked, to tell formats apart."""
        if self.path == "-":
            return self.content[:65536]
        raw = self._raw_head
        if raw.startswith(GZIP):
            import zlib

            try:
                return zlib.decompressobj(wbits=31).decompress(raw, 65536)
            except zlib.error:
                return b""
        if raw.startswith(ZSTD):
            return self.content[:65536]
        return raw

    @cached_property
    def on_disk(self) -> bool:
        """Whether the file can be read where it lies, without unpacking."""
        return self.path != "-" and not self._raw_head.startswith((GZIP, ZSTD))

    @cached_property
    def content(self) -> bytes:
        """All bytes, unpacked."""
        if self.path == "-":
            return _unpack(sys.stdin.buffer.read(), self.name)
        self.check()
        return _unpack(Path(self.path).read_bytes(), self.name)

    def check(self) -> None:
        """Raise the error that helps when there is no such file."""
        if self.path != "-":
            _ = self._raw_head

    @property
    def for_polars(self) -> Path | io.BytesIO:
        """What Polars reads fastest: the path of a plain file, otherwise the bytes."""
        return Path(self.path) if self.on_disk else io.BytesIO(self.content)

    @cached_property
    def _raw_head(self) -> bytes:
        try:
            with Path(self.path).open("rb") as stream:
                return stream.read(65536)
        except FileNotFoundError:
            near = sorted(p.name for p in Path(self.path).parent.glob(f"{Path(self.path).stem[:3]}*"))[:3]
            hint = f"; near it: {', '.join(near)}" if near and Path(self.path).stem else ""
            raise BadInput(f"{self.path}: no such file{hint}") from None
        except IsADirectoryError:
            raise BadInput(f"{self.path}: this is a folder; name the files in it") from None
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be read ({error.strerror})") from None


def _unpack(data: bytes, name: str) -> bytes:
    try:
        if data.startswith(GZIP):
            import gzip

            return gzip.decompress(data)
        if data.startswith(ZSTD):
            import zstandard

            return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    except Exception as error:  # the libraries raise a dozen kinds for a damaged archive
        raise BadInput(f"{name}: damaged or cut short ({error}); fetch or pack it again") from None
    return data


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
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from None
