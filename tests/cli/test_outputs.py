"""No command writes over a file that it reads."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from karat.cli import karat
from karat.errors import BadInput
from karat.simulate import preference_study


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = preference_study(queries=10, systems=3, subtopics=2, relevant=0.1, judges=2, seed=1)
    made.preferences.frame.with_columns(reason=pl.lit("better")).write_csv(tmp_path / "preferences.csv")
    made.judgments.frame.write_csv(tmp_path / "labels.csv")
    made.runs.frame.drop("team").write_csv(tmp_path / "runs.csv")
    (tmp_path / "linked.csv").symlink_to(tmp_path / "runs.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


CORRELATION = "validate correlation labels.csv runs.csv --plot"


@pytest.mark.parametrize(
    "words",
    [
        "plan pairs labels.csv runs.csv --out runs.csv",
        "plan pairs labels.csv runs.csv --out ./labels.csv",
        "plan pairs labels.csv runs.csv --out linked.csv",
        "plan gold labels.csv runs.csv -n 5 --out runs.csv",
        "plan gold labels.csv runs.csv -n 5 --force --out labels.csv",
        "plan context runs.csv --out runs.csv",
        "context labels labels.csv runs.csv --out labels.csv",
        "validate reasons preferences.csv --out preferences.csv",
        f"{CORRELATION} labels.csv",
        f"{CORRELATION} runs.csv",
    ],
)
def test_an_output_that_is_an_input_is_refused_and_the_file_is_left_alone(folder: Path, words: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(BadInput, match=r"expected a file that is not read"):
        CliRunner().invoke(karat, words.split(), catch_exceptions=False)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("part", "option"),
    [
        ("ranking", "--how"),
        ("tables", "--measure"),
        ("fit", "--how"),
        ("curves", "--min-strength"),
        ("agreement", "--alpha"),
        ("votes", "--draws"),
    ],
)
def test_an_option_that_does_nothing_for_a_part_is_not_there(folder: Path, part: str, option: str) -> None:
    found = CliRunner().invoke(karat, ["validate", part, "preferences.csv", option, "1"])
    assert found.exit_code == 2
    assert re.search(f"No such option:? '?{option}", found.output)  # as Click's versions put it
