"""`karat import` and `export`: labels and plans come in any order, and nothing is lost without a word."""

from __future__ import annotations

import itertools
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import case, select

from commands import run
from karat.cli.open_study import opened_study
from karat.errors import BadInput
from karat.formats import read_judgments
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.tables import bundles, tasks


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


def loaded(study: Path) -> tuple[str, ...]:
    """What is said when the folder's tasks are loaded."""
    with opened_study(str(study), None, load=True) as opened:
        return opened.notes


def out(study: Path, *options: str, kind: str = "judgments") -> pl.DataFrame:
    run("export", study, study / "out.jsonl", "--kind", kind, *options)
    return pl.read_ndjson(study / "out.jsonl")


def test_labels_that_came_before_the_tasks_leave_the_rest_to_be_asked(study: Path, tmp_path: Path) -> None:
    run("import", study, written(tmp_path / "one.csv", "query,doc,label,judge\n1,hoof-care,2,ana\n9,new,1,ana\n"))
    assert loaded(study) == ("1 new task loaded.",)
    assert loaded(study) == ()
    with opened_study(str(study), None) as opened:
        task = next_task(opened.store, add_judge(opened.store)[0]["id"]).task
    assert task is not None
    assert task["doc"] == "hoof-care"
    counts = out(study, kind="tasks").select("doc", "wanted", "filled").rows()
    assert counts == [("hoof-care", 2, 1), ("new", 1, 1)]


def test_a_plan_after_the_labels_brings_its_probabilities(study: Path, tmp_path: Path) -> None:
    run("import", study, written(tmp_path / "llm.csv", "query,doc,label\n1,hoof-care,2\n9,new,1\n"))
    plan = written(tmp_path / "gold.csv", "query,doc,label,probability\n1,hoof-care,,0.25\n")
    assert "1 new task" in run("import", study, plan).output
    assert "0 new tasks" in run("import", study, plan).output
    assert out(study).select("doc", "probability").rows() == [("hoof-care", 0.25), ("new", None)]


@pytest.mark.parametrize("rules", ["", "[overlap]\nlabels = 2\none_judge_per_query = true\n"])
def test_a_plan_puts_its_probability_on_tasks_that_are_there_and_on_their_labels(
    study: Path, tmp_path: Path, rules: str
) -> None:
    if rules:
        (study / "study.toml").write_text(rules)
    (study / "tasks.csv").write_text("query,doc\n1,a\n1,b\n2,c\n")
    loaded(study)
    run("import", study, written(tmp_path / "one.csv", "query,doc,label,judge\n1,a,1,ana\n1,b,1,ana\n"))
    plan = written(tmp_path / "gold.csv", "query,doc,label,probability,labels\n1,a,,0.25,1\n2,c,,0.5,1\n")
    said = run("import", study, plan).output
    assert "0 new tasks in" in said
    assert "note: 2 tasks were there already: their probability is set now." in said
    assert "note: 2 tasks were there already and ask for another number of labels, which stands." in said
    assert "probability" not in run("import", study, plan).output
    run("import", study, written(tmp_path / "two.csv", "query,doc,label,judge\n1,a,1,bo\n1,b,1,bo\n2,c,0,bo\n"))
    found = out(study).select("doc", "judge", "probability").sort("doc", "judge").rows()
    chances = {"a": 0.25, "b": None, "c": 0.5}
    assert found == [
        (doc, judge, chances[doc]) for doc, judge in (*itertools.product("ab", ("ana", "bo")), ("c", "bo"))
    ]
    other = written(tmp_path / "other.csv", "query,doc,probability\n1,a,0.75\n")
    with pytest.raises(BadInput, match="found another of the same round: 1 document with other probabilities"):
        run("import", study, other)
    assert out(study).filter(pl.col("doc") == "a")["probability"].unique().to_list() == [0.25]


def test_gold_labels_that_say_their_probability_put_it_on_tasks_that_are_there(study: Path, tmp_path: Path) -> None:
    loaded(study)
    gold = written(tmp_path / "gold.csv", "query,doc,label,probability\n1,hoof-care,2,0.25\n9,new,1,0.5\n")
    said = run("import", study, gold).output
    assert "note: 1 task was there already: its probability is set now." in said
    assert out(study).select("doc", "probability").rows() == [("hoof-care", 0.25), ("new", 0.5)]
    again = written(tmp_path / "again.csv", "query,doc,label,probability\n1,hoof-care,2,0.5\n")
    with pytest.raises(BadInput, match="found another of the same round: 1 document with other probabilities"):
        run("import", study, again)


