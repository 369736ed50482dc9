"""`karat context` as people type it, on a simulated study with planted effects."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.simulate import context_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study as files: judgments and a run."""
    folder = tmp_path_factory.mktemp("study")
    made = context_study(seed=1, queries=25)
    kt.write(made.judgments, str(folder / "judgments.csv"))
    kt.write(kt.Runs.of(made.runs.frame.filter(pl.col("system") == "better")), str(folder / "better.run"))
    return folder


@pytest.mark.thorough
def test_the_whole_report_has_every_part_each_with_its_finding(study: Path) -> None:
    done = karat(
        "context",
        str(study / "judgments.csv"),
        str(study / "better.run"),
        *("--draws", "100", "--json"),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("left_out") == []
    assert list(told) == ["coverage", "distribution", "change", "correlation", "prediction", "agreement", "labels"]
    assert all(part["finding"] and part["rows"] for part in told.values())
    assert {row["source"] for row in told["labels"]["Where labels come from"]["rows"]} >= {"judged", "predicted"}


@pytest.mark.parametrize(
    ("part", "finding"),
    [
        ("coverage", "Alone, "),
        ("distribution", "The mean overall grade is "),
        ("change", "Size of change"),
        ("correlation", "Alone, overall goes most with topicality"),
        ("agreement", "On overall, two judges agree with Cohen's kappa"),
    ],
)
def test_a_part_is_printed_with_its_finding_first(study: Path, part: str, finding: str) -> None:
    done = karat("context", part, str(study / "judgments.csv"), "--draws", "100")
    assert done.returncode == 0, done.stderr
    assert finding in "\n".join(done.stdout.splitlines()[:2])
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_no_line_ends_between_a_number_and_its_percent_sign(capsys: pytest.CaptureFixture[str]) -> None:
    from karat.cli.results import console, say

    for width in range(80, 110):
        say(console(), "x" * width + " 61.2 % of documents")
    out = capsys.readouterr().out
    assert "61.2 %" in out
    assert not any(line.endswith("61.2") for line in out.splitlines())


def test_changes_by_a_column_of_the_file(study: Path, tmp_path: Path) -> None:
    frame = kt.read_judgments(str(study / "judgments.csv")).frame
    late = frame.with_columns(half=pl.when(pl.col("query") < "q13").then(pl.lit("first")).otherwise(pl.lit("second")))
    kt.write(kt.Judgments.of(late), str(tmp_path / "judgments.csv"))
    done = karat("context", "change", str(tmp_path / "judgments.csv"), "--by", "half", "--json")
    rows = json.loads(done.stdout)["Mean change by half"]["rows"]
    assert [row["half"] for row in rows if row["aspect"] == "overall"] == ["first", "second"]


@pytest.mark.parametrize("by", ["judge", "query", "context"])
def test_changes_by_who_judged_what(study: Path, by: str) -> None:
    done = karat("context", "change", str(study / "judgments.csv"), "--draws", "0", "--by", by)
    assert done.returncode == 0, done.stderr
    assert f"Mean change by {by}" in done.stdout


def test_what_the_data_cannot_answer_is_said(study: Path, tmp_path: Path) -> None:
    qrels = tmp_path / "plain.qrels"
    qrels.write_text("q1 0 d1 2\nq1 0 d2 0\n")
    done = karat("context", str(qrels))
    assert done.returncode == 0
    assert "left out: coverage: Nothing was asked but overall" in " ".join(done.stdout.split())
    done = karat("context", "change", str(qrels))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "karat: No document was judged in context: there is no change to tell.\n"
    done = karat("context", "taste", str(qrels))
    assert done.returncode == 2
    assert "taste is no file, and no part of" in done.stderr
    assert "coverage, distribution, change" in done.stderr
    (tmp_path / "silent.csv").write_text("query,doc,label\nq1,d1,N/A\n")
    done = karat("context", str(tmp_path / "silent.csv"))
    assert done.returncode == 2
    assert "expected at least one label, found none that says more than N/A" in done.stderr
    done = karat("context", str(study / "judgments.csv"), "--by", "taste")
    assert done.returncode == 2
    assert "expected the column taste for --by" in done.stderr
    done = karat("context", str(study / "judgments.csv"), "--by", "aspect")
    assert (done.returncode, done.stdout) == (2, "")
    assert "found aspect; every aspect has its own row already" in done.stderr
    done = karat("context", str(tmp_path / "none.csv"))
    assert done.returncode == 2
    assert "none.csv is no file" in done.stderr
