"""`karat plan pairs` as people type it: counts first, a file only when asked for."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput
from karat.simulate import preference_study


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(karat, ["plan", "pairs", *map(str, words)], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = preference_study(queries=30, systems=5, subtopics=4, relevant=0.06, judges=1, seed=2)
    place = tmp_path_factory.mktemp("plan")
    made.judgments.frame.write_csv(place / "labels.csv")
    made.runs.frame.drop("team").write_csv(place / "runs.csv")
    (place / "teams.csv").write_text("system,team\ns1,x\ns2,x\ns3,y\ns4,y\ns5,z\n")
    return place


def given(folder: Path) -> list[str | Path]:
    return [folder / "labels.csv", folder / "runs.csv", "--teams", folder / "teams.csv", "--hopeless", "1"]


def test_the_counts_come_first_and_no_file_is_written(folder: Path) -> None:
    before = sorted(folder.iterdir())
    done = run(*given(folder))
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert "worth showing" in lines[0]
    assert "systems of different teams" in done.stdout
    assert "Write them with --out." in lines[-2]
    assert "without a relevant document in the labels left out" in lines[-1]
    assert max(len(line) for line in lines[:-2]) <= 100
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_the_task_file_holds_every_comparison(folder: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"tasks.{ending}"
    document = json.loads(run(*given(folder), "--judges-each", "3", "--out", out, "--json").stdout)
    read = {"jsonl": pl.read_ndjson, "csv": pl.read_csv, "parquet": pl.read_parquet}[ending](out)  # type: ignore[operator]
    # Of four subtopics each, those that a document serves, to three judges.
    labels = pl.read_csv(folder / "labels.csv").filter(pl.col("label") > 0).select("query", "subtopic").unique()
    questions = pl.DataFrame(document["pairs"]).select("query", "a", "b").join(labels, on="query")
    assert read.filter(~pl.col("trap")).height == questions.height * 3 < len(document["pairs"]) * 4 * 3
    assert {"task", "round", "block", "place", "query", "subtopic", "left", "right", "trap", "expected"} <= {
        *read.columns
    }
    assert document["rows"][0]["pairs"] == 300
    assert document["rows"][-1]["pairs"] == len(document["pairs"]) > 0
    docs = read["left_docs"][0]
    assert len(docs.split() if ending == "csv" else docs) == 10


def test_when_nothing_is_left_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    done = run(*given(folder), "--min-difference", "StRecall@10=1.5", "--out", tmp_path / "tasks.csv")
    assert done.exit_code == 0
    assert "was not written" in done.stdout
    assert not (tmp_path / "tasks.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--min-difference", "StRecall@10"], "MEASURE=X"),
        (["--relevant-gap", "few"], "a whole number, or any"),
        (["--out", "tasks.docx"], "ends in .csv, .tsv, .jsonl or .parquet"),
        (["--min-difference", "nDGC@10=0.1"], "did you mean nDCG"),
    ],
)
def test_bad_options_are_named(folder: Path, words: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        run(*given(folder), *words)


def test_a_system_of_two_teams_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "teams.csv").write_text("system,team\ns1,x\ns1,x\ns2,x\ns2,y\n")
    with pytest.raises(BadInput, match="one team for a system, found s2 in x and y"):
        run(folder / "labels.csv", folder / "runs.csv", "--teams", tmp_path / "teams.csv")
