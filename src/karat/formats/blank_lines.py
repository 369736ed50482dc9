"""Blank lines by the million: a few kilobytes unpack to them, and readers that number lines take each one up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from karat.errors import BadInput
from karat.formats.open_files import NEWLINE, File

#: A file may have so many blank lines, and more where it has more lines that are not blank.
MAX_BLANK_LINES = 1_000_000
#: A line of these is blank: a spreadsheet writes commas for empty rows.
BLANK_BYTES = b' \t\r,;"'
#: Shorter files are not looked through.
MIN_BYTES = 2 * MAX_BLANK_LINES
CHUNK_BYTES = 1 << 20


def refuse_blank_lines(file: File) -> None:
    """Refuse a file that is mostly blank lines, a million or more, before a reader spends minutes on them."""
    if file.on_disk and Path(file.path).stat().st_size < MIN_BYTES:
        return
    blank, lines = _count_lines(_chunks(file))
    if blank > MAX_BLANK_LINES and blank > lines - blank:
        raise BadInput.at(
            file.name,
            expected=f"at most {MAX_BLANK_LINES:,} blank lines",
            found=f"{blank:,} in {lines:,} lines",
            remedy="is this the file that you meant? Remove blank lines, for example with sed '/^[[:space:]]*$/d'",
        )


def _chunks(file: File) -> Iterator[bytes]:
    if file.on_disk:
        with Path(file.path).open("rb") as stream:
            yield from iter(partial(stream.read, CHUNK_BYTES), b"")
        return
    data = file.content
    if len(data) >= MIN_BYTES:
        yield from (data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES))


def _count_lines(chunks: Iterator[bytes]) -> tuple[int, int]:
    """How many lines are blank, and how many lines there are."""
    blank = lines = 0
    was_newline = True
    for chunk in chunks:
        signs = np.frombuffer(chunk.translate(None, BLANK_BYTES), np.uint8) == NEWLINE[0]
        if signs.size:
            lines += int(np.count_nonzero(signs))
            blank += int(np.count_nonzero(signs[1:] & signs[:-1])) + bool(was_newline and signs[0])
            was_newline = bool(signs[-1])
    return blank, lines
