"""Files of white-space separated columns, as TREC has them.

Most files are clean: one kind of separator, the same number of columns in every line. Those go through Polars' CSV
reader at full speed. Anything else (mixed tabs and spaces, blank lines, a short line) goes through the careful
reader, which knows line numbers and either understands the file or says what is wrong with which line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput
from karat.formats.open_files import NEWLINE, File
from karat.records import Source
from karat.records.table import count

#: So many bytes are looked through at a time.
NEAR = 1 << 18
RETURN = b"\r"
#: Every so many bytes are looked at to see whether there are blank lines by the thousand.
BLANK_SAMPLE = 16
#: So many blank lines in a row are counted, not read one by one.
LONG_BLANK = re.compile(r"\n[ \t\r\n]{1000,}\n")


def read_columns(
    file: File,
    names: list[str],
    keep: list[str],
    numbers: tuple[str, ...] = (),
    *,
    hint: str,
    table: str,
    mostly_numbers: str = "",
    mostly_whole: str = "",
) -> tuple[pl.DataFrame, Source]:
    """The columns to keep of a file with these columns, and where each row stands in it.

    A column of `mostly_numbers`, or of `mostly_whole` ones, is one of numbers where the file is clean and all of them
    are, and of text otherwise.
    `hint` ends the error for a line with another number of columns; without one it is guessed, and `table` is the first
    line of a CSV file with the same records.
    """
    above = comments_above(file)
    notes = (f"{file.name}: {count(above, 'line')} of comments above left aside",) if above else ()
    types: dict[str, pl.DataType] = {name: pl.Float64() for name in numbers}
    hoped: dict[str, pl.DataType] = {mostly_numbers: pl.Float64(), mostly_whole: pl.Int64()}
    hoped.pop("", None)
    frame = _read_fast(file, names, keep, types | hoped, above) if hoped else None
    if frame is None or (mostly_numbers and not frame[mostly_numbers].is_finite().all()):
        frame = _read_fast(file, names, keep, types, above)
    if frame is not None:  # a clean file has a row in every line
        return frame, Source(file.name, first_line=file.lines_above + above + 1, notes=notes)
    frame, source = _read_careful(file, names, keep, numbers, hint, table, above)
    return frame, replace(source, notes=notes)


def comments_above(file: File) -> int:
    """How many lines of comments stand at the beginning, as ir_metadata puts them above a run.

    A line of data that begins with a sign of number has no blank behind it.
    """
    if file.lines_above:
        return 0
    lines = file.head.split(b"\n")
    return next((n for n, line in enumerate(lines) if line.strip() != b"#" and not line.startswith(b"# ")), 0)


def first_line(file: File) -> bytes:
    """The first line below comments."""
    lines = file.head.split(b"\n")
    return lines[min(comments_above(file), len(lines) - 1)]


def _read_fast(
    file: File, names: list[str], keep: list[str], numbers: Mapping[str, pl.DataType], above: int
) -> pl.DataFrame | None:
    """All rows, or None where the file is not clean."""
    first = first_line(file)
    separator, other = (b"\t", b" ") if b"\t" in first else (b" ", b"\t")
    separators = _single_separators(file, separator, other) if first.strip() else None
    if separators is None:
        return None
    types = {name: numbers.get(name, pl.String()) for name in names}
    lines = pl.scan_csv(
        file.for_polars,
        separator=separator.decode(),
        has_header=False,
        quote_char=None,
        schema=types,
        skip_lines=above,
    )
    try:
        frame = lines.select(keep).collect()
    except pl.exceptions.PolarsError:
        return None
    # No line is short, as none lacks its last column; as many separators as there should be say that none is long.
    separators -= b"\n".join(file.head.split(b"\n")[:above]).count(separator)
    whole = not any(frame[name].null_count() for name in keep) and separators == frame.height * (len(names) - 1)
    return frame if frame.height and whole else None


def _single_separators(file: File, separator: bytes, other: bytes) -> int | None:
    """How many separators there are; None where two stand together, or another one stands anywhere."""
    found, ended = 0, False
    for part in _stretches(file):
        # A search for two in a row would stop at each one: there are five in a line.
        signs = np.frombuffer(part, np.uint8)
        if _has_blank_lines(signs):
            return None
        here = signs == separator[0]
        if (signs == other[0]).any() or (here[1:] & here[:-1]).any() or (ended and here[0]):
            return None
        found += int(np.count_nonzero(here))
        ended = bool(here[-1])
    return found


def _has_blank_lines(signs: npt.NDArray[np.uint8]) -> bool:
    """Whether many blank lines stand together: two samples in a row tell where to look."""
    samples = (signs[::BLANK_SAMPLE] == NEWLINE[0]) | (signs[::BLANK_SAMPLE] == RETURN[0])
    if not (samples[1:] & samples[:-1]).any():
        return False
    return any(ends * (BLANK_SAMPLE // len(ends)) in signs.tobytes() for ends in (NEWLINE, RETURN + NEWLINE))


def newlines(lines: bytes) -> int:
    """How many lines end in these bytes, a stretch at a time; Python's own counting stops at each one."""
    signs = np.frombuffer(lines, np.uint8)
    return sum(int(np.count_nonzero(signs[at : at + NEAR] == NEWLINE[0])) for at in range(0, len(signs), NEAR))


