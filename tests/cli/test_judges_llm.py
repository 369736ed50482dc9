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
        "judge", "answer", "finding", "n_gold", "gold_needed", "rows", "confusion", "mistakes", "notes",
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