def test_a_task_file_that_asks_for_more_labels_of_loaded_tasks_is_said(study: Path) -> None:
    loaded(study)
    (study / "tasks.csv").write_text("query,doc,labels\n1,hoof-care,5\n")
    (note,) = loaded(study)
    assert note == "note: 1 task was there already and asks for another number of labels, which stands."


def test_a_second_judges_file_is_kept_whole(study: Path, tmp_path: Path) -> None:
    for number, judge in enumerate(("ana", "bo", "cy")):
        labels = f"query,doc,label,judge\n9,new,{number},{judge}\n9,other,1,{judge}\n"
        said = run("import", study, written(tmp_path / f"{judge}.csv", labels)).output
        assert "2 new labels" in said
        assert "left out" not in said
    assert out(study).filter(pl.col("doc") == "new")["label"].to_list() == [0.0, 1.0, 2.0]
    assert out(study, kind="tasks").select("wanted", "filled").rows() == [(3, 3), (3, 3)]


FOUR = [(doc, judge, label) for label, judge in enumerate("abce") for doc in ("planned", "free")]


@pytest.mark.parametrize("backwards", [False, True])
def test_the_same_file_twice_adds_nothing_the_second_time(study: Path, tmp_path: Path, backwards: bool) -> None:
    run("import", study, written(tmp_path / "plan.csv", "query,doc\n1,planned\n"))
    rows = [f"1,{doc},{label},{judge}\n" for doc, judge, label in (reversed(FOUR) if backwards else FOUR)]
    file = written(tmp_path / "labels.csv", "query,doc,label,judge\n" + "".join(rows))
    # Two labels are asked for, a third because they differ; who comes fourth is too many.
    assert "7 new labels in" in (said := run("import", study, file).output)
    assert "; 1 beyond what was asked for: left out." in said
    first = out(study).select("doc", "judge", "label").rows()
    assert [judge for doc, judge, _ in first if doc == "planned"] == list("ecb" if backwards else "abc")
    assert "0 new labels in" in (said := run("import", study, file).output)
    assert "; 7 were there already; 1 beyond what was asked for: left out." in said
    assert out(study).select("doc", "judge", "label").rows() == first
    found = out(study, kind="tasks").filter(pl.col("doc") == "planned").select("wanted", "filled").rows()
    assert found == [(3, 3)]


def test_no_third_label_comes_in_where_the_first_two_are_the_same(study: Path, tmp_path: Path) -> None:
    run("import", study, written(tmp_path / "plan.csv", "query,doc\n1,a\n"))
    labels = "query,doc,label,judge\n1,a,1,ana\n1,a,1,bo\n1,a,3,cy\n"
    said = run("import", study, written(tmp_path / "labels.csv", labels)).output
    assert "2 new labels in" in said
    assert "; 1 beyond what was asked for: left out." in said


def test_the_first_labels_are_those_that_were_given_first(study: Path, tmp_path: Path) -> None:
    run("import", study, written(tmp_path / "plan.csv", "query,doc\n1,a\n"))
    rows = "1,a,3,late,2024-05-03\n1,a,1,first,2024-05-01\n1,a,1,second,2024-05-02\n"
    run("import", study, written(tmp_path / "labels.csv", f"query,doc,label,judge,time\n{rows}"))
    assert out(study)["judge"].to_list() == ["first", "second"]


def test_the_consensus_keeps_the_probability_of_each_document(study: Path, tmp_path: Path) -> None:
    plan = "query,doc,label,probability\n1,hoof-care,,0.25\n2,x,,0.5\n"
    run("import", study, written(tmp_path / "gold.csv", plan))
    labels = "query,doc,label,judge\n1,hoof-care,2,ana\n1,hoof-care,2,bo\n2,x,1,ana\n9,new,0,ana\n"
    run("import", study, written(tmp_path / "labels.csv", labels))
    found = out(study, "--consensus").select("doc", "label", "probability").sort("doc").rows()
    assert found == [("hoof-care", 2.0, 0.25), ("new", 0.0, None), ("x", 1.0, 0.5)]