def _stretches(file: File) -> Iterator[bytes | memoryview]:
    """The bytes of a file, as many at a time as stay near the processor."""
    if file.on_disk:
        with Path(file.path).open("rb") as stream:
            yield from iter(partial(stream.read, NEAR), b"")
        return
    whole = memoryview(file.content)
    yield from (whole[start : start + NEAR] for start in range(0, len(whole), NEAR))


def _read_careful(
    file: File, names: list[str], keep: list[str], numbers: tuple[str, ...], hint: str, table: str, above: int
) -> tuple[pl.DataFrame, Source]:
    lines = _lines(file).slice(above)
    lines = lines.filter(pl.col("text") != "")
    if not lines.height:
        raise BadInput.at(file.name, expected=f"lines of {len(names)} columns", found="an empty file")
    fields = lines.with_columns(pl.col("text").str.extract_all(r"\S+").alias("fields"))
    width = fields["fields"].list.len()
    wrong = width != len(names)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        more = int(wrong.sum()) - 1
        raise BadInput.at(
            f"{file.name} line {fields['line'][row]}",
            expected=f"{len(names)} columns ({' '.join(names)})",
            found=f'{width[row]}: "{_shorten(fields["text"][row])}"'
            + (f" ({count(more, 'more line')} like it)" if more else ""),
            remedy=hint or _guess(fields["text"][row], int(width[row]), len(names), table),
        )
    source = Source(file.name, fields["line"])
    frame = fields.select(pl.col("fields").list.get(names.index(name)).alias(name) for name in keep)
    for name in numbers:
        values = frame[name].cast(pl.Float64, strict=False)
        if values.null_count():
            row = int(values.is_null().arg_max() or 0)
            raise BadInput.at(source.at(row), expected=f"a number as {name}", found=f'"{frame[name][row]}"')
        frame = frame.with_columns(values)
    return frame, source


def _guess(line: str, width: int, expected: int, table: str) -> str:
    """Why a line has another number of columns, and what to do."""
    if width > expected:
        return f"is there a space in an id? Write CSV then, with a first line {table}"
    if width == 1 and table.count(",") <= line.count(","):
        return f"is this CSV? Put a line of names above it, such as {table}"
    if width > 1:
        return f"is a column missing? A CSV file with a first line {table} needs no more"
    return ""


def _lines(file: File) -> pl.DataFrame:
    """The lines of a text file without the white space around them, numbered from 1."""
    text, parts, end, above = file.text, list[pl.DataFrame](), 0, file.lines_above
    for blank in LONG_BLANK.finditer(text):
        parts.append(_numbered(text[end : blank.start()], above))
        above += parts[-1].height + blank[0].count("\n") - 1
        end = blank.end()
    return pl.concat([*parts, _numbered(text[end:], above)])


def _numbered(text: str, above: int) -> pl.DataFrame:
    lines = pl.Series("text", text.split("\n"), dtype=pl.String).str.strip_chars()
    return lines.to_frame().with_row_index("line", offset=above + 1)


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
