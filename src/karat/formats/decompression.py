"""Unpacking .gz, .zst and .lz4, up to a limit: a few kilobytes can unpack to more than any machine holds."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO, cast

from karat.errors import BadInput, KaratError, MissingExtra

GZIP, ZSTD, LZ4 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"
PACKED = (GZIP, ZSTD, LZ4)
#: The variable that sets the limit, in bytes.
VARIABLE = "KARAT_MAX_BYTES"
#: As much as is unpacked at a time.
PART = 1 << 20
#: The limit where the machine does not say how much memory it has.
GENEROUS = 4 << 30
#: What the limit counts in a packed file, and what to ask where there is more.
UNPACKED = ("unpacked bytes", "is this the file that you meant?")


def most_bytes() -> int:
    """How many bytes a packed file or a pipe may have once unpacked: a quarter of the machine's memory, or as asked."""
    if is_limit_set():
        said = os.environ[VARIABLE].strip()
        if not said.isdecimal() or not int(said):
            raise BadInput.at(VARIABLE, expected="a number of bytes, such as 8000000000", found=f'"{said}"')
        return int(said)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, OSError, ValueError):
        return GENEROUS


def is_limit_set() -> bool:
    """Whether the user set a limit."""
    return bool(os.environ.get(VARIABLE, "").strip())


def unpacked(data: bytes, name: str) -> bytes:
    """The bytes, unpacked where they are packed.

    >>> import gzip
    >>> unpacked(gzip.compress(b"q1 0 d1 2"), "qrels.gz"), unpacked(b"q1 0 d1 2", "qrels")
    (b'q1 0 d1 2', b'q1 0 d1 2')
    """
    if not data.startswith(PACKED):
        return data
    try:
        return _once(within_limit(_parts(data), name, *UNPACKED), name)
    except KaratError:
        raise
    except Exception as error:  # the libraries raise a dozen kinds for a damaged archive
        raise BadInput(f"{name}: damaged or cut short ({error}); fetch or pack it again") from None


def unpacked_parts(stream: IO[bytes], head: bytes, name: str, size: int) -> Iterator[bytes]:
    """The bytes of a file on disk, unpacked where they are packed, so many at a time; `head` are its first bytes.

    A file read in parts need not fit into memory, so that only a limit that the user set bounds what it unpacks to.
    """
    most = most_bytes() if head.startswith(PACKED) and is_limit_set() else None
    try:
        parts = iter(partial(_opened(stream, head).read, size if most is None else min(size, most + 1)), b"")
        first = _once(next(parts, b""), name)
        parts = chain([first], parts)
        yield from parts if most is None else up_to_limit(parts, name, *UNPACKED)
    except KaratError:
        raise
    except Exception as error:  # the libraries raise a dozen kinds for a damaged archive
        raise BadInput(f"{name}: damaged or cut short ({error}); fetch or pack it again") from None


def _once(data: bytes, name: str) -> bytes:
    """The unpacked bytes, refused where they are packed again: Polars would unpack them without a limit."""
    if data.startswith(PACKED):
        raise BadInput.at(name, expected="a file packed once", found="one packed twice", remedy="unpack it once")
    return data


def _opened(stream: IO[bytes], head: bytes) -> IO[bytes]:
    """The stream, unpacked as it is read."""
    if head.startswith(GZIP):
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    if head.startswith(ZSTD):
        import zstandard

        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
    if head.startswith(LZ4):
        try:
            import lz4.frame
        except ImportError:
            raise MissingExtra.named("lz4", "a file packed with lz4") from None
        return cast(IO[bytes], lz4.frame.LZ4FrameFile(stream))
    return stream


def head_of(data: bytes, size: int) -> bytes:
    """The first bytes of a packed file, from its own first bytes; none where they are damaged."""
    found = b""
    try:
        for part in _parts(data, size):
            found += part
            if len(found) >= size:
                break
    except MissingExtra:
        raise
    except Exception:  # the packed bytes end somewhere within; what is wrong besides is said when the file is read
        pass
    return found[:size]


def read_stream(stream: IO[bytes], name: str) -> bytes:
    """All that comes through a pipe, up to the limit."""
    return within_limit(iter(lambda: stream.read(PART), b""), name, "bytes through a pipe", "is there an end to it?")


def within_limit(parts: Iterator[bytes], name: str, what: str, question: str) -> bytes:
    """All parts as one, or an error once there are more bytes than may be."""
    found = io.BytesIO()
    for part in up_to_limit(parts, name, what, question):
        found.write(part)
    return found.getvalue()


def up_to_limit(parts: Iterator[bytes], name: str, what: str, question: str) -> Iterator[bytes]:
    """The parts as they come, or an error once there are more bytes than may be."""
    most, size = most_bytes(), 0
    for part in parts:
        size += len(part)
        if size > most:
            raise BadInput.at(
                name,
                expected=f"at most {most:,} {what}",
                found="more",
                remedy=f"{question} Set {VARIABLE} to allow more",
            )
        yield part


def _parts(data: bytes, size: int = PART) -> Iterator[bytes]:
    if data.startswith(LZ4):
        return _of_lz4(data, size)
    return _of_gzip(data, size) if data.startswith(GZIP) else _of_zstd(data)


def _of_gzip(data: bytes, size: int) -> Iterator[bytes]:
    import zlib

    while data:  # one file may be several, one after the other
        packed = zlib.decompressobj(wbits=31)
        while not packed.eof:
            part = packed.decompress(data, size)
            data = packed.unconsumed_tail
            if part:
                yield part
            elif not packed.eof:
                raise EOFError("the end is missing")
        data = packed.unused_data.lstrip(b"\0")


def _of_lz4(data: bytes, size: int) -> Iterator[bytes]:
    try:
        import lz4.frame
    except ImportError:
        raise MissingExtra.named("lz4", "a file packed with lz4") from None

    def frame(packed: Iterable[bytes]) -> Iterator[bytes]:
        opened = lz4.frame.LZ4FrameDecompressor()
        for part in packed:
            yield opened.decompress(part, max_length=size)
            while not opened.eof and not opened.needs_input:
                yield opened.decompress(b"", max_length=size)
            if opened.eof:
                return
        raise EOFError("the end is missing")

    parts = frame([data])
    first = next(parts, b"")
    parts = chain([first], parts)
    return frame(parts) if first.startswith(LZ4) else parts  # ranx packs what it has packed


def _of_zstd(data: bytes) -> Iterator[bytes]:
    import zstandard

    # Four bytes may stand for 128 kB: what is fed at a time bounds what comes out at a time.
    fed, start = 4096, 0
    while start < len(data):
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof:
            if start >= len(data):
                raise EOFError("the end is missing")
            yield frame.decompress(data[start : start + fed])
            start += fed
        start = min(start, len(data)) - len(frame.unused_data)
