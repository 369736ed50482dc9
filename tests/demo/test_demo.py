"""The demo study: real texts, engines that find them, and a bias that gold labels find out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from commands import typed
from karat.cli import karat
from karat.demo import corpus, demo_study, write_demo
from karat.demo.demo_study import DemoStudy, _graded_only, _searched, _table
from karat.demo.simulated_people import CROWD, FAVOURED, LLM, OTHER, favoured
from karat.errors import BadInput, Undefined
from karat.formats import read_clicks, read_documents, read_judgments, read_preferences, read_queries, read_runs
from karat.judges.judge_table import judge_table
from simulated import THOROUGH, studies
from stories import BLOCK, ROOT, holds, same_lists


@pytest.fixture(scope="module")
def made() -> DemoStudy:
    return demo_study()


@pytest.fixture(scope="module")
def documents() -> pl.DataFrame:
    return corpus.python_documents()


def test_this_pythons_documentation_is_a_few_thousand_texts_with_names_that_python_knows(
    documents: pl.DataFrame,
) -> None:
    assert documents.height > 3000
    known = {*documents["doc"]}
    assert {"shutil.copytree", "builtins.sorted", "os.path.isdir", "itertools.groupby", "topics.yield"} <= known
    assert {"pathlib.Path.glob", "datetime.date.fromisoformat", "decimal.Decimal.to_integral_value"} <= known


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("_pydatetime.py", "datetime"),  # where 3.12 keeps what 3.11 has in datetime.py
        ("pathlib/_local.py", "pathlib"),  # where 3.13 keeps what 3.11 has in pathlib.py
        ("posixpath.py", "os.path"),
        ("json/decoder.py", "json.decoder"),
        ("json/__init__.py", "json"),
        ("_strptime.py", None),
        ("email/_parseaddr.py", None),
        ("unittest/test/support.py", None),
        ("imp.py", None),
    ],
)
def test_a_file_has_the_name_that_all_versions_know(file: str, module: str | None) -> None:
    assert corpus._module(Path(file)) == module


def test_every_question_has_grades_and_subtopics_and_every_grade_a_question() -> None:
    graded, asked = _table("grades.csv"), _table("queries.csv")
    assert asked.height >= 30
    assert {*graded["query"]} == {*asked["query"]} == {*_table("subtopics.csv")["query"]}
    assert {*graded["grade"]} == {"0", "1", "2"}
    assert not graded.select("query", "doc").is_duplicated().any()
    subtopics = {*_table("subtopics.csv").select("query", "subtopic").iter_rows()}
    named = [(q, s) for q, said in graded.select("query", "subtopics").iter_rows() for s in said or ""]
    assert {*named} <= subtopics
    relevant = graded.filter(pl.col("grade") != "0")
    assert relevant["subtopics"].null_count() == 0
    assert relevant["query"].n_unique() == asked.height


def test_the_truth_is_outside_the_naive_interval_and_inside_the_corrected_one(made: DemoStudy) -> None:
    naive, corrected = made.naive.methods.row(0, named=True), made.corrected.methods.filter(pl.col("method") == "ppi")
    assert naive["low"] > made.truth, "labels taken as they are call the hybrid better"
    assert made.naive.verdict == "better"
    assert corrected["low"][0] <= made.truth <= corrected["high"][0]
    assert made.corrected.verdict != "better"
    assert made.found_out


@pytest.mark.evidence
def test_over_seeds_the_corrected_interval_holds_the_truth_and_the_naive_one_does_not() -> None:
    found_out = [demo_study(seed).found_out for seed in studies(3, 60)]
    assert np.mean(found_out) >= (0.9 if THOROUGH else 0.8)


def test_the_same_seed_gives_the_same_study_and_another_one_gives_another() -> None:
    one, same, other = demo_study(3), demo_study(3), demo_study(4)
    assert one.judgments["crowd"].frame.equals(same.judgments["crowd"].frame)
    assert one.preferences.frame.equals(same.preferences.frame)
    assert not one.judgments["llm"].frame.equals(other.judgments["llm"].frame)
    assert one.truth == other.truth, "the hand grades do not depend on a seed"


def test_the_judge_overrates_only_what_the_hybrid_shows_and_bm25_does_not() -> None:
    runs = pl.DataFrame(
        {"system": [FAVOURED, FAVOURED, OTHER], "query": ["q"] * 3, "doc": ["own", "both", "both"], "score": [1.0] * 3}
    )
    pairs = pl.DataFrame({"query": ["q"] * 3, "doc": ["own", "both", "neither"]})
    assert [shift > 0 for shift in favoured(pairs, runs)] == [True, False, False]


def test_what_is_simulated_says_so(made: DemoStudy) -> None:
    for judgments in made.judgments.values():
        assert judgments.frame["group"].str.starts_with("simulated ").all()
    assert made.preferences.frame["group"].str.starts_with("simulated ").all()


def test_the_spammer_is_found(made: DemoStudy) -> None:
    found = judge_table(made.judgments["crowd"]).frame
    assert found.filter(pl.col("likely_spammer"))["judge"].to_list() == [CROWD.names[0]]


def test_the_folder_reads_back(made: DemoStudy, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    files = write_demo(made, str(folder))
    assert all((folder / name).is_file() for name in files)
    assert len(read_queries(str(folder / "queries.csv"))) == len(made.queries)
    assert len(read_judgments(str(folder / "judgments-llm.csv"))) == len(made.hand)
    assert read_judgments(str(folder / "gold.csv")).frame["probability"].null_count() == 0
    assert len(read_preferences(str(folder / "preferences.csv"))) == len(made.preferences)
    assert len(read_clicks(str(folder / "clicks.csv"))) == len(made.clicks)
    shown = read_runs(str(folder / "runs" / "bm25.run"))
    documents = read_documents(str(folder / "documents.jsonl"))
    assert {*shown.frame["doc"]} <= {*documents.frame["doc"]}
    assert read_judgments(str(folder / "hand-subtopics.qrels")).has("subtopic")
    again = write_demo(made, str(folder))
    assert again == files


def test_a_folder_with_other_things_is_left_alone(made: DemoStudy, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(BadInput, match="a new folder"):
        write_demo(made, str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_documents_that_another_python_tells_differently_are_left_out_and_counted() -> None:
    found = _searched()[1]
    graded = _table("grades.csv")
    some = graded.filter(pl.int_range(pl.len()) % 10 != 0)
    runs, notes = _graded_only(found, some)
    assert runs.height < found.height
    assert f"{found.height - runs.height:,} of {found.height:,} results left out" in notes[0]
    with pytest.raises(Undefined, match="standard library"):
        _graded_only(found, graded.head(50))


def test_the_command_prints_the_verdict_and_what_to_type_next_as_the_readme_shows_it(tmp_path: Path) -> None:
    told = typed("karat demo --no-report", tmp_path)
    assert told.returncode == 0, told.stderr
    said = " ".join(told.stdout.split())
    assert "hybrid is better than bm25" in said
    assert "outside the first interval and inside the second" in said
    assert "karat compare karat-demo/judgments-llm.csv" in told.stdout
    if same_lists():
        (block,) = [
            block for command, block in BLOCK.findall((ROOT / "README.md").read_text()) if command == "karat demo"
        ]
        holds("\n".join(line.rstrip() for line in told.stdout.splitlines()), block)
    shown = json.loads(typed("karat demo --no-report --json", tmp_path).stdout)
    assert shown["found_out"] is True
    assert shown["simulated"] == ["judgments", "clicks", "preferences"]
    assert LLM.name in "".join(shown["files"])


@pytest.mark.thorough
def test_the_report_is_written_beside_the_study_and_says_what_was_planted(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    told = CliRunner().invoke(karat, ["demo", str(folder), "--json"], catch_exceptions=False)
    assert json.loads(told.output)["files"][-1] == "report.html"
    page = (folder / "report.html").read_text()
    assert "simulated" in page.casefold()
    assert "The interval of the labels as they are" in page


def test_a_process_that_replaced_hooks_or_added_names_reads_the_same_documentation(
    documents: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    import builtins
    import sys

    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    monkeypatch.setattr(
        builtins,
        "display",
        test_a_process_that_replaced_hooks_or_added_names_reads_the_same_documentation,
        raising=False,
    )
    assert corpus.python_documents().equals(documents)
    assert "sys.unraisablehook" in documents["doc"]
