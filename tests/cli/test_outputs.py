"""No command writes over a file that it reads."""

from __future__ import annotations

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


CORRELATION = "validate preferences.csv --part correlation --runs runs.csv --labels labels.csv --picture"


@pytest.mark.parametrize(
    "words",
    [
        "plan pairs labels.csv runs.csv --out runs.csv",
        "plan pairs labels.csv runs.csv --out ./labels.csv",
        "plan pairs labels.csv runs.csv --out linked.csv",
        "plan gold labels.csv runs.csv -n 5 --out runs.csv",
        "plan gold labels.csv runs.csv -n 5 --force --out labels.csv",
        "plan context runs.csv --out runs.csv",
        "context labels.csv --part labels --runs runs.csv --out labels.csv",
        "validate preferences.csv --part reasons --out preferences.csv",
        f"{CORRELATION} labels.csv",
        f"{CORRELATION} preferences.csv",
    ],
)
def test_an_output_that_is_an_input_is_refused_and_the_file_is_left_alone(folder: Path, words: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(BadInput, match=r"expected a file that is not read"):
        CliRunner().invoke(karat, words.split(), catch_exceptions=False)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--part ranking --how mode", "part ranking takes no --how"),
        ("--part tables -m P@10", "part tables takes no --measure"),
        ("--part fit --vary p --by subtopic", "part fit takes no --by"),
        ("--part curves --at-least 2", "part curves takes no --at-least"),
        ("--picture p.svg", "part agreement takes no --picture"),
        ("--part coders --folds 3", "part coders takes no --folds"),
        ("--part votes --part ranking --ties in", "part votes and ranking takes no --ties"),
    ],
)
def test_an_option_that_a_part_does_not_take_is_refused(folder: Path, words: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        CliRunner().invoke(karat, ["validate", "preferences.csv", *words.split()], catch_exceptions=False)


def test_an_option_that_one_of_the_asked_parts_takes_is_accepted(folder: Path) -> None:
    words = ["validate", "preferences.csv", "--part", "votes", "--part", "ranking", "--how", "mode", "--draws", "0"]
    assert CliRunner().invoke(karat, words, catch_exceptions=False).exit_code == 0
