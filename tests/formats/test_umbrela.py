"""UMBRELA's JSON lines, as its three ways of writing them have it, and what its zeros are worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt

#: A record as UMBRELA's documentation shows it.
RECORD = {
    "model": "gpt-4o",
    "query": "how long is life cycle of flea",
    "passage": "The life cycle of a flea can last anywhere from 20 days to an entire year.",
    "prompt": "...",
    "prediction": "The passage directly answers the question...\n\n##final score: 3",
    "judgment": 3,
    "result_status": 1,
}


def written(path: Path, *records: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def test_a_record_is_a_label_of_a_passage_known_by_its_text(tmp_path: Path) -> None:
    judgments = kt.read_judgments(written(tmp_path / "umbrela.jsonl", RECORD))
    row = judgments.frame.row(0, named=True)
    assert (row["query"], row["doc"], row["label"]) == (RECORD["query"], RECORD["passage"], 3)
    assert (row["model"], row["outcome"], judgments.notes) == ("gpt-4o", "graded", ())
    assert "prompt" not in judgments.frame.columns


def test_letters_that_end_a_line_elsewhere_may_stand_in_a_passage(tmp_path: Path) -> None:
    text = "one\u2028two\x85three\x0bfour"
    path = tmp_path / "u.jsonl"
    path.write_text(json.dumps(RECORD | {"passage": text}, ensure_ascii=False) + "\r\n", encoding="utf-8", newline="")
    assert kt.read_judgments(str(path)).frame["doc"].to_list() == [text]


def test_a_zero_that_its_status_calls_unparsed_is_no_label(tmp_path: Path) -> None:
    bad = RECORD | {"prediction": "", "judgment": 0, "result_status": 0, "passage": "other"}
    judgments = kt.read_judgments(written(tmp_path / "u.jsonl", RECORD, bad))
    assert judgments.frame.select("label", "outcome").rows() == [(3.0, "graded"), (None, "invalid")]
    assert judgments.notes[0].endswith("1 answer without a grade, which UMBRELA writes as 0: no label")


def test_without_a_status_the_answer_tells_which_zero_the_model_never_said(tmp_path: Path) -> None:
    old = {name: value for name, value in RECORD.items() if name != "result_status"}
    said = old | {"judgment": 0, "prediction": "##final score: 0", "passage": "a"}
    never = old | {"judgment": 0, "prediction": "I cannot help with that.", "passage": "b"}
    judgments = kt.read_judgments(written(tmp_path / "u.jsonl", old, said, never))
    assert judgments.frame["label"].to_list() == [3.0, 0.0, None]


def test_a_compact_file_cannot_tell_and_says_so(tmp_path: Path) -> None:
    compact = {"query": "q", "passage": "p", "judgment": 0}
    judgments = kt.read_judgments(written(tmp_path / "u.jsonl", compact, compact | {"passage": "r", "judgment": 2}))
    assert judgments.frame["label"].to_list() == [0.0, 2.0]
    assert "of 1 grade 0 nobody can tell whether the model gave it" in judgments.notes[0]


def test_ids_that_a_tool_added_are_taken(tmp_path: Path) -> None:
    known = RECORD | {"qid": "1037798", "docid": "7065735"}
    nested = RECORD | {"query": {"qid": "7", "text": "flea"}, "docid": 5}
    judgments = kt.read_judgments(written(tmp_path / "u.jsonl", known, nested))
    assert judgments.frame.select("query", "doc").rows() == [("1037798", "7065735"), ("7", "5")]


def test_a_record_without_a_judgment_is_refused_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "u.jsonl", RECORD, {"query": "q", "passage": "p"})
    with pytest.raises(kt.BadInput, match="line 2: expected query, passage and judgment as JSON, found no 'judgment'"):
        kt.read_judgments(path)


def test_ordinary_json_lines_are_read_as_ever(tmp_path: Path) -> None:
    path = written(tmp_path / "labels.jsonl", {"query": "q", "doc": "d", "judgment": 2})
    assert kt.read_judgments(path).frame.rows() == [("q", "d", 2.0)]
