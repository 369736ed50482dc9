"""Tables that cannot be read: the line, what is wrong with it in plain words, and what to do."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

import karat as kt

ROW = '{"query": "q", "doc": "a", "score": 1.0}\n'
#: What the libraries that read files call things; no reader of a message should have to know it.
LIBRARY = re.compile(
    r"Tape|Internal|dtype|char \d|Expecting|delimiter|NoneType|\bint\b|codec|supertype|malformed|chunk"
)


def refused(folder: Path, text: str | bytes, name: str) -> str:
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(kt.BadInput) as error:
        kt.read_runs(str(folder / name))
    said = str(error.value).removeprefix(str(folder) + "/")
    assert not LIBRARY.search(said), said
    return said


@pytest.mark.parametrize(
    ("value", "word"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), ("1e999", "1e999")]
)
def test_numbers_that_json_does_not_have_are_told_with_line_and_name(
    tmp_path: Path, value: float | str, word: str
) -> None:
    line = json.dumps({"query": "q", "doc": 'the "NaN"', "score": value}).replace('"1e999"', "1e999")
    said = refused(tmp_path, ROW + line + "\n", "run.jsonl")
    assert said.startswith(f"run.jsonl line 2: expected a number as score, found {word}")
    assert "null" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ROW + "{'query': 'q'}\n", "line 2: expected a JSON object, found single quotes; JSON takes double quotes"),
        (ROW + '{"query": "q",}\n', 'line 2: expected a JSON object, found a comma before "}"'),
        (ROW + '{"query": }\n', 'line 2: expected a JSON object, found no value before "}"'),
        (ROW + '{"query": "q" "doc": "a"}\n', "line 2: expected a JSON object, found no comma before character 15"),
        (ROW + '{"query" "q"}\n', "line 2: expected a JSON object, found no colon before character 10"),
        (ROW + '{"query": None}\n', "line 2: expected a JSON object, found None, a word that JSON does not have"),
        (ROW + '{"query": "q", "sco', "line 2: expected a JSON object, found a text without its closing quote"),
        (ROW + '{"query": "q"\n', "line 2: expected a JSON object, found an end of the line within the object"),
        ('{\n "query": "q"\n}\n', "line 1: expected a JSON object, found an end of the line within the object"),
        (ROW + '{"query": "q"},\n', 'line 2: expected a JSON object, found "," after it'),
        (ROW + '{"query": "a\tb"}\n', "line 2: expected a JSON object, found a tab or another control character"),
        (ROW + "5\n", "line 2: expected a JSON object, found a number"),
        (ROW + "null\n", "line 2: expected a JSON object, found null"),
        (ROW + "NaN\n", "line 2: expected a number, found NaN, which JSON does not have"),
        (ROW + '"q"\n', "line 2: expected a JSON object, found a text"),
        (ROW + "oops\n", 'line 2: expected a JSON object, found "oops"'),
        (ROW + '{"query": 01}\n', "line 2: expected a JSON object, found no comma before character 12"),
        (ROW + '{"query": "\\q"}\n', "line 2: expected a JSON object, found a backslash"),
        (ROW.encode() + '{"query": "é"}\n'.encode("latin1"), "line 2: expected text in UTF-8, found the byte 0xe9"),
        ('{"query": [1]}\n{"query": 1}\n', ": expected one kind of value in each column, found lists"),
    ],
)
def test_broken_json_lines_are_told_in_plain_words(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in refused(tmp_path, text, "run.jsonl")


@pytest.mark.parametrize("name", ["run.json", "run.jsonl", "run.run"])
def test_a_list_of_objects_is_read_as_lines_are(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[" + ROW.strip() + ",\n" + ROW.replace('"a"', '"b"').strip() + "]\n")
    assert kt.read_runs(str(tmp_path / name)).frame["doc"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" + ROW.strip() + ", 5]", "run.json: expected a list of objects, found 5"),
        ("[" + ROW.strip(), "run.json line 1: expected JSON, found an end in the midst of it; was the file cut short?"),
        (
            "[" + ROW.strip() + "," + ROW.replace("1.0", '"x"').strip() + "]",
            'run.json row 2: expected a number as score, found "x"',
        ),
        (
            "[" + ROW.replace("1.0", "NaN").strip() + "]",
            "run.json: expected numbers, found NaN, which JSON does not have",
        ),
        ("[]", "run.json: expected runs with the columns query, doc, found no columns"),
    ],
)
def test_a_broken_list_of_objects_is_told_in_plain_words(tmp_path: Path, text: str, said: str) -> None:
    assert refused(tmp_path, text, "run.json").startswith(said)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('q,a,1\nq,b,"0,5"x2\n', 3, "more text after the closing quote"),
        ('q,"a\nb",1\nq,"b" c,2\n', 4, "more text after the closing quote"),
        ('q,a,1\nq,"b,2\nq,c,3\n', 3, "a quote that is never closed"),
        ('q,a,1\nq,5" disk,2\nq,c,3\n', 3, "a single quote sign within a cell"),
    ],
)
def test_a_wrong_quote_is_told_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    found = refused(tmp_path, "query,doc,score\n" + text, "run.csv")
    assert found.startswith(f"run.csv line {line}: expected ")
    assert said in found
