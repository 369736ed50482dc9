"""What is wrong with a table that cannot be read: the line and plain words, instead of the library's complaint."""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import polars as pl

from karat.errors import BadInput
from karat.formats.open_files import File, not_utf8

#: What the values of JSON are called.
KINDS: dict[type, str] = {list: "a list", str: "a text", int: "a number", float: "a number", bool: "true or false"}
#: What is wrong with a quote: what is expected, what was found, and what to do.
WRONG_QUOTES = {
    "open": (
        "a closing quote",
        "a quote that is never closed, in this line or below",
        'close it, or write a quote sign within a text twice: ""',
    ),
    "closed": (
        "quotes around whole cells",
        "more text after the closing quote",
        'put the whole cell in quotes, and write a quote sign within it twice: ""',
    ),
    "single": (
        "quotes around whole cells",
        "a single quote sign within a cell",
        'put the cell in quotes and write the sign in it twice: "a 5"" disk"',
    ),
}
ONE_LINE = "put one object in each line, without a list around them or commas between (jq -c '.[]' does it)"


def blame_csv(file: File, separator: str) -> BadInput:
    """The line of a CSV file with a wrong quote or too many cells."""
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        return not_utf8(file.name, file.content, wrong)
    lines = io.StringIO(text, newline="").readlines()
    reader = csv.reader(lines, delimiter=separator, strict=True)
    start, header = 1, list[str]()
    while True:
        place = f"{file.name} line {start}"
        try:
            row = next(reader, None)
        except csv.Error as error:
            return _quotes(place, "open" if "end of data" in str(error) else "closed", lines[start - 1])
        if row is None:
            break
        header = header or row
        if len(row) > len(header):
            return BadInput.at(
                place,
                expected=f"{len(header)} cells ({', '.join(header)})",
                found=str(len(row)),
                remedy="put a text that holds the separator in quotes",
            )
        if "".join(lines[start - 1 : reader.line_num]).count('"') % 2:
            return _quotes(place, "single", lines[start - 1])
        start = reader.line_num + 1
    return BadInput.at(file.name, expected="a table", found="none that can be read", remedy="save it as CSV once more")


def blame_json(file: File, data: bytes) -> BadInput:
    """The line of a JSON lines file that is no object, or holds a number that JSON does not have."""
    try:
        text = data.decode()
    except UnicodeDecodeError as wrong:
        return not_utf8(file.name, data, wrong)
    for number, line in enumerate(text.split("\n"), 1):
        error = _wrong_line(f"{file.name} line {number}", line.strip()) if line.strip() else None
        if error is not None:
            return error
    return BadInput.at(
        file.name,
        expected="one kind of value in each column",
        found="lists or objects among single values",
        remedy="give a column single values in every line",
    )


def blame_document(place: str, wrong: json.JSONDecodeError, text: str) -> BadInput:
    """What is wrong with a document of JSON, and in which of its lines."""
    found, remedy = _in_words(wrong, text)
    at_end = not text[wrong.pos :].strip()
    return BadInput.at(
        f"{place} line {wrong.lineno}",
        expected="JSON",
        found="an end in the midst of it" if at_end else found,
        remedy="was the file cut short?" if at_end else remedy,
    )


def _wrong_line(place: str, text: str) -> BadInput | None:
    """What is wrong with a line of JSON, if anything is."""
    expected = "a JSON object"
    if text.startswith("["):
        return BadInput.at(place, expected=expected, found="a list", remedy=ONE_LINE)
    odd: list[str] = []  # NaN and Infinity, which Python writes and JSON does not know, and what is too large

    def number(word: str) -> float | str:
        if math.isfinite(float(word)):
            return float(word)
        odd.append(word)
        return word

    try:
        row = json.loads(text, parse_constant=number, parse_float=number)
    except json.JSONDecodeError as wrong:
        found, remedy = _in_words(wrong, text)
        return BadInput.at(place, expected=expected, found=found, remedy=remedy)
    except ValueError:  # Python reads no whole numbers of thousands of digits
        return BadInput.at(place, expected="numbers", found="one of thousands of digits")
    except RecursionError:
        return BadInput.at(place, expected=expected, found="lists or objects too deep in each other")
    if odd:
        row = row if isinstance(row, dict) else {}
        column = next((name for name, value in row.items() if value is odd[0]), None)
        return BadInput.at(
            place,
            expected="a number" + (f" as {column}" if column is not None else ""),
            found=f"{odd[0]}, which {'JSON does not have' if odd[0].lstrip('-')[0] in 'NI' else 'is too large'}",
            remedy="write a number, or null where a value may be missing, or leave the line out",
        )
    if not isinstance(row, dict):
        return BadInput.at(place, expected=expected, found=KINDS.get(type(row), "null"), remedy="put one in each line")
    return None


