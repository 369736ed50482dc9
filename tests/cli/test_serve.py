"""`karat serve`: what is wrong with a study is said before anybody is invited to it."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import uvicorn
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.study.store import Store


def serve(*arguments: object) -> Result:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = CliRunner().invoke(karat, ["serve", *(str(argument) for argument in arguments), "--port", str(port)])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def nothing(*arguments: Any, **options: Any) -> None:
        """The app is made but not run."""

    monkeypatch.setattr(uvicorn, "run", nothing)
    folder = tmp_path / "study"
    assert CliRunner().invoke(karat, ["init", str(folder)]).exit_code == 0
    return folder


def test_three_fifths_of_the_practice_is_the_pass_mark_unless_another_is_said(study: Path) -> None:
    assert read_study(str(study)).study.rules.practice_pass == 0.6
    (study / "study.toml").write_text("[practice]\npass = 0.0\n")
    assert read_study(str(study)).study.rules.practice_pass == 0.0


@pytest.mark.parametrize("name", ["documents.jsonl", "queries.csv"])
def test_a_broken_file_is_said_before_anything_is_stored(study: Path, name: str) -> None:
    assert (study / name).is_file()
    (study / name).write_text('{"broken\n' if name.endswith("jsonl") else "colour\nred\n")
    with pytest.raises(BadInput, match=name):
        serve(study)
    assert not (study / "karat.db").exists()


def test_the_study_that_init_makes_refers_to_nothing_that_is_missing(study: Path) -> None:
    said = serve(study).output
    assert "note:" not in said
    assert "signs in as lead with the password" in said


def test_references_to_nothing_are_counted_and_named(study: Path) -> None:
    (study / "tasks.csv").write_text("query,doc,left,right\n1,nowhere,,\n99,hoof-care,,\n1,,plain,nobody\n")
    said = serve(study).output
    assert "note: 1 query of the tasks not in the file of queries, shown by id only: 99." in said
    assert "note: 1 document of the tasks not in the file of documents, shown by id only: nowhere." in said
    assert "note: 1 result list of the tasks in no run, shown empty: nobody for 1." in said


def test_gold_documents_without_a_title_are_warned_about(study: Path) -> None:
    lines = [json.dumps({"doc": f"d{n}", "title": "Hooves" * (n < 4), "text": f"Text {n}"}) for n in range(6)]
    (study / "documents.jsonl").write_text("\n".join(lines))
    rows = [f"1,d{n},{2 if n > 3 else ''}\n" for n in range(6)]
    (study / "tasks.csv").write_text("query,doc,gold\n" + "".join(rows))
    said = serve(study).output
    assert "warning: 2 of the 2 documents that only traps and gold tasks show have no title, unlike all other" in said
    assert said.count("Judges can tell them apart") == 1, "snippets and pages are alike"


def test_practice_on_what_is_asked_afterwards_is_said(study: Path) -> None:
    (study / "tasks.csv").write_text("query,doc\n1,starter\n1,hoof-care\n")
    (study / "practice.csv").write_text("query,doc,gold\n1,starter,2\n")
    said = serve(study).output
    assert "note: 1 practice item is a task, too: judges are told the right answer before they are asked" in said


def test_a_study_without_tasks_says_so(study: Path) -> None:
    pl.read_csv(study / "tasks.csv").clear().write_csv(study / "tasks.csv")
    assert "there are no tasks" in serve(study).output


def test_a_file_that_is_no_database_is_said_in_plain_words(study: Path, tmp_path: Path) -> None:
    other = tmp_path / "letter.txt"
    other.write_text("Dear all, this is no database at all. " * 50)
    with pytest.raises(BadInput, match="the database cannot be opened: file is not a database"):
        serve(study, "--database", other)


def test_a_database_that_cannot_be_written_is_said_without_sql_or_hashes(study: Path) -> None:
    Store.open(str(study / "karat.db"), read_study(str(study)).study).close()
    with pytest.raises(BadInput, match="readonly database") as said:
        serve(study, "--database", f"sqlite:///file:{study}/karat.db?mode=ro&uri=true")
    assert "INSERT" not in str(said.value)
    assert "argon2" not in str(said.value)


def test_a_row_that_stands_twice_is_one_task_and_said(study: Path) -> None:
    (study / "tasks.csv").write_text("query,doc\n1,hoof-care\n1,hoof-care\n1,hoof-care\n")
    said = serve(study).output
    assert "note: 2 repeated rows of tasks left out." in said
    assert "1 new task loaded." in said
    again = CliRunner().invoke(karat, ["import", str(study), str(study / "tasks.csv")]).output
    assert "note: 2 repeated rows of tasks left out." in again
    assert "0 new tasks" in again


def test_a_study_that_is_being_served_is_not_served_again(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []

    def a_second_one(*arguments: Any, **options: Any) -> None:
        """While the first one runs."""
        with pytest.raises(BadInput) as refused:
            serve(study)
        said.append((options["port"], str(refused.value)))

    monkeypatch.setattr(uvicorn, "run", a_second_one)
    serve(study)
    ((port, text),) = said
    assert "karat.db: expected a study that nobody serves, for one process serves one study, found" in text
    assert f"being served at http://localhost:{port}; stop that one first" in text
    monkeypatch.setattr(uvicorn, "run", lambda *arguments, **options: None)
    assert "judges at" in serve(study).output, "the first one has ended"


def test_several_processes_are_for_postgresql(study: Path) -> None:
    with pytest.raises(BadInput, match="expected 1 with SQLite, which has one writer, found 3; use"):
        serve(study, "--workers", 3)
