"""Every format, spoilt as people spoil it: each variant is refused with the file's name and what was expected."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import karat as kt

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from fuzz_samples import SAMPLES

Read = Callable[[Path], object]
#: A sample of each format with the reader of what it holds, and a name without which there is no id in it.
FORMATS: dict[str, tuple[Read, str]] = {
    "pyterrier.csv": (kt.read_runs, "doc"),
    "beir.tsv": (kt.read_judgments, "corpus-id"),
    "beir-queries.jsonl": (kt.read_queries, '"_id"'),
    "beir-documents.jsonl": (kt.read_documents, '"_id"'),
    "classic.txt": (kt.read_queries, "<num>"),
    "topics.xml": (kt.read_queries, "number="),
    "letor.txt": (kt.read_judgments, "qid:"),
    "nested.json": (kt.read_runs, '"d1": 0.5'),
    "predictions.json": (kt.read_runs, '"d1": 0.5'),
    "opensearch.json": (kt.read_judgments, '"docId"'),
    "evaluated.jsonl": (kt.read_runs, '"searchText"'),
    "request.json": (kt.read_judgments, '"_id"'),
    "response.json": (kt.read_runs, '"_id"'),
    "judgements.jsonl": (kt.read_judgments, '"doc_id"'),
    "evaluations.json": (kt.read_runs, '"scenario_id"'),
    "book.json": (kt.read_judgments, '"doc_id"'),
    "case.json": (kt.read_judgments, '"query_text": "q1"'),
    "basic.csv": (kt.read_judgments, "docid"),
    "snapshot.csv": (kt.read_runs, "Doc ID"),
    "mturk.csv": (kt.read_judgments, "Input.docid"),
    "toloka.tsv": (kt.read_judgments, "INPUT:docid"),
    "appen.csv": (kt.read_judgments, "docno"),
    "studio.json": (kt.read_judgments, '"docid"'),
    "studio.csv": (kt.read_judgments, "docid"),
    "prodigy.jsonl": (kt.read_judgments, '"docid"'),
    "doccano.jsonl": (kt.read_judgments, '"docno"'),
    "crowd-kit.csv": (kt.read_judgments, "task"),
    "umbrela.jsonl": (kt.read_judgments, '"query"'),
    "rag-answers.jsonl": (kt.read_runs, '"topic_id"'),
    "nuggets.jsonl": (kt.read_judgments, '"qid"'),
    "ubi.ndjson": (kt.read_clicks, '"query_id"'),
    "events.csv": (kt.read_clicks, "doc,"),
    "labels.jsonl": (kt.read_judgments, '"doc"'),
    "labels.csv": (kt.read_judgments, "doc,"),
    "qrels.txt": (kt.read_judgments, "d1 "),
    "a.run": (kt.read_runs, "d1 "),
}


def without_ids(name: str, data: bytes) -> bytes:
    word = FORMATS[name][1]
    quote = '"' if word.startswith('"') else ""
    spoilt = {"nested.json": '"d1": "high"', "predictions.json": '"d1": "high"', "case.json": '"query_text": ""'}.get(
        name, f"{quote}odd{quote}"
    )
    return data.replace(word.encode(), (spoilt + ("," if word.endswith(",") else "")).encode())


def nested_too_deep(name: str, data: bytes) -> bytes:
    return json.dumps([[json.loads(line)] for line in data.splitlines()]).encode()


VARIANTS: dict[str, Callable[[str, bytes], bytes]] = {
    "without ids": without_ids,
    "empty": lambda name, data: b"",
    "blank": lambda name, data: b"\n  \n",
    "two formats": lambda name, data: data + b"\n" + SAMPLES["topics.xml" if name != "topics.xml" else "labels.csv"],
    "nested otherwise": nested_too_deep,
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_spoilt_file_is_refused_with_its_name_and_what_was_expected(tmp_path: Path, name: str, variant: str) -> None:
    if variant == "nested otherwise" and not SAMPLES[name].lstrip().startswith((b"{", b"[")):
        pytest.skip("no JSON")
    if variant == "two formats" and name in ("basic.csv", "snapshot.csv"):
        pytest.skip("a text alone in a line is Quepid's query without a rating or document, and counted")
    path = tmp_path / name
    path.write_bytes(VARIANTS[variant](name, SAMPLES[name]))
    with pytest.raises(kt.BadInput) as error:
        FORMATS[name][0](path)
    said = str(error.value)
    assert name in said
    assert "expected" in said
    assert "found" in said


@pytest.mark.parametrize("name", FORMATS)
def test_as_they_are_they_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(SAMPLES[name])
    FORMATS[name][0](tmp_path / name)
