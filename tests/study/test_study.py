"""One study, from its folder, its database or named files: the same records, with scale and rules on the labels."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import run
from karat.study.task_material import Material

TOML = """
title = "Horses"
groups = ["judges"]

[scale]
levels = [
  { grade = 0, name = "Non", definition = "no use" },
  { grade = 1, name = "Rel" },
  { grade = 2, name = "HRel" },
  { grade = 3, name = "Key" },
]

[overlap]
labels = 2
third_when_apart_by = 2
"""
#: Nobody gave more than Rel.
LABELS = "query,doc,label,judge\n1,a,Rel,ann\n1,a,1,bob\n1,b,0,ann\n1,b,Non,bob\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study of one query and one run, with the labels in a file."""
    (tmp_path / "study.toml").write_text(TOML)
    (tmp_path / "judgments.csv").write_text(LABELS)
    (tmp_path / "queries.csv").write_text("query,text\n1,horses\n")
    (tmp_path / "documents.jsonl").write_text('{"doc": "a"}\n{"doc": "b"}\n')
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "here.run").write_text("1 Q0 a 1 2 here\n1 Q0 b 2 1 here\n")
    return tmp_path


def served(folder: Path) -> Path:
    """The same with the labels in the study's database."""
    labels = folder.parent / f"{folder.name}-labels.csv"
    (folder / "judgments.csv").rename(labels)
    run("import", folder, labels, "--kind", "judgments", "--default-group", "judges")
    return folder


@pytest.mark.parametrize("where", [lambda folder: folder, served], ids=["file", "database"])
def test_scale_and_rules_are_on_the_labels_wherever_they_come_from(folder: Path, where) -> None:
    study = kt.Study.load(where(folder))
    assert study.title == "Horses"
    assert len(study.judged) == 4
    assert study.judged.scale is not None
    assert study.judged.scale.name(3.0) == "Key"
    assert next(level.definition for level in study.judged.scale) == "no use"
    assert study.judged.rules is not None
    assert (study.judged.rules.labels, study.judged.rules.apart) == (2, 2.0)


def test_labels_of_a_database_are_records_at_once(folder: Path, monkeypatch) -> None:
    place = served(folder)
    for maker in ("TemporaryDirectory", "NamedTemporaryFile", "mkdtemp", "mkstemp"):
        monkeypatch.setattr(f"tempfile.{maker}", None)
    study = kt.Study.load(place)
    assert study.notes == ("4 judgments collected in karat.db are used",)
    assert study.judged.frame["judge"].unique().sort().to_list() == ["ann", "bob"]


def test_a_file_that_is_named_stands_for_the_folders_own(folder: Path) -> None:
    other = folder / "other.txt"
    other.write_text("1 0 a 3\n")
    study = kt.Study.load(folder, labels=other)
    assert study.judged.frame.rows() == [("1", "a", 3.0)]
    assert [level.name for level in study.judged.scale or ()][-1] == "Key"


def test_a_study_that_names_no_scale_and_no_rules_puts_none_on_labels_from_files(folder: Path) -> None:
    (folder / "study.toml").write_text('title = "Horses"\n')
    (folder / "judgments.csv").write_text("query,doc,label\n1,a,3\n")
    study = kt.Study.load(str(folder))
    assert (study.judged.scale, study.judged.rules) == (None, None)


def test_labels_outside_the_scale_of_the_study_are_refused_with_their_line(folder: Path) -> None:
    (folder / "judgments.csv").write_text("query,doc,label\n1,a,4\n")
    with pytest.raises(kt.BadInput, match=r"judgments\.csv line 2: expected a grade of the scale 0=Non, 1=Rel"):
        kt.Study.load(folder)
    assert kt.Study.load(folder, drop_bad_labels=True).labels.notes[0].endswith("judgments.csv line 2)")


def test_gold_is_split_off_once_and_a_file_of_it_stands_before_the_group(folder: Path) -> None:
    (folder / "judgments.csv").write_text("query,doc,label,judge,group\n1,a,1,ann,crowd\n1,a,2,zoe,gold\n")
    study = kt.Study.load(folder)
    assert study.judged.frame["group"].to_list() == ["crowd"]
    assert study.gold is not None
    assert study.gold.frame["label"].to_list() == [2.0]
    (folder / "gold.csv").write_text("query,doc,label\n1,a,3\n")
    study = kt.Study.load(folder)
    assert study.gold is not None
    assert study.gold.frame["label"].to_list() == [3.0]
    assert "1 label of the group gold left aside: the gold labels were given apart" in study.judged.notes


def err(folder: Path, *words: str) -> float:
    said = json.loads(run(*words, "--json").stdout)
    return float(said["systems"][0]["scores"]["ERR@10"]["value"])


@pytest.mark.parametrize("where", [lambda folder: folder, served], ids=["file", "database"])
def test_err_knows_the_top_grade_of_the_study_though_nobody_gave_it(folder: Path, where) -> None:
    # METHODS 9: R = (2^1 - 1) / 2^3 = .125 at rank 1; by the highest label seen it would be .5.
    assert err(folder, "score", str(where(folder)), "-m", "ERR@10") == 0.125


