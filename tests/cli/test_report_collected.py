"""`karat report` on the folder of a served study: what was collected is in it, or it is said why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store

QUERIES = [f"q{number}" for number in range(9)]


def run(*arguments: object) -> Result:
    found = CliRunner().invoke(karat, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def report(folder: Path, *options: object) -> tuple[dict[str, Any], str]:
    done = run("report", folder, "-o", folder / "page.html", "--draws", 100, "--json", *options)
    return json.loads(done.stdout), done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study of two systems for nine queries; the first shows the good document first."""
    place = tmp_path / "study"
    run("init", place, "--empty")
    (place / "runs").mkdir(exist_ok=True)
    for name, order in (("one", "xy"), ("two", "yx")):
        lines = [f"{q} Q0 {doc} {rank + 1} {2 - rank} {name}" for q in QUERIES for rank, doc in enumerate(order)]
        (place / "runs" / f"{name}.run").write_text("\n".join(lines) + "\n")
    (place / "tasks.csv").write_text("query,doc\n" + "".join(f"{q},{doc}\n" for q in QUERIES for doc in "xy"))
    run("import", place, place / "tasks.csv")
    return place


def judge(folder: Path, database: str | None = None) -> None:
    store = Store.open(database or str(folder / "karat.db"), read_study(str(folder)).study)
    number = add_judge(store)[0]["id"]
    while (turn := next_task(store, number)).task is not None:
        asked = turn.task
        label = float(asked["doc"] == "x") * (1 + QUERIES.index(asked["query"]) % 2)
        answer(store, number, asked["id"], Answer(label=label, surface="page" if label else "snippet"))
    store.close()


def test_what_was_collected_is_in_the_report(folder: Path) -> None:
    judge(folder)
    said, notes = report(folder)
    assert said["finding"] == "two is worse than one by nDCG@10."
    assert "18 judgments collected in karat.db are used" in notes


def test_what_was_collected_elsewhere_is_in_the_report_when_the_place_is_named(folder: Path, postgres: str) -> None:
    run("import", folder, folder / "tasks.csv", "--database", postgres)
    judge(folder, postgres)
    said, notes = report(folder, "--database", postgres)
    assert said["finding"] == "two is worse than one by nDCG@10."
    assert "18 judgments collected in the database are used" in notes


def test_a_database_needs_the_folder_of_its_study(folder: Path) -> None:
    with pytest.raises(BadInput, match="--database: expected the study's folder beside it, found none"):
        run("report", folder / "tasks.csv", "--database", "postgresql://localhost/karat")


def test_a_file_of_judgments_stands_before_the_database_and_this_is_said(folder: Path) -> None:
    judge(folder)
    rows = [f"{q},{doc},{int(doc == 'y') * (1 + n % 2)}\n" for n, q in enumerate(QUERIES) for doc in "xy"]
    (folder / "judgments.csv").write_text("query,doc,label\n" + "".join(rows))
    said, notes = report(folder)
    assert said["finding"] == "two is better than one by nDCG@10."
    assert "judgments.csv is used" in notes
    assert "18 judgments collected in karat.db are left aside" in notes


def test_labels_that_a_plan_drew_are_gold_labels_beside_a_file_of_labels(folder: Path) -> None:
    rows = [f"{q},{doc},{int(doc == 'y') * (1 + n % 2)}\n" for n, q in enumerate(QUERIES) for doc in "xy"]
    (folder / "judgments.csv").write_text("query,doc,label\n" + "".join(rows))
    drawn = [f"{q},{doc},,1.0\n" for q in QUERIES for doc in "xy"]
    (folder / "plan.csv").write_text("query,doc,label,probability\n" + "".join(drawn))
    run("import", folder, folder / "plan.csv")
    judge(folder)
    said, notes = report(folder, "-m", "P@1")
    assert said["finding"] == "two is worse than one by P@1."
    assert "note: 18 gold labels collected in karat.db are used" in notes
    assert "left aside" not in notes


def test_a_study_in_which_nothing_was_said_yet_has_no_labels(folder: Path) -> None:
    said, notes = report(folder)
    assert "does not allow a verdict" in said["finding"]
    assert "karat.db holds no judgments yet" in notes


def test_known_grades_of_tasks_check_the_judges_and_correct_no_score(folder: Path) -> None:
    known = "".join(f"{q},x,{1 + QUERIES.index(q) % 2}\n{q},y,2\n" for q in QUERIES)
    (folder / "known.csv").write_text(f"query,doc,gold\n{known}")
    (folder / "karat.db").unlink()
    run("import", folder, folder / "known.csv")
    judge(folder)
    table = json.loads(run("judges", "error", folder, "--json").stdout)
    (row,) = table["rows"]
    assert (row["n_gold"], row["accuracy"]) == (18, 0.5), "right about every x, wrong about every y"
    assert "judges are checked by the known grades of 18 documents (column gold of the tasks)" in table["notes"]
    said, _ = report(folder)
    page = (folder / "page.html").read_text()
    assert "judges are checked by the known grades of 18 documents" in page
    assert "of a grade too" in page  # one group is not the furthest of any
    assert "ppi" not in json.dumps(said), "chosen documents are no sample"
    exported = folder / "exported.csv"
    run("export", folder, exported)
    assert json.loads(run("judges", "error", exported, "--json").stdout)["rows"][0]["n_gold"] == 18
