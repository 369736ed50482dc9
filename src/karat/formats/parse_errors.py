"""What is wrong with a table that cannot be read: the line and plain words, instead of the library's complaint."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

from karat.errors import BadInput
from karat.formats.open_files import File, not_utf8

#: What the values of JSON are called.
KINDS: dict[type, str] = {list: "a list", str: "a text", int: "a number", float: "a number", bool: "true or false"}
ONE_LINE = "put one object in each line, without a list around them or commas between (jq -c '.[]' does it)"


class _NoNumber(ValueError):
    """NaN or Infinity, which Python writes and JSON does not know."""


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
            return _wrong_quote(place, "end of data" in str(error), lines[start - 1])
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
            return BadInput.at(
                place,
                expected="quotes around whole cells",
                found=f"a single quote sign within a cell: {_shown(lines[start - 1])}",
                remedy='put the cell in quotes and write the sign in it twice: "a 5"" disk"',
            )
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


def _wrong_line(place: str, text: str) -> BadInput | None:
    """What is wrong with a line of JSON, if anything is."""
    expected = "a JSON object"
    if text.startswith("["):
        return BadInput.at(place, expected=expected, found="a list", remedy=ONE_LINE)
    try:
        row = json.loads(text, parse_constant=_refuse, parse_float=_number)
    except _NoNumber as word:
        return _no_number(place, text, str(word))
    except json.JSONDecodeError as wrong:
        found, remedy = _in_words(wrong, text)
        return BadInput.at(place, expected=expected, found=found, remedy=remedy)
    if not isinstance(row, dict):
        return BadInput.at(place, expected=expected, found=KINDS.get(type(row), "null"), remedy="put one in each line")
    return None


def _refuse(word: str) -> Any:
    raise _NoNumber(word)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NoNumber(text)
    return number


def _no_number(place: str, text: str, word: str) -> BadInput:
    """The error for NaN and the like, with the column that holds it."""
    row = json.loads(text, parse_constant=_NoNumber, parse_float=lambda n: _NoNumber(n) if n == word else float(n))
    column = next((name for name, value in row.items() if isinstance(value, _NoNumber)), None)
    return BadInput.at(
        place,
        expected="a number" + (f" as {column}" if column is not None else ""),
        found=f"{word}, which {'JSON does not have' if word.lstrip('-')[0] in 'NI' else 'is too large'}",
        remedy="write a number, or null where a value may be missing, or leave the line out",
    )


def _in_words(wrong: json.JSONDecodeError, text: str) -> tuple[str, str]:
    """What the parser stumbled over, and what to do."""
    rest = text[wrong.pos :].lstrip()
    at = f"before character {wrong.pos + 1}"
    if wrong.msg.startswith("Unterminated string"):
        return "a text without its closing quote", "was the file cut short?"
    if wrong.msg.startswith("Extra data"):
        return f"{_shown(rest)} after it", ONE_LINE
    if wrong.msg.startswith("Invalid control"):
        return f"a tab or another control character {at}", "write it as \\t within a text"
    if wrong.msg.startswith("Invalid \\"):
        return f"a backslash {at} that starts no known sign", "write a backslash as \\\\"
    if wrong.msg.startswith("Illegal trailing comma"):  # since Python 3.13, and at the comma
        return f'a comma before "{rest[1:].lstrip()[:1]}"', ""
    if not rest:
        return "an end of the line within the object", "put each object in one line"
    if rest.startswith("'"):
        return "single quotes", "JSON takes double quotes"
    if rest[0] in "}]":
        what = "a comma" if text[: wrong.pos].rstrip().endswith(",") else "no value"
        return f'{what} before "{rest[0]}"', ""
    if wrong.msg.startswith("Expecting ','"):
        return f"no comma {at}: {_shown(rest)}", ""
    if wrong.msg.startswith("Expecting ':'"):
        return f"no colon {at}: {_shown(rest)}", ""
    word = rest.split(",")[0].split("}")[0].strip()
    if word in ("None", "True", "False", "nan", "inf", "-inf"):
        known = {"True": "true", "False": "false"}.get(word, "null")
        return f"{word}, a word that JSON does not have", f"write {known}"
    return _shown(rest), "is this a file of JSON lines?"


def _wrong_quote(place: str, open_ended: bool, line: str) -> BadInput:
    if open_ended:
        return BadInput.at(
            place,
            expected="a closing quote",
            found=f"a quote that is never closed, in this line or below: {_shown(line)}",
            remedy='close it, or write a quote sign within a text twice: ""',
        )
    return BadInput.at(
        place,
        expected="quotes around whole cells",
        found=f"more text after the closing quote: {_shown(line)}",
        remedy='put the whole cell in quotes, and write a quote sign within it twice: ""',
    )


def _shown(text: str) -> str:
    text = text.strip()
    return f'"{text if len(text) <= 40 else text[:37] + "..."}"'
