"""TREC RAG's answers: sentences in order, what they cite, and what is wrong with a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt

# As the guidelines of the track show them, 2024 and 2025.
OF_2024 = {
    "run_id": "my-run",
    "topic_id": "2024-105741",
    "topic": "is it dangerous to have wbc over 15,000?",
    "references": ["msmarco_v2.1_doc_1#0", "msmarco_v2.1_doc_2#1"],
    "response_length": 6,
    "answer": [{"text": "It can be.", "citations": [1, 0]}, {"text": "Ask a doctor.", "citations": []}],
}
OF_2025 = {
    "metadata": {"team_id": "us", "run_id": "my-run", "narrative_id": "7", "narrative": "How did it begin?"},
    "references": ["a", "b"],
    "answer": [{"text": "So.", "citations": ["b"]}],
}


def written(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    return path


def test_sentences_are_documents_of_the_answers_list_in_their_order(tmp_path: Path) -> None:
    found = kt.read_runs(written(tmp_path, OF_2024, OF_2025)).frame
    assert found.select("system", "query", "doc", "rank").rows() == [
        ("my-run", "2024-105741", "my-run/2024-105741/1", 1),
        ("my-run", "2024-105741", "my-run/2024-105741/2", 2),
        ("my-run", "7", "my-run/7/1", 1),
    ]


def test_citations_by_place_and_by_name_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, OF_2024, OF_2025)
    assert kt.read_documents(path).frame.select("title", "text").rows() == [
        ("cites msmarco_v2.1_doc_2#1, msmarco_v2.1_doc_1#0", "It can be."),
        ("cites nothing", "Ask a doctor."),
        ("cites b", "So."),
    ]
    assert kt.read_queries(path).frame["text"].to_list() == [OF_2024["topic"], "How did it begin?"]


def test_support_of_two_sentences_one_uncited_is_half_recalled_and_whole_precise(tmp_path: Path) -> None:
    labels = [{"query": "2024-105741", "doc": "my-run/2024-105741/1", "label": 2}]
    run = kt.read_runs(written(tmp_path, OF_2024))
    scores = kt.score(labels, run, ["CitationRecall", "CitationPrecision"], draws=0)
    assert scores.to_frame()["value"].to_list() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"run_id": ""}, "expected lines with run_id"),
        ({"answer": "one text"}, "expected lines with run_id"),
        ({"answer": [{"text": 3, "citations": []}]}, "expected sentences with text and citations"),
        ({"answer": [{"text": "a", "citations": [2]}]}, "expected a citation of the 2 references, from 0, found 2"),
    ],
)
def test_what_is_wrong_is_told_with_the_record(tmp_path: Path, spoilt: dict[str, Any], said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        kt.read_runs(written(tmp_path, OF_2025, OF_2024 | spoilt))