def test_labels_in_context_have_no_place_in_qrels_and_this_is_said(study: Path, tmp_path: Path) -> None:
    labels = "query,doc,context,label,judge\n1,a,,2,ana\n1,a,b,0,ana\n1,a,c,1,ana\n1,b,,1,ana\n"
    run("import", study, written(tmp_path / "labels.csv", labels))
    said = run("export", study, tmp_path / "qrels.txt", "--consensus").output
    assert "2 labels given after another document left aside" in said
    found = read_judgments(str(tmp_path / "qrels.txt")).frame.select("doc", "label").sort("doc").rows()
    assert found == [("a", 2.0), ("b", 1.0)]
    assert out(study, "--consensus").height == 4


def test_qrels_of_labels_that_are_all_in_context_are_refused(study: Path, tmp_path: Path) -> None:
    run("import", study, written(tmp_path / "labels.csv", "query,doc,context,label,judge\n1,a,b,0,ana\n"))
    with pytest.raises(BadInput, match="some labels of documents read alone"):
        run("export", study, tmp_path / "qrels.txt", "--consensus")


def test_the_same_file_again_adds_nothing_though_thirds_are_asked_where_labels_differ(
    study: Path, tmp_path: Path
) -> None:
    run("import", study, study / "tasks.csv")
    rows = [f"1,{doc},{label},{judge}" for doc in ("hoof-care", "other") for label, judge in enumerate("abce")]
    labels = written(tmp_path / "labels.csv", "\n".join(["query,doc,label,judge", *rows]) + "\n")
    said = run("import", study, labels).output
    assert "7 new labels" in said, "two and a third of the planned document, all four of the other"
    assert "1 beyond what was asked for" in said
    again = run("import", study, labels).output
    assert "0 new labels" in again
    assert "7 were there already" in again


@pytest.mark.parametrize("chance", ["0", "1.5", "-0.2"])
def test_a_chance_is_above_0_and_at_most_1(study: Path, tmp_path: Path, chance: str) -> None:
    plan = written(tmp_path / "plan.csv", f"query,doc,probability\n1,hoof-care,{chance}\n")
    with pytest.raises(BadInput, match=r"plan\.csv line 2: expected a probability above 0"):
        run("import", study, plan)


def test_what_the_study_does_not_know_and_does_not_keep_is_said_once(study: Path, tmp_path: Path) -> None:
    labels = "query,doc,context,label,judge,weather,mood\n1,hoof-care,,1,ana,rain,\n8,x,,1,ana,,\n9,x,y,1,ana,,\n"
    said = run("import", study, written(tmp_path / "labels.csv", labels)).output
    assert said.splitlines()[:2] == [
        "note: not in the study's files: 2 queries of the labels (for instance 8), 2 documents (for instance x).",
        "note: columns that the study does not keep: weather, mood.",
    ]
    assert "3 new labels" in said
    choices = "query,left,right,choice,judge,weather\n1,plain,better,left,ana,\n1,plain,other,left,ana,\n"
    said = run("import", study, written(tmp_path / "choices.csv", choices)).output
    assert "note: not in the study's files: 1 system of the preferences (other)." in said
    assert "note: a column that the study does not keep: weather." in said
    said = run("import", study, written(tmp_path / "tasks.csv", "query,doc,weather\n1,a,\n")).output
    assert "note: a column that the study does not keep: weather." in said


