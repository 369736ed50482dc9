"""`karat report`: from a folder or named files to a page, pictures and tables."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from karat.cli import karat
from karat.errors import BadInput

EXAMPLE = "examples/python-docs"


@pytest.fixture
def files(tmp_path):
    """Two runs and labels for nine queries."""
    labels = "".join(f"q{i} 0 x {i % 2 + 1}\nq{i} 0 y 0\n" for i in range(9))
    (tmp_path / "qrels.txt").write_text(labels)
    for name, order in (("one", "xy"), ("two", "yx")):
        lines = [f"q{i} Q0 {doc} {rank + 1} {2 - rank} {name}" for i in range(9) for rank, doc in enumerate(order)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(karat, ["report", *map(str, arguments)])


def named(files):
    return [files / "qrels.txt", files / "one.run", files / "two.run", "--draws", "100"]


def test_named_files_make_a_page_and_the_verdict_is_printed(files):
    said = run(*named(files), "-o", files / "page.html")
    assert said.exit_code == 0, said.output
    assert "two is worse than one by nDCG@10" in said.stdout
    assert "Wrote" in said.stdout
    assert (files / "page.html").read_text().startswith("<!doctype html>")


def test_a_folder_with_runs_beside_the_labels_is_a_study(files):
    said = run(files, "-o", files / "page.html", "--draws", 100, "--json")
    document = json.loads(said.stdout)
    assert document["finding"] == "two is worse than one by nDCG@10."
    assert document["comparison"]["verdict"] == "worse"
    assert document["written"] == [str(files / "page.html")]
    assert document["sections"]["users"]["said"] == ["Not in this report: there are no preferences and no clicks."]


def test_tables_alone_write_no_page(files):
    said = run(*named(files), "--out", files / "tables.tex")
    assert said.exit_code == 0, said.output
    assert "\\toprule" in (files / "tables.tex").read_text()
    assert not (files / "report.html").exists()


def test_charts_go_to_a_folder(files):
    said = run(*named(files), "-o", files / "page.html", "--charts", files / "pictures")
    assert said.exit_code == 0, said.output
    names = {path.name for path in (files / "pictures").iterdir()}
    assert {"scores.svg", "scores.png", "scores.csv"} <= names


def test_nothing_named_and_bad_places_are_said_before_any_work(files):
    assert "Missing argument 'LABELS'" in run().output
    for arguments, words in (
        ([*named(files), "-o", files / "no" / "page.html"], "no such folder"),
        ([*named(files), "--difference", "0"], "a number above 0"),
        ([files / "nowhere"], "no such file"),
    ):
        said = run(*arguments)
        assert isinstance(said.exception, BadInput)
        assert words in str(said.exception)
