"""`karat judges llm`: the sheet as people type it and read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from commands import typed
from karat.simulate import Faults, llm_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("llm")
    study = llm_study(
        queries=20, documents=10, gold_share=0.5, faults=Faults(raised={"claim": 0.2}), texts=True, seed=3
    )
    for name, records in (
        ("llm.csv", study.labels),
        ("gold.csv", study.gold),
        ("both.csv", study.preferences),
        ("docs.jsonl", study.documents),
        ("queries.csv", study.queries),
    ):
        kt.write(records, path / name)
    plain = study.labels.frame.filter(study.labels.frame["altered"].is_null()).drop_nulls("label")
    plain.select("query", "doc", "label").unique(["query", "doc"]).write_csv(path / "plain.csv")
    return path


def said(words: str, folder: Path, code: int = 0) -> str:
    done = typed(f"karat judges llm {words}", folder)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


ALL = "llm.csv --gold gold.csv --preferences both.csv --documents docs.jsonl --queries queries.csv --draws 100"


def test_the_answer_comes_first_and_everything_fits_100_columns(folder: Path) -> None:
    lines = said(ALL, folder).splitlines()
    assert lines[0].startswith("Use simulated")
    assert max(len(line.rstrip()) for line in lines) <= 100
    for title in ("Where it errs", "How often each gold grade", "Its most telling mistakes"):
        assert any(line.startswith(title) for line in lines)


def test_the_document_has_every_figure_and_the_lines_too(folder: Path) -> None:
    document: dict[str, Any] = json.loads(said(f"{ALL} --json", folder))
    (sheet,) = document["judges"]
    assert {*sheet} == {
        "judge", "answer", "finding", "n_gold", "gold_needed", "pairs", "favoured", "rows", "confusion",
        "mistakes", "notes",
    }  # fmt: skip
    lines = said(f"{ALL} --tsv", folder).splitlines()
    assert len(lines) == len(sheet["rows"]) + 1
    assert lines[0].split("\t")[:4] == ["judge", "part", "figure", "of"]


def test_a_judge_without_a_name_is_called_by_its_file(folder: Path) -> None:
    assert "plain" in said("plain.csv --gold gold.csv --draws 100", folder).splitlines()[0]


def test_further_files_are_further_judges(folder: Path) -> None:
    document = json.loads(said("plain.csv --labels llm.csv --gold gold.csv --draws 100 --json --group plain", folder))
    assert [sheet["judge"] for sheet in document["judges"]] == ["plain"]
    assert any(row["part"] == "people" for row in document["judges"][0]["rows"])


def test_what_cannot_be_is_said_plainly(folder: Path) -> None:
    assert 'found "nobody"' in said("llm.csv --group nobody", folder, 2)
    assert 'found "nobody"' in said("llm.csv --llm-judge nobody", folder, 2)
    assert "give one of the two" in said("llm.csv --llm-judge simulated --group llm", folder, 2)
    assert "expected a number of grades above 0" in said("llm.csv --gold gold.csv --width 0", folder, 2)
    assert said("llm.csv --draws 100", folder).startswith("Cannot say whether simulated can be trusted")


@pytest.fixture(scope="module")
def tools(folder: Path) -> Path:
    """The same labels as UMBRELA, Quepid and a table of one's own have them, and each with something wrong in it."""
    queries = dict(kt.read_queries(folder / "queries.csv").frame.select("query", "text").rows())
    texts = dict(kt.read_documents(folder / "docs.jsonl").frame.select("doc", "text").rows())
    rows = kt.read_judgments(folder / "plain.csv").frame.rows()
    lines = [
        json.dumps({"model": "gpt", "query": queries[q], "passage": texts[d], "judgment": g, "result_status": 1})
        for q, d, g in rows
    ]
    book = {
        "name": "book",
        "query_doc_pairs": [
            {"query_text": q, "doc_id": d, "judgements": [{"rating": g, "user_email": "ai@example.com"}]}
            for q, d, g in rows
        ],
    }
    own = ["query_id,doc_id,relevance,model,prompt", *(f"{q},{d},{g:g},gpt,basic" for q, d, g in rows)]
    for name, bad in (("", False), ("-bad", True)):
        (folder / f"umbrela{name}.jsonl").write_text("\n".join([*lines, *(['{"query": "q"}'] if bad else [])]))
        if bad:
            book["query_doc_pairs"][0]["judgements"][0]["rating"] = "wow"  # type: ignore[index]
            own[4] = own[4].replace(own[4].split(",")[2] + ",gpt", "nine,gpt")
        (folder / f"book{name}.json").write_text(json.dumps(book))
        (folder / f"own{name}.csv").write_text("\n".join(own))
    return folder


@pytest.mark.parametrize(
    ("words", "judge", "bad"),
    [
        ("umbrela.jsonl --queries queries.csv --documents docs.jsonl", "gpt", "expected query, passage and judgment"),
        ("book.json --llm-judge ai@example.com", "ai@example.com", 'row 1: expected a number as label, found "wow"'),
        ("own.csv", "gpt", 'own-bad.csv line 5: expected a number as label (column relevance), found "nine"'),
    ],
)
def test_labels_of_other_tools_have_the_same_sheet(tools: Path, words: str, judge: str, bad: str) -> None:
    file, _, more = words.partition(" ")
    ours, theirs = (
        json.loads(said(f"{labels} --gold gold.csv --draws 0 --json", tools))["judges"][0]
        for labels in ("plain.csv", words)
    )
    assert theirs["judge"] == judge
    figures = ("ordinal alpha with gold", "grade less gold", "one gold label is worth")
    told = [
        {row["figure"]: row["value"] for row in one["rows"] if row["of"] in ("", "with its grades")}
        for one in (ours, theirs)
    ]
    assert {name: told[1][name] for name in figures} == pytest.approx({name: told[0][name] for name in figures})
    assert bad in said(f"{file.replace('.', '-bad.')} {more} --gold gold.csv", tools, 2)


def test_labels_known_by_texts_that_nobody_tells_are_explained(tools: Path) -> None:
    answer = " ".join(said("umbrela.jsonl --gold gold.csv --draws 0", tools).split())
    assert "no document has both a grade of it and a gold label" in answer
    assert "where a tool knows them by their texts, queries and documents tell whose they are" in answer
