"""Every format, spoilt as people spoil it: each variant is refused with the file's name and what was expected."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat as kt
from karat.advice import speak_command_line
from karat.formats.content_type import kind_of

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
    "compared.json": (kt.read_runs, '"queryText"'),
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
    "judges.csv": (kt.read_judgments, "docid"),
    "msmarco.tsv": (kt.read_runs, "\t7\t"),
    "texts.tsv": (kt.read_queries, "\t"),
    "answers.pref": (kt.read_preferences, "d1 d2 d1"),
    "answers.prefs": (kt.read_preferences, "d1 "),
    "crowd-form.csv": (kt.read_judgments, "Input.docid"),
    "radio.csv": (kt.read_judgments, "Input.docid"),
    "metadata.run": (kt.read_runs, "d1 "),
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
    if variant == "two formats" and name in ("basic.csv", "snapshot.csv", "judges.csv"):
        pytest.skip("a text alone in a line is Quepid's query without a rating or document, and counted")
    path = tmp_path / name
    path.write_bytes(VARIANTS[variant](name, SAMPLES[name]))
    with pytest.raises(kt.BadInput) as error:
        FORMATS[name][0](path)
    said = str(error.value)
    assert name in said
    assert "expected" in said
    assert "found" in said


def merged(name: str, other: str) -> bytes:
    """The records of a sample with the names of another beside their own."""
    mine, others = (_records(SAMPLES[one]) for one in (name, other))
    both = [{**others[place % len(others)], **record} for place, record in enumerate(mine)]
    if name.endswith((".csv", ".tsv")):
        return pl.DataFrame(both).write_csv().encode()
    if SAMPLES[name].startswith(b"["):
        return json.dumps(both).encode()
    return "".join(json.dumps(one) + "\n" for one in both).encode()


def _records(data: bytes) -> list[dict[str, Any]]:
    if not data.startswith((b"{", b"[")):
        tab = b"\t" in data.partition(b"\n")[0]
        return pl.read_csv(data, separator="\t" if tab else ",", infer_schema=False).to_dicts()
    found = [json.loads(line) for line in data.splitlines()]
    return found[0] if isinstance(found[0], list) else found


#: Names of two formats in one file: the sample, another whose names stand beside, and what both are called.
TWO_FORMATS = [
    ("opensearch.json", "book.json", "opensearch and quepid"),
    ("evaluated.jsonl", "nuggets.jsonl", "nuggetizer and opensearch"),
    ("compared.json", "nuggets.jsonl", "nuggetizer and opensearch"),
    ("request.json", "case.json", "quepid-case and rank-eval"),
    ("response.json", "opensearch.json", "opensearch and rank-eval"),
    ("judgements.jsonl", "doccano.jsonl", "doccano and relevance-studio"),
    ("evaluations.json", "request.json", "rank-eval and relevance-studio"),
    ("book.json", "case.json", "quepid and quepid-case"),
    ("case.json", "request.json", "quepid-case and rank-eval"),
    ("studio.json", "prodigy.jsonl", "label-studio and prodigy"),
    ("prodigy.jsonl", "doccano.jsonl", "doccano and prodigy"),
    ("doccano.jsonl", "umbrela.jsonl", "doccano and umbrela"),
    ("umbrela.jsonl", "nuggets.jsonl", "nuggetizer and umbrela"),
    ("umbrela.jsonl", "labels.jsonl", "jsonl and umbrela"),
    ("rag-answers.jsonl", "nuggets.jsonl", "nuggetizer and rag-answers"),
    ("nuggets.jsonl", "judgements.jsonl", "nuggetizer and relevance-studio"),
    ("ubi.ndjson", "evaluated.jsonl", "opensearch and ubi"),
    ("mturk.csv", "toloka.tsv", "mturk and toloka"),
    ("mturk.csv", "labels.csv", "csv and mturk"),
    ("toloka.tsv", "appen.csv", "appen, csv and toloka"),
    ("toloka.tsv", "beir.tsv", "csv and toloka"),
    ("appen.csv", "studio.csv", "appen and label-studio"),
    ("studio.csv", "mturk.csv", "csv, label-studio and mturk"),
    ("snapshot.csv", "pyterrier.csv", "csv and quepid-snapshot"),
    ("labels.csv", "snapshot.csv", "csv and quepid-snapshot"),
]


@pytest.mark.parametrize(("name", "other", "both"), TWO_FORMATS)
def test_a_file_that_could_be_in_two_formats_is_refused_with_both_names(
    tmp_path: Path, name: str, other: str, both: str
) -> None:
    (tmp_path / name).write_bytes(merged(name, other))
    with pytest.raises(kt.BadInput, match=f"{name}: expected a file in one format, found names that {both} use; say"):
        FORMATS[name][0](tmp_path / name)


#: Two candidates for one thing within a format: what is spoilt of the sample and how, and what is said of it.
TWICE = [
    ("pyterrier.csv", "docid,docno", "docno,docno", "expected each column once, found docno twice"),
    ("beir.tsv", "corpus-id\tscore", "corpus-id\tcorpus-id", "expected each column once, found corpus-id twice"),
    ("basic.csv", "docid,rating", "docid,docid", "expected each column once, found docid twice"),
    ("snapshot.csv", "Doc Position", "Doc ID", "expected each column once, found Doc ID twice"),
    ("mturk.csv", "WorkTimeInSeconds", "Answer.rel", "expected each column once, found Answer.rel twice"),
    ("toloka.tsv", "ASSIGNMENT:started", "OUTPUT:rel", "expected each column once, found OUTPUT:rel twice"),
    ("appen.csv", "rel,rel_gold", "rel,rel", "expected each column once, found rel twice"),
    ("studio.csv", "updated_at", "rel", "expected each column once, found rel twice"),
    ("crowd-kit.csv", "task,worker", "worker,worker", "expected each column once, found worker twice"),
    ("events.csv", "action,time", "action,action", "expected each column once, found action twice"),
    ("labels.csv", "label,judge", "label,label", "expected each column once, found label twice"),
    ("qrels.txt", "q1 0 d2", "q1 0 d1", "line 2: expected one label for document d1 of query q1"),
    ("a.run", "d2 ", "d1 ", "expected document d1 once in the list of query q1, found it again"),
    ("letor.txt", "qid:1 ", "qid:1 qid:2 ", "line 1: expected a label, qid:QUERY and features"),
    ("classic.txt", "<title>", "<num> Number: 9\n<title>", "line 1: expected a topic with one <num>, found several"),
    ("classic.txt", "<desc>", "<title> other words\n<desc>", "line 1: expected a topic with one <title>"),
    ("topics.xml", "<query>", "<query>other</query><query>", "topic q1: expected one <query>, found 2"),
    ("beir-queries.jsonl", '"_id"', '"_id": "q9", "_id"', '"_id" twice'),
    ("beir-documents.jsonl", '"_id"', '"_id": "d9", "_id"', '"_id" twice'),
    ("nested.json", '"d1"', '"d1": 9.5, "d1"', '"d1" twice'),
    ("predictions.json", '"test"', '"test": {"q1": {"d1": 0.1}}, "test"', '"test" twice'),
    ("opensearch.json", '"docId"', '"docId": "d9", "docId"', '"docId" twice'),
    ("evaluated.jsonl", '"documentIds"', '"documentIds": ["d9"], "documentIds"', '"documentIds" twice'),
    ("compared.json", '"docIds"', '"docIds": ["d9"], "docIds"', '"docIds" twice'),
    ("request.json", '"_id"', '"_id": "d9", "_id"', '"_id" twice'),
    ("response.json", '"_id"', '"_id": "d9", "_id"', '"_id" twice'),
    ("judgements.jsonl", '"rating"', '"rating": 0, "rating"', '"rating" twice'),
    ("evaluations.json", '"searches"', '"searches": [], "searches"', '"searches" twice'),
    ("book.json", '"rating"', '"rating": 0, "rating"', '"rating" twice'),
    ("case.json", '"ratings"', '"ratings": {}, "ratings"', '"ratings" twice'),
    ("studio.json", '"choices":', '"choices": ["0"], "choices":', '"choices" twice'),
    ("prodigy.jsonl", '"answer"', '"answer": "reject", "answer"', '"answer" twice'),
    ("doccano.jsonl", '"docno"', '"docno": "d9", "docno"', '"docno" twice'),
    ("umbrela.jsonl", '"judgment"', '"judgment": 0, "judgment"', '"judgment" twice'),
    ("rag-answers.jsonl", '"references"', '"references": [], "references"', '"references" twice'),
    ("nuggets.jsonl", '"assignment"', '"assignment": "not_support", "assignment"', '"assignment" twice'),
    ("ubi.ndjson", '"user_query"', '"user_query": "other", "user_query"', '"user_query" twice'),
    ("ubi.ndjson", '"object_id"', '"object_id": "d9", "object_id"', '"object_id" twice'),
    ("judges.csv", "Ann,Bob", "Ann,Ann", "expected each column once, found Ann twice"),
    ("msmarco.tsv", "\t14\t", "\t7\t", "expected document 7 once in the list of query 101, found it again"),
    ("texts.tsv", "102\t", "101\t", "expected each query once, found query 101 again"),
    ("answers.pref", "q1 d2 d3 d3", "q1 d2 d2 d2", "line 2: expected two systems, found d2 on both sides"),
    (
        "answers.prefs",
        "s1 d2",
        "s1 d1",
        "line 2: expected one level of a user for a document of a group, found 2.5 for d1 after 3",
    ),
    ("crowd-form.csv", "Input.qid", "Input.docid", "expected each column once, found Input.docid twice"),
    ("radio.csv", "Answer.rel.1", "Answer.rel.0", "expected each column once, found Answer.rel.0 twice"),
    ("metadata.run", "d1 ", "d2 ", "expected document d2 once in the list of query q1, found it again"),
    ("labels.jsonl", '"label"', '"label": 0, "label"', '"label" twice'),
]


@pytest.mark.parametrize(("name", "there", "spoilt", "said"), TWICE)
def test_two_candidates_for_one_thing_are_refused_with_its_name(
    tmp_path: Path, name: str, there: str, spoilt: str, said: str
) -> None:
    data = SAMPLES[name].decode()
    at = data.index(there)
    (tmp_path / name).write_text(data[:at] + spoilt + data[at + len(there) :])
    with pytest.raises(kt.BadInput, match=re.escape(said)) as error:
        FORMATS[name][0](tmp_path / name)
    assert name in str(error.value)


def test_every_format_has_two_candidates_for_one_thing() -> None:
    assert {name for name, *_ in TWICE} == {*FORMATS}


@pytest.mark.parametrize(
    ("name", "text", "kinds"),
    [
        ("x.jsonl", '{"_id": "1", "text": "words"}\n', "queries or documents"),
        ("x.json", '{"q1": {"d1": 1}}', "judgments or runs"),
        ("x.json", '{"judgmentRatings": [], "documentIds": []}', "judgments or runs"),
        ("x.json", '{"requests": [{"ratings": []}], "metric_score": 1, "details": {}}', "judgments or runs"),
        ("x.csv", "query,doc,label,score\nq,d,1,0.5\n", "judgments or runs"),
        ("x.tsv", "1\ttwo words\n2\tmore words\n", "queries or documents"),
    ],
)
def test_a_file_that_could_hold_two_kinds_of_records_is_refused_with_both(
    tmp_path: Path, name: str, text: str, kinds: str
) -> None:
    (tmp_path / name).write_text(text)
    with speak_command_line(), pytest.raises(kt.BadInput, match=f"could be {kinds}; say it with --kind"):
        kind_of(str(tmp_path / name))


@pytest.mark.parametrize("name", FORMATS)
def test_as_they_are_they_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(SAMPLES[name])
    FORMATS[name][0](tmp_path / name)
