"""The lines of a file in parts that can be read each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from karat.errors import BadInput
from karat.formats.open_files import NEWLINE, File
from karat.formats.unpacking import VARIABLE, most_bytes

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