def test_where_the_study_has_no_such_file_nothing_is_said_of_it(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("")
    said = run("import", tmp_path, written(tmp_path / "one.csv", "query,doc,label,judge\n1,a,1,ana\n")).output
    assert "note" not in said


def test_times_of_labels_and_preferences_come_out_again(study: Path, tmp_path: Path) -> None:
    text = "query,left,right,choice,judge,seconds,away,comment,reason\n1,x,y,left,ana,2.5,3,hm,so\n"
    run("import", study, written(tmp_path / "choices.csv", text))
    found = out(study, kind="preferences").select("seconds", "away", "comment", "reason").rows()
    assert found == [(2.5, 3.0, "hm", "so")]
    run("import", study, written(tmp_path / "labels.csv", "query,doc,label,judge,seconds,away\n1,a,1,ana,2.5,3\n"))
    assert out(study).select("seconds", "away").rows() == [(2.5, 3.0)]
    with pytest.raises(BadInput, match=r'choices\.csv line 2: expected a number from 0 as seconds, found "soon"'):
        run("import", study, written(tmp_path / "choices.csv", text.replace("2.5", "soon")))


PLANS = {
    "judges": "query,doc,judge,order,note,labels\n1,a,ana,2,why,\n1,a,bo,1,,\n1,b,,,,3\n",
    "blocks": "query,left,right,block,place,trap,expected\n1,x,y,7,0,false,\n2,x,y,7,1,false,\n3,x,bad,7,2,true,left\n",
    "subtopics": "query,doc,subtopic,description,probability\n1,a,s,what it means,0.5\n",
    "practice": "query,doc,gold,note,practice\n1,a,1,because,true\n",
    "plain": "query,doc,context\n1,a,\n1,b,a\n2,c,\n",
}


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_tasks_come_out_as_they_went_in(study: Path, tmp_path: Path, plan: str, alone: bool) -> None:
    rules = "[overlap]\nlabels = 2\none_judge_per_query = " + str(alone).lower()
    other = tmp_path / "other"
    other.mkdir()
    for folder in (study, other):
        (folder / "study.toml").write_text(f"id = '{folder.name}'\n{rules}\n")
    run("import", study, written(tmp_path / "plan.csv", PLANS[plan]))
    asked = pl.read_csv(tmp_path / "plan.csv", schema_overrides={"query": pl.String})
    run("export", study, tmp_path / "tasks.csv", "--kind", "tasks")
    run("import", other, tmp_path / "tasks.csv")
    first, second = (_kept(folder) for folder in (study, other))
    assert first == second
    found = out(other, kind="tasks")
    if plan == "judges":
        assert found.filter(pl.col("doc") == "a").select("judge", "order", "note").rows() == [
            ("ana", 2, "why"),
            ("bo", 1, None),
        ]
        assert found.filter(pl.col("doc") == "b")["labels"].sum() == 3
    elif plan == "blocks":
        assert found.select("block", "place").rows() == [("7", 0), ("7", 1), ("7", 2)]
    else:
        names = [name for name in asked.columns if name != "gold"]
        assert set(found.select(names).rows()) == set(asked.select(names).rows())


def test_documents_of_imported_labels_are_not_asked_elsewhere(study: Path, tmp_path: Path) -> None:
    run("import", study, written(tmp_path / "one.csv", "query,doc,label,judge\n9,a,2,ana\n"))
    assert out(study, kind="tasks").select("closed", "labels").rows() == [(True, 1)]


def _kept(folder: Path) -> list[tuple[object, ...]]:
    """All that the queue goes by, but the orders that are drawn."""
    names = [column for column in tasks.columns if column.name not in ("id", "study_id", "bundle_id", "place", "lot")]
    planned = case((tasks.c.lot == 0, tasks.c.place), else_=None)
    with opened_study(str(folder), None) as opened, opened.store.database.read() as connection:
        found = select(*names, planned, bundles.c.name).outerjoin(bundles, bundles.c.id == tasks.c.bundle_id)
        return [tuple(row) for row in connection.execute(found.order_by(tasks.c.id))]


@pytest.mark.parametrize(
    "times",
    [
        ("1714750000", "1714550000"),
        ("1714750000000", "1714550000000"),
        ("2024-05-03T15:26:40", "2024-05-01 10:53+02:00"),
    ],
)
def test_times_are_read_in_every_form_that_labels_may_have(study: Path, tmp_path: Path, times: tuple[str, str]) -> None:
    rows = f"1,a,3,late,{times[0]}\n1,a,1,first,{times[1]}\n"
    run("import", study, written(tmp_path / "labels.csv", f"query,doc,label,judge,time\n{rows}"))
    said = out(study).sort("time").select("judge", pl.col("time").str.slice(0, 10)).rows()
    assert said == [("first", "2024-05-01"), ("late", "2024-05-03")]
