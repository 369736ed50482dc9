"""Parts of an analysis are words after its command; what all of them share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput


def run(*words: str) -> Result:
    return CliRunner().invoke(karat, list(words), catch_exceptions=False)


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three judges of three documents of twelve queries, in the file crowd.csv of this folder."""
    labels = {"a": [2, 2, 1], "b": [1, 0, 0], "c": [2, 1, 1]}
    rows = [
        f"q{q},{doc},{(n + q * j) % 3},j{j}"
        for q in range(12)
        for doc, given in labels.items()
        for j, n in enumerate(given)
    ]
    (tmp_path / "crowd.csv").write_text("\n".join(["query,doc,label,judge", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return "crowd.csv"


@pytest.mark.parametrize(("command", "part"), [("judges", "all"), ("disagree", "weights"), ("context", "all")])
def test_without_a_part_a_command_is_its_first(crowd: str, command: str, part: str) -> None:
    words = [crowd, "--draws", "0", "--json"]
    assert run(command, *words).stdout == run(command, part, *words).stdout
    assert run(command, *words[1:], crowd).stdout == run(command, *words).stdout, "options may come first"


def test_a_part_that_is_none_is_named_with_those_there_are(crowd: str) -> None:
    found = run("judges", "agreemnt", crowd)
    assert found.exit_code == 2
    assert "agreemnt is no file, and no part of" in found.output
    assert "agreement, error, labels, gold" in found.output


def test_a_part_behind_the_labels_is_told_where_it_goes(crowd: str) -> None:
    found = run("judges", crowd, "error")
    assert found.exit_code == 2
    assert "error is a part, which comes first:" in found.output
    assert f"judges error {crowd}" in found.output
    assert "is a part" not in run("judges", crowd, "--error-model", "ordinal", "--draws", "0").output


def test_a_file_that_is_called_like_a_part_is_named_with_its_folder(crowd: str) -> None:
    Path("weights").write_text(Path(crowd).read_text())
    assert run("disagree", "./weights", "--draws", "0").stdout == run("disagree", crowd, "--draws", "0").stdout


def test_a_part_in_json_is_its_first_table_with_the_others_under_their_titles(crowd: str) -> None:
    told = json.loads(run("judges", "distribution", crowd, "--json").stdout)
    assert list(told) == ["finding", "rows", "notes", "Tests"]
    assert list(told["Tests"]) == ["finding", "rows", "notes"]


def test_tab_separated_lines_are_the_table_alone_and_say_what_else_there_is(crowd: str) -> None:
    found = run("judges", "distribution", crowd, "--tsv")
    head, *lines = found.stdout.splitlines()
    rows = json.loads(run("judges", "distribution", crowd, "--json").stdout)["rows"]
    assert head.split("\t") == list(rows[0])
    assert len(lines) == len(rows)
    assert "note: with --json also: Tests" in found.stderr
    with pytest.raises(BadInput, match="choose one"):
        run("judges", "distribution", crowd, "--tsv", "--json")


def test_intervals_have_the_level_that_is_asked_for(crowd: str) -> None:
    wide, narrow = (
        json.loads(run("disagree", crowd, "--level", level, "--json").stdout)["p"]["1"] for level in ("0.99", "0.5")
    )
    assert wide["low"] < narrow["low"] <= narrow["value"] <= narrow["high"] < wide["high"]