def test_err_is_the_same_in_score_compare_and_report(folder: Path) -> None:
    rows = "".join(f"{number},a,1,ann\n{number},b,0,ann\n" for number in range(2, 9))
    (folder / "judgments.csv").write_text(LABELS + rows)
    runs = {"here": "ab", "there": "ba"}
    for name, order in runs.items():
        rows = [f"{q} Q0 {d} {i} {9 - i} {name}\n" for q in range(1, 9) for i, d in enumerate(order, 1)]
        (folder / "runs" / f"{name}.run").write_text("".join(rows))
    scored = json.loads(run("score", folder, "-m", "ERR@10", "--json").stdout)
    means = {system["system"]: system["scores"]["ERR@10"]["value"] for system in scored["systems"]}
    assert means == {"here": 0.125, "there": 0.0625}
    compared = json.loads(run("compare", folder, "-m", "ERR@10", "-q", "--json").stdout)
    assert {(row["here"], row["there"]) for row in compared["by_query"]} == {(0.125, 0.0625)}
    page = folder / "report.html"
    said = json.loads(run("report", folder, "-o", page, "-m", "ERR@10", "--draws", "100", "--json").stdout)
    assert said["comparison"]["methods"][0]["a"] == 0.125


@pytest.mark.parametrize("command", ["judges", "disagree", "context"])
def test_every_command_that_takes_labels_takes_the_folder(folder: Path, command: str) -> None:
    rows = [f"{q},{d},{(q + n) % 4},{j}" for q in range(1, 9) for n, d in enumerate("abcd") for j in ("ann", "bob")]
    rows += [f"{q},{d},{(q + n + 1) % 4},eve" for q in range(1, 9) for n, d in enumerate("abcd")]
    (folder / "judgments.csv").write_text("\n".join(["query,doc,label,judge", *rows]) + "\n")
    words = {"judges": ["distribution", folder], "disagree": [folder], "context": ["distribution", folder]}
    from_folder = run(command, *words[command])
    assert "Key" in from_folder.output, "levels by their names"
    assert "3.000" not in from_folder.output


def test_preferences_are_validated_from_the_folder(folder: Path) -> None:
    rows = "".join(f"{q},here,there,left,j{j}\n" for q in range(1, 9) for j in range(3))
    (folder / "preferences.csv").write_text(f"query,left,right,choice,judge\n{rows}")
    labels = "".join(f"{q},a,1,ann\n{q},b,0,ann\n" for q in range(1, 9))
    (folder / "judgments.csv").write_text(f"query,doc,label,judge\n{labels}")
    for name, order in {"here": "ab", "there": "ba"}.items():
        lines = [f"{q} Q0 {d} {i} {9 - i} {name}\n" for q in range(1, 9) for i, d in enumerate(order, 1)]
        (folder / "runs" / f"{name}.run").write_text("".join(lines))
    said = json.loads(run("validate", folder, "-m", "P@1", "--draws", "100", "--json").stdout)
    assert said["rows"][0]["agree"] == 8


def test_times_are_parsed_in_preferences_as_in_labels() -> None:
    row = {"query": "q", "left": "a", "right": "b", "choice": "left", "time": "05/31/2024 16:20"}
    with pytest.raises(kt.BadInput, match="expected a time as ISO 8601"):
        kt.Preferences.of([row])
    read = kt.Preferences.check(pl.DataFrame([row]), time_format="%m/%d/%Y %H:%M")
    assert read.frame["time"][0].startswith("2024-05-31T16:20")


def test_american_times_are_named_in_every_command_that_reads_labels(folder: Path) -> None:
    (folder / "judgments.csv").write_text("query,doc,label,judge,time\n1,a,1,ann,05/31/2024 16:20\n")
    with pytest.raises(kt.BadInput, match=r"judgments\.csv line 2: expected a time as ISO 8601"):
        run("score", folder, "-m", "P@1")
    said = run("score", folder, "-m", "P@1", "--time-format", "%m/%d/%Y %H:%M", "--json").stdout
    assert json.loads(said)["systems"][0]["scores"]["P@1"]["value"] == 1.0


def test_results_in_python_show_the_names_of_the_scale(folder: Path) -> None:
    rows = [f"{q},{d},{(q + n) % 4},{j}" for q in range(1, 9) for n, d in enumerate("abcd") for j in ("ann", "bob")]
    (folder / "judgments.csv").write_text("\n".join(["query,doc,label,judge", *rows]) + "\n")
    labels = kt.Study.load(folder).judged
    shown = [kt.judges.distribution(labels), kt.judges.disagreement(labels, draws=0).table([(1, 2)])]
    for result in shown:
        assert "Key" in result._repr_html_()
        grades = result.frame["level" if "level" in result.frame.columns else "grade"]
        assert grades.max() == 3.0, "the frame keeps the numbers"


def test_kinds_that_no_study_holds_are_refused(folder: Path) -> None:
    with pytest.raises(kt.BadInput, match="expected some of runs, queries, documents, preferences, clicks, found foo"):
        kt.Study.load(folder, only=("foo",))


def test_a_result_without_a_snippet_shows_the_beginning_of_its_text() -> None:
    long = "word " * 100
    documents = kt.Documents.of([{"doc": "a", "body": long}, {"doc": "b", "snippet": "own", "body": long}])
    material = Material(documents=documents)
    assert material.front("a")["snippet"] == "word " * 39 + "..."
    assert material.front("b")["snippet"] == "own"


def test_traps_that_may_fail_by_study_toml_may_fail_in_a_file_of_preferences(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("[traps]\nfailed_allowed = 1\n")
    rows = "q,a,b,left,ann,false,\nq,a,b,left,ann,true,right\n"
    (tmp_path / "preferences.csv").write_text(f"query,left,right,choice,judge,trap,expected\n{rows}")
    preferences = kt.Study.load(tmp_path).preferences
    assert preferences is not None
    assert len(kt.users.trusted(preferences)) == 1
