"""`karat validate` as people type it: agreement, the paper's tables, votes, ranking, correlation."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput, Undefined
from karat.simulate import preference_study


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(karat, ["validate", *map(str, words)], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = preference_study("nDCG@10", queries=25, systems=4, subtopics=2, relevant=0.1, careless=0.1, seed=9)
    place = tmp_path_factory.mktemp("users")
    made.preferences.frame.write_csv(place / "preferences.csv")
    made.judgments.frame.write_csv(place / "labels.csv")
    made.queries.frame.write_csv(place / "queries.csv")
    for name in made.runs.systems:
        made.runs.frame.filter(pl.col("system") == name).drop("team").write_csv(place / f"{name}.csv")
    return place


def files(folder: Path) -> list[str | Path]:
    return [folder / "preferences.csv", folder / "labels.csv", *(folder / f"s{n}.csv" for n in range(1, 5))]


def test_the_first_line_is_the_finding_and_lines_fit_the_terminal(folder: Path) -> None:
    done = run(*files(folder), "-m", "nDCG@10", "P@10", "--unit", "subtopic", "--split", "zero", "--draws", "200")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert "agrees with users in" in lines[0]
    assert max(len(line) for line in lines) <= 100
    assert "one scores 0" in done.stdout
    assert "failed a trap" in done.stdout


def test_json_rows_have_the_promised_columns(folder: Path) -> None:
    done = run(*files(folder), "-m", "nDCG@10,RR@10", "-m", "P@10", "--split", "difference", "--draws", "0", "--json")
    document = json.loads(done.stdout)
    assert list(document) == ["finding", "rows", "between_measures", "between_splits", "ceiling", "notes"]
    assert [row["measure"] for row in document["rows"] if row["split"] == "all"] == ["nDCG@10", "RR@10", "P@10"]
    for row in document["rows"]:
        assert {"measure", "split", "agree", "equal", "disagree", "ties", "n", "p"} <= set(row)
        assert row["agree"] + row["equal"] + row["disagree"] == row["n"]


def test_kinds_come_from_the_queries(folder: Path) -> None:
    words = ["--split", "kind", "--queries", folder / "queries.csv", "--draws", "0", "--json"]
    splits = {row["split"] for row in json.loads(run(*files(folder), *words).stdout)["rows"]}
    assert splits == {"all", "kind ambiguous", "kind faceted"}


def test_all_tables_come_by_one_call(folder: Path) -> None:
    done = run("tables", *files(folder), "--queries", folder / "queries.csv", "--draws", "0")
    assert [f"Table {n}." in done.stdout for n in range(1, 10)] == [True] * 9


def test_a_ranking_needs_no_runs(folder: Path) -> None:
    document = json.loads(run("ranking", folder / "preferences.csv", "--draws", "200", "--json").stdout)
    assert {row["system"] for row in document["rows"]} == {"s1", "s2", "s3", "s4"}
    assert "prefer a side" in run("votes", folder / "preferences.csv").stdout


def test_correlations_are_drawn_when_asked_for(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "measures.svg"
    done = run("correlation", *files(folder)[1:], "-m", "nDCG@10,RR", "--plot", picture)
    assert "least alike" in done.stdout
    assert picture.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["preferences.csv"], BadInput, "expected labels to score the runs with, found nothing"),
        (["preferences.csv", "labels.csv"], BadInput, r"expected labels, then the runs .*found .*labels\.csv"),
        (["preferences.csv", "labels.csv", "s1.csv"], BadInput, "the systems that users compared, such as s2"),
        (["agreement", "nothing.csv"], BadInput, "no such file"),
        (["preferences.csv", "labels.csv", "s1.csv", "-m", "nDGC"], BadInput, "did you mean nDCG"),
        (["votes", "one.csv"], Undefined, "no answer is left"),
    ],
)
def test_bad_input_is_named(folder: Path, words: list[str], error: type[Exception], said: str) -> None:
    (folder / "one.csv").write_text("query,left,right,choice,judge,trap,expected\nq,a,b,left,ann,true,right\n")
    placed = [str(folder / word) if word.endswith(".csv") else word for word in words]
    with pytest.raises(error, match=said):
        run(*placed)


def test_tables_in_json_have_their_names(folder: Path) -> None:
    document = json.loads(run("tables", *files(folder), "--draws", "0", "--json").stdout)
    assert list(document) == [f"Table {n}" for n in range(1, 9)]


def test_judges_of_preferences_have_a_table(tmp_path: Path) -> None:
    rows = ["query,left,right,judge,choice,seconds"]
    for number in range(20):
        left, right = ("a", "b") if number % 2 else ("b", "a")
        rows += [f"q{number},{left},{right},ann,{'left' if number % 2 else 'right'},20"]
        rows += [f"q{number},{left},{right},eve,left,1"]
    (tmp_path / "said.csv").write_text("\n".join(rows))
    done = run("judges", tmp_path / "said.csv")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("1 of 2 judges to look at: eve (always left")
