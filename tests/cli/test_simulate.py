"""`karat simulate`: studies with known truth, written as files that other commands read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from karat.cli import karat
from karat.errors import BadInput


def run(*words: str) -> Any:
    found = CliRunner().invoke(karat, [*words, "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def test_the_papers_simulation_holds_the_truth_as_often_as_it_should() -> None:
    rows = {row["score"]: row for row in run("simulate", "bronze", "--n-studies", "4000")["rows"]}
    assert rows["naive"]["mean"] == pytest.approx(0.48, abs=0.005)
    assert rows["naive"]["covered"] == pytest.approx(0.05, abs=0.03)
    assert rows["corrected"]["covered"] == pytest.approx(0.945, abs=0.015)


def test_a_lenient_judge_misleads_and_gold_labels_help(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    words = ["--judge", "lenient", "--leniency", "0.3", "--n-gold", "500", "--n-queries", "200", "--out", str(folder)]
    made = run("simulate", "two-systems", *words)
    assert made["truth"]["difference"] == 0.0
    runs = [str(folder / "runs" / "A.run"), str(folder / "runs" / "B.run")]
    naive = run("compare", str(folder / "labels.csv"), *runs, "-m", "P@10")
    gold = run("compare", str(folder / "labels.csv"), *runs, "-m", "P@10", "--gold", str(folder / "gold.csv"))
    assert naive["verdict"] == "better"
    assert gold["verdict"] == "no difference shown"
    assert "simulated" in json.loads((folder / "truth.json").read_text())["simulated"]


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("judging", {"judgments.csv", "gold.csv", "clicks.csv", "documents.jsonl", "runs/bm25.run", "truth.json"}),
        ("context", {"judgments.csv", "documents.jsonl", "pairs.csv", "runs/better.run", "truth.json"}),
        (
            "llm-judge",
            {"judgments.csv", "gold.csv", "preferences.csv", "documents.jsonl", "runs/old.run", "truth.json"},
        ),
        ("preferences", {"preferences.csv", "labels.csv", "runs/s1.run", "truth.json"}),
    ],
)
def test_every_kind_writes_its_files_and_its_truth(kind: str, files: set[str], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    made = run("simulate", kind, "--n-queries", "20", "--out", str(folder))
    assert files <= {*made["files"]}
    assert all((folder / name).is_file() for name in made["files"])
    assert made["truth"].items() <= json.loads((folder / "truth.json").read_text()).items()


def test_what_was_planted_in_the_users_is_in_the_truth(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run("simulate", "preferences", "--n-queries", "10", "--careless", "0.2", "--noise", "0.5", "--out", str(folder))
    truth = json.loads((folder / "truth.json").read_text())
    assert (truth["utility"], truth["careless"], truth["noise"]) == ("nDCG@10", 0.2, 0.5)


@pytest.mark.thorough
def test_a_planted_bias_is_found_in_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run("simulate", "judging", "--seed", "1", "--out", str(folder))
    words = [str(folder / "judgments.csv"), "--gold", str(folder / "gold.csv")]
    words += ["--documents", str(folder / "documents.jsonl")]
    found = CliRunner().invoke(
        karat, ["judges", "bias", *words, "--queries", str(folder / "queries.csv")], catch_exceptions=False
    )
    assert found.exit_code == 0, found.output
    assert "Wikipedia" in found.output.split(".")[0]


def test_nothing_is_written_without_a_folder_and_nothing_overwritten(tmp_path: Path) -> None:
    told = CliRunner().invoke(karat, ["simulate", "two-systems"], catch_exceptions=False)
    assert "name a folder with --out" in told.output
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="a new folder"):
        CliRunner().invoke(karat, ["simulate", "two-systems", "--out", str(tmp_path)], catch_exceptions=False)


def test_more_gold_labels_than_documents_are_refused() -> None:
    with pytest.raises(BadInput, match="at most the 28 documents"):
        CliRunner().invoke(
            karat, ["simulate", "two-systems", "--n-queries", "2", "--n-gold", "100"], catch_exceptions=False
        )
