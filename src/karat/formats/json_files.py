"""JSON as it comes: what no table can hold is told with its place before a library chokes on it or hides it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import refuse_empty, whole_labels
from karat.formats.decompression import most_bytes
from karat.formats.format_registry import Format, Rows, add_format
from karat.formats.open_files import NEWLINE, File
from karat.formats.read_errors import blame_json
from karat.records import Source

#: As deep as lists and objects may lie in each other, and as many names as the objects of a file may have.
MOST_DEPTH, MOST_NAMES = 64, 2_000
#: Of files with more lines, as many are looked at to see whether every line has names of its own.
SAMPLE = 2_000
#: A sign of a letter beyond 16 bits, of which JSON writes two halves.
HALF = re.compile(rb"\\u[dD][89a-fA-F]")
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
BRACKETS = re.compile(rb"[\[\]{}]")


def load_json(file: File) -> Any:
    """The document in a file of JSON.

    Names that stand twice in an object, numbers that JSON does not have and halves of letters are refused: a library
    would take the last, or something else, in silence.
    """
    from karat.formats.read_errors import blame_document

    data, text = file.content, file.text
    if depth(data) > MOST_DEPTH:
        raise _too_deep(file.name)
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except _Wrong as wrong:
        raise BadInput.at(file.name, expected=wrong.expected, found=wrong.found) from None
    except json.JSONDecodeError as error:
        raise blame_document(file.name, error, text) from None
    except ValueError:  # Python reads no whole numbers of thousands of digits
        raise BadInput.at(file.name, expected="numbers", found="one of thousands of digits") from None
    if HALF.search(data):
        _refuse_halves(found, file.name)
    return found


def load_objects(file: File, expected: str) -> list[dict[str, Any]]:
    """The objects of a file: one document, a list of them, one in each line, or those in an answer of a search engine.

    Elasticsearch and OpenSearch answer with `{"hits": {"hits": [{"_source": ...}]}}`; what counts is in `_source`.
    """
    start = file.content.lstrip()[: 1 << 20]
    first, _, rest = start.partition(b"\n")
    if rest.strip() and isinstance(_parsed(first), dict):
        lines = file.content.split(b"\n")
        check_lines(file, file.content, lines)
        found: Any = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                row = load_line(line, f"{file.name} line {number}")
                found.append(row)
    else:
        found = load_json(file)
    if isinstance(found, dict) and isinstance(found.get("hits"), dict):
        found = found["hits"].get("hits")
    found = objects(found if isinstance(found, list) else [found], file, expected)
    return objects([one.get("_source", one) for one in found], file, expected)


def load_line(line: bytes, place: str) -> Any:
    """What stands in a line of JSON, as strictly as `load_json` takes a document."""
    from karat.formats.read_errors import blame_document

    try:
        text = line.decode()
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except _Wrong as wrong:
        raise BadInput.at(place, expected=wrong.expected, found=wrong.found) from None
    except json.JSONDecodeError as error:
        raise blame_document(place, error, text) from None
    except ValueError:
        raise BadInput.at(place, expected="a JSON object in UTF-8", found="a line that is none") from None


def check_lines(file: File, data: bytes, lines: Sequence[bytes]) -> None:
    """Refuse what a reader of JSON lines would die of, or take in silence; wrong JSON is for the reader to find."""
    # Flat objects have a bracket in a line: only where there are more are the lines looked at, one by one.
    if data.count(b"{") + data.count(b"[") > len(lines) + MOST_DEPTH:
        for number, line in enumerate(lines, 1):
            if line.count(b"{") + line.count(b"[") > MOST_DEPTH and depth(line) > MOST_DEPTH:
                raise _too_deep(f"{file.name} line {number}")
    if HALF.search(data):
        for number, line in enumerate(lines, 1):
            if HALF.search(line):
                _refuse_halves(_parsed(line), f"{file.name} line {number}")
    names = _names(lines)
    if len(names) > MOST_NAMES or len(names) * len(lines) * 8 > most_bytes():
        raise BadInput.at(
            file.name,
            expected=f"at most {MOST_NAMES:,} names in its objects",
            found=f"more, in {len(lines):,} lines",
            remedy="give ids as values, not as names: a line for each query and document",
        )


def refuse_twice(file: File, data: bytes, lines: Sequence[bytes], filled: Mapping[str, int]) -> None:
    """Refuse an object with a name twice, of which readers take one in silence.

    `filled` has the names of the columns, and how many values of each were read: a name that does not stand more often
    in the file stands once in every object.
    """
    for name, number in filled.items():
        sign = json.dumps(name, ensure_ascii=False).encode()
        if data.count(sign) <= number:
            continue
        for place, line in enumerate(lines, 1):
            if line.count(sign) > 1:
                _refuse_twice(line, f"{file.name} line {place}")


def depth(data: bytes) -> int:
    """How deep lists and objects lie in each other at most; brackets within texts do not count.

    >>> depth(b'{"a": [1, {"b": "[[[["}]}'), depth(b"7")
    (3, 0)
    """
    found = most = 0
    for bracket in BRACKETS.findall(TEXT.sub(b"", data)):
        found += 1 if bracket in b"[{" else -1
        most = max(most, found)
    return most


def objects(found: Any, file: File, expected: str) -> list[dict[str, Any]]:
    """The objects of a list, or an error that says what stands there instead."""
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        odd = next((one for one in found if not isinstance(one, dict)), found) if isinstance(found, list) else found
        raise BadInput.at(file.name, expected=expected, found=shown(odd))
    return found


def shown(value: Any) -> str:
    """A value as an error shows it: short.

    >>> shown({"query": "q", "ratings": []}), shown(None), shown("a")
    ('an object with query, ratings', 'nothing', '"a"')
    """
    if isinstance(value, dict):
        names = ", ".join(map(str, list(value)[:6])) + (", ..." if len(value) > 6 else "")
        return f"an object with {names}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


class _Wrong(Exception):
    """What is wrong, without the place, which is known further up."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(found)
        self.expected, self.found = expected, found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen = set[str]()
        again = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _Wrong("each name once in an object", f'"{again}" twice')
    return made


