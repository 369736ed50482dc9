"""`karat import`: whose answers they are, and what is said where a judge answered twice, or nobody knows who did."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from commands import run
from karat.errors import BadInput


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with one document to judge, twice."""
    folder = tmp_path / "study"
    run("init", folder)
    (folder / "tasks.csv").write_text("query,doc\n1,hoof-care\n")
    return folder


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def out(study: Path, *options: str, kind: str = "judgments") -> pl.DataFrame:
    run("export", study, study / "out.jsonl", "--kind", kind, *options)
    return pl.read_ndjson(study / "out.jsonl")


def test_a_label_that_a_judge_changed_is_said_and_the_first_stands(study: Path, tmp_path: Path) -> None:
    run("import", study, written(tmp_path / "one.csv", "query,doc,label,judge\n9,a,2,ana\n9,b,1,ana\n"))
    said = run("import", study, written(tmp_path / "two.csv", "query,doc,label,judge\n9,a,0,ana\n9,b,1,ana\n")).output
    assert "0 new labels" in said
    assert "; 1 were there already; 1 unlike what the same judge said before, which stands: left out." in said
    assert out(study).select("doc", "label").rows() == [("a", 2.0), ("b", 1.0)]


def test_a_judge_twice_in_one_file_is_said_and_the_last_stands(study: Path, tmp_path: Path) -> None:
    labels = "query,doc,label,judge,time\n9,a,2,ana,2024-05-01\n9,a,0,ana,2024-05-02\n"
    said = run("import", study, written(tmp_path / "one.csv", labels)).output
    assert "1 new label in" in said
    assert "; 1 by a judge who says another further down, which stands: left out." in said
    found = out(study).select("label", pl.col("time").str.slice(0, 10)).rows()
    assert found == [(0.0, "2024-05-02")]


def test_labels_without_a_judges_name_are_one_judges_and_this_is_said(study: Path, tmp_path: Path) -> None:
    said = run("import", study, written(tmp_path / "crowd.csv", "query,doc,label\n9,a,2\n9,b,1\n")).output
    assert "note: 2 labels without a judge's name taken for those of one judge, crowd." in said
    assert out(study).select("doc", "label", "judge").rows() == [("a", 2.0, "crowd"), ("b", 1.0, "crowd")]


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (
            "query,doc,label\n9,b,1\n9,a,2\n9,a,0\n",
            "the label of document a of query 9: expected one answer where no judge is named, found 2; "
            "say in a column judge who said what, or make one label of them first with karat convert --consensus",
        ),
        (
            "query,left,right,choice\n9,x,y,left\n9,y,x,left\n",
            "the preference of query 9: expected one answer where no judge is named, found 2; "
            "say in a column judge who said what",
        ),
    ],
)
def test_several_answers_to_a_question_need_to_say_who_gave_them(
    study: Path, tmp_path: Path, rows: str, error: str
) -> None:
    with pytest.raises(BadInput) as refused:
        run("import", study, written(tmp_path / "crowd.csv", rows))
    assert str(refused.value) == error
    run("import", study, written(tmp_path / "ana.csv", "query,doc,label,judge\n9,a,2,ana\n"))
    assert out(study)["judge"].to_list() == ["ana"], "nothing came in of the refused file"


def test_answers_to_traps_and_changed_preferences_are_counted(study: Path, tmp_path: Path) -> None:
    rows = "query,left,right,choice,judge,trap\n1,x,y,left,ana,false\n2,x,y,left,ana,false\n3,x,bad,left,ana,true\n"
    said = run("import", study, written(tmp_path / "one.csv", rows)).output
    assert "2 new preferences" in said
    assert "; 1 answer to traps: left out." in said
    again = "query,left,right,choice,judge\n1,y,x,right,ana\n2,y,x,left,ana\n"  # sides turned: the first is the same
    said = run("import", study, written(tmp_path / "two.csv", again)).output
    assert "; 1 were there already; 1 unlike what the same judge said before, which stands: left out." in said
