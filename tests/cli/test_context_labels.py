"""`karat context --part labels` tells how well labels in context are predicted, and writes them for `karat score`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import karat as kt
from karat.cli import karat
from karat.simulate.context import context_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study")
    study = context_study(seed=1, queries=30)
    kt.write(study.judgments, str(path / "judgments.csv"))
    kt.write(study.documents, str(path / "documents.jsonl"))
    kt.write(study.runs, str(path / "runs.csv"))
    return path


def call(*words: str) -> Result:
    return CliRunner().invoke(karat, list(words), catch_exceptions=False)


def test_labels_in_context_are_written_and_scored_with(folder: Path) -> None:
    out = str(folder / "labels.csv")
    asked = ["context", str(folder / "judgments.csv"), "--part", "labels", "--runs", str(folder / "runs.csv")]
    found = call(*asked, "--draws", "0", "--depth", "5", "--out", out)
    assert found.exit_code == 0
    assert "Wrote" in found.stderr
    labels = kt.read_judgments(out)
    assert {"judged", "predicted"} <= set(labels.frame["source"])
    scored = json.loads(call("score", out, str(folder / "runs.csv"), "-m", "CCG(context=0.5)@5", "--json").stdout)
    direct = kt.score(kt.read_runs(str(folder / "runs.csv")), labels, "CCG(context=0.5)@5")
    assert [system["system"] for system in scored["systems"]] == direct.best_first()


def test_the_report_has_accuracy_predictors_and_sources(folder: Path) -> None:
    asked = ["context", str(folder / "judgments.csv"), "--part", "labels", "--runs", str(folder / "runs.csv")]
    said = call(
        *asked, "--draws", "0", "--model", "ordinal", "--expected", "--documents", str(folder / "documents.jsonl")
    )
    for words in ("held-out queries", "right most often", "the label in context is judged for"):
        assert words in " ".join(said.output.split())


def test_labels_are_written_for_runs_only_and_into_tables_only(folder: Path) -> None:
    asked = ["context", str(folder / "judgments.csv"), "--part", "labels"]
    with pytest.raises(kt.BadInput, match="add --runs"):
        call(*asked, "--out", str(folder / "labels.csv"))
    with pytest.raises(kt.BadInput, match="several for"):
        call(*asked, "--runs", str(folder / "runs.csv"), "--out", str(folder / "labels.qrels"))