def _no_number(word: str) -> float:
    raise _Wrong("numbers", f"{word}, which JSON does not have")


def _finite(word: str) -> float:
    if math.isfinite(float(word)):
        return float(word)
    raise _Wrong("numbers", f"{word}, which is too large")


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _refuse_halves(found: Any, place: str) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise BadInput.at(
            place, expected="whole letters", found=f"{half}, half of one, without its other half"
        ) from None


def _refuse_twice(line: bytes, place: str) -> None:
    try:
        json.loads(line, object_pairs_hook=_once)
    except _Wrong as wrong:
        raise BadInput.at(place, expected=wrong.expected, found=wrong.found, remedy="leave one of them out") from None
    except ValueError:
        return


def _names(lines: Sequence[bytes]) -> dict[str, None]:
    """The names in the first objects of some lines; of all lines where these have many names of their own."""
    some = _named(lines[:: max(1, len(lines) // SAMPLE)])
    return _named(lines) if len(some) > SAMPLE / 10 and len(lines) > SAMPLE else some


def _named(lines: Iterable[bytes]) -> dict[str, None]:
    found = dict[str, None]()
    for line in lines:
        row = _parsed(line) if line.strip() else None
        if isinstance(row, dict):
            found |= dict.fromkeys(row)
            inside = [value for value in row.values() if isinstance(value, dict)]
            found |= dict.fromkeys(name for value in inside for name in value)
            if len(found) > MOST_NAMES:
                break
    return found


def _too_deep(place: str) -> BadInput:
    return BadInput.at(
        place,
        expected=f"lists and objects at most {MOST_DEPTH} deep in each other",
        found="deeper ones",
        remedy="a table has one value in each cell",
    )


def read_jsonl(file: File) -> Rows:
    """The rows, typed, and their lines; a list of objects is read, too."""
    refuse_empty(file)
    data = file.content
    if data.lstrip().startswith(b"["):
        rows = objects(load_json(file), file, "a list of objects")
        return _frame(file, "\n".join(json.dumps(row) for row in rows).encode()), Source(file.name)
    lines = data.split(NEWLINE)
    check_lines(file, data, lines)
    frame = _frame(file, data)
    refuse_twice(file, data, lines, {column.name: len(column) - column.null_count() for column in frame.iter_columns()})
    filled = [number for number, line in enumerate(lines, 1) if line.strip()]
    return frame, Source(file.name, pl.Series(filled) if len(filled) == frame.height else None)


def _frame(file: File, data: bytes) -> pl.DataFrame:
    if not data:
        return pl.DataFrame()
    try:
        return pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        raise blame_json(file, data) from None


def write_jsonl(frame: pl.DataFrame) -> bytes:
    """A table as JSON lines."""
    return whole_labels(frame).write_ndjson().encode()


def is_json(file: File) -> bool:
    """Whether a file begins as JSON does: an object, or a list of objects."""
    start = file.head.lstrip()
    return start.startswith(b"{") or (start.startswith(b"[") and start[1:].lstrip()[:1] in (b"{", b"]"))


add_format(
    Format(
        "jsonl",
        read_jsonl,
        write_jsonl,
        (".jsonl", ".ndjson"),
        (".jsonl", ".ndjson", ".json"),
        sniff=lambda file, schema: is_json(file),
    ),
    __name__,
)