def _in_words(wrong: json.JSONDecodeError, text: str) -> tuple[str, str]:
    """What the parser stumbled over, and what to do."""
    rest = text[wrong.pos :].lstrip()
    at = f"before character {wrong.pos + 1}"
    known = {
        "Unterminated string": ("a text without its closing quote", "was the file cut short?"),
        "Extra data": (f"{_shown(rest)} after it", ONE_LINE),
        "Invalid control": (f"a tab or another control character {at}", "write it as \\t within a text"),
        "Invalid \\": (f"a backslash {at} that starts no known sign", "write a backslash as \\\\"),
        # since Python 3.13, and at the comma
        "Illegal trailing comma": (f'a comma before "{rest[1:].lstrip()[:1]}"', ""),
    }
    for start, told in known.items():
        if wrong.msg.startswith(start):
            return told
    if not rest:
        return "an end of the line within the object", "put each object in one line"
    if rest.startswith("'"):
        return "single quotes", "JSON takes double quotes"
    if rest[0] in "}]":
        what = "a comma" if text[: wrong.pos].rstrip().endswith(",") else "no value"
        return f'{what} before "{rest[0]}"', ""
    for sign, name in ((",", "comma"), (":", "colon")):
        if wrong.msg.startswith(f"Expecting '{sign}'"):
            return f"no {name} {at}: {_shown(rest)}", ""
    word = rest.split(",")[0].split("}")[0].strip()
    if word in ("None", "True", "False", "nan", "inf", "-inf"):
        right = {"True": "true", "False": "false"}.get(word, "null")
        return f"{word}, a word that JSON does not have", f"write {right}"
    return _shown(rest), "is this a file of JSON lines?"


def _quotes(place: str, what: str, line: str) -> BadInput:
    expected, found, remedy = WRONG_QUOTES[what]
    return BadInput.at(place, expected=expected, found=f"{found}: {_shown(line)}", remedy=remedy)


def _shown(text: str) -> str:
    text = text.strip()
    return f'"{text if len(text) <= 40 else text[:37] + "..."}"'


P = ParamSpec("P")
T = TypeVar("T")

#: What Polars raises where it cannot go on: a BaseException, which `except Exception` lets pass.
PANIC: type[BaseException] = pl.exceptions.PanicException
WHOLE = "is the file whole? Save or fetch it again"


def unbroken(read: Callable[..., T]) -> Callable[..., T]:
    """A reader whose first argument is a file, with errors in place of panics and exhausted stacks.

    >>> @unbroken
    ... def read(file):
    ...     return read(file)
    >>> read(File("deep.json"))
    Traceback (most recent call last):
    karat.errors.BadInput: deep.json: expected a file that can be read, found lists or objects too deep in each other
    """

    @wraps(read)
    def safe(file: File, *given: object, **named: object) -> T:
        with refuse_unreadable(file):
            return read(file, *given, **named)

    return safe


@contextmanager
def refuse_unreadable(file: File, expected: str = "a file that can be read") -> Iterator[None]:
    """Turn what the libraries raise for a damaged file into `BadInput` with the file's name."""
    try:
        yield
        return
    except RecursionError:
        found, remedy = "lists or objects too deep in each other", ""
    except MemoryError:
        found, remedy = "more than the memory holds", "read a part of it"
    except pl.exceptions.PolarsError as error:
        found, remedy = f"what Polars cannot read ({_first(error)})", WHOLE
    except OSError as error:
        raise BadInput(f"{file.name}: cannot be read ({error.strerror or error})") from None
    except BaseException as error:
        if not isinstance(error, PANIC):
            raise
        found, remedy = "damaged data", WHOLE
    raise BadInput.at(file.name, expected=expected, found=found, remedy=remedy)


def _first(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:100]


def parse_toml(text: str, place: str) -> dict[str, Any]:
    r"""What a TOML text says.

    >>> parse_toml('[bm25]\nurl = "http://localhost"', "engines.toml")
    {'bm25': {'url': 'http://localhost'}}
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        found = "brackets within brackets without end"
    except ValueError as error:  # a slip of TOML, or a number of thousands of digits
        found = str(error)
    raise BadInput.at(place, expected="TOML", found=found)
