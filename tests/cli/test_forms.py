"""Every command that prints a table prints it for a paper, writes it as a name's ending tells, and draws it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from commands import karat
from karat.simulate import judging_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    made = judging_study(queries=12, docs=6, seed=1)
    made.judgments.frame.filter(pl.col("group") == "crowd").write_csv(folder / "crowd.csv")
    made.gold.frame.write_csv(folder / "gold.csv")
    for name in ("bm25", "production"):
        made.runs.frame.filter(pl.col("system") == name).drop("team", strict=False).write_csv(folder / f"{name}.csv")
    return folder


def typed(study: Path, words: str) -> str:
    there = {path.name for path in study.iterdir()}
    done = karat(*(str(study / word) if word in there or word.startswith("out.") else word for word in words.split()))
    assert done.returncode == 0, done.stderr
    return done.stdout


#: A command of each way in which tables are told.
LINES = [
    "score crowd.csv bm25.csv production.csv -m nDCG@5,P@5 --draws 100",
    "compare crowd.csv bm25.csv production.csv -m P@5",
    "judges agreement crowd.csv --gold gold.csv --draws 100",
    "judges all crowd.csv --gold gold.csv --draws 100",
    "disagree crowd.csv --top 4 --draws 100",
    "plan power --difference 0.1 --sd-difference 0.2",
    "correct --score 0.6 --n-queries 100 --relevant 43/59 --nonrelevant 67/84 --draws 100",
    "simulate bronze --n-studies 10",
]


@pytest.mark.parametrize("line", LINES)
def test_a_table_is_printed_as_latex_and_written_as_its_ending_tells(study: Path, line: str) -> None:
    printed = typed(study, f"{line} --latex")
    assert printed.count("\\toprule") == printed.count("\\bottomrule") >= 1
    for ending, first in ((".tex", "% Made by karat"), (".md", ""), (".html", "<!doctype html>")):
        typed(study, f"{line} --out out.table{ending}")
        assert (study / f"out.table{ending}").read_text().startswith(first)
    assert (study / "out.table.tex").read_text() == printed


def test_frames_and_documents_are_written_whole_those_of_further_tables_beside_the_first(study: Path) -> None:
    line = "judges gold crowd.csv --gold gold.csv"
    document = json.loads(typed(study, f"{line} --json"))
    for ending, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        typed(study, f"{line} --out out.t.{ending}")
        assert read(study / f"out.t.{ending}").height == len(document["rows"])
        further = read(study / f"out.t-error-distribution.{ending}")
        assert further.height == len(document["Error distribution"]["rows"])
    typed(study, f"{line} --out out.t.json")
    assert json.loads((study / "out.t.json").read_text()) == document


@pytest.mark.parametrize(
    ("ending", "first"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE html>")]
)
def test_a_chart_is_drawn_in_the_form_of_its_ending(study: Path, ending: str, first: bytes) -> None:
    typed(study, f"judges error crowd.csv --plot out.f.{ending}")
    assert (study / f"out.f.{ending}").read_bytes().lstrip().startswith(first)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--out out.t.docx", "--out: expected a name that ends in .tex, .md, .html, .csv, .tsv, .json or .parquet"),
        ("--out crowd.csv", "--out: expected a file that is not read"),
        ("--plot out.f.gif", "--plot: expected a name that ends in .svg, .png, .pdf or .html"),
        ("--plot no/such.svg", "--plot: expected a file in a folder that is there"),
        ("--latex --json", "--json and --latex both want the standard output: choose one"),
    ],
)
def test_a_form_that_cannot_be_is_refused(study: Path, words: str, said: str) -> None:
    there = {path.name for path in study.iterdir()}
    line = [str(study / word) if word in there else word for word in f"judges error crowd.csv {words}".split()]
    done = karat(*line)
    assert done.returncode == 2
    assert said in done.stderr


def test_where_there_is_nothing_to_draw_the_table_is_told_and_the_reason(study: Path) -> None:
    done = karat("judges", "error", str(study / "crowd.csv"), "--plot", str(study / "out.f.svg"))
    assert done.returncode == 0
    done = karat("plan", "context", str(study / "bm25.csv"), "--plot", str(study / "none.svg"))
    assert done.returncode == 1
    assert "there is no chart for this result" in done.stderr
    assert not (study / "none.svg").exists()
