"""`karat init`, `import` and `export`: a study goes in and comes out whole; what is wrong is said with its place."""

from __future__ import annotations

import socket
import zipfile
from dataclasses import replace
from pathlib import Path

import click
import polars as pl
import pytest

from commands import karat as typed_karat
from commands import run
from karat.cli import karat
from karat.cli.open_study import open_study, opened_study
from karat.errors import BadInput
from karat.formats import read_judgments
from karat.formats.study_folder import read_study
from karat.study.answers import answer
from karat.study.database import Database
from karat.study.event_log import Answer
from karat.study.exports import exportable
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    run("init", folder, "--title", 'Hooves "and" more')
    return folder


def test_a_new_study_can_be_read_and_is_never_overwritten(study: Path) -> None:
    found = read_study(str(study))
    assert found.study.title == 'Hooves "and" more'
    assert [level.name for level in found.study.scale] == ["bad", "fair", "good", "perfect"]
    assert (found.study.rules.labels, found.study.rules.apart) == (2, 1.0)
    tasks = found.tasks()
    assert tasks is not None
    assert tasks.frame.height == 10
    assert found.documents is not None
    assert {*tasks.frame["doc"].drop_nulls()} <= {*found.documents.frame["doc"]}
    with pytest.raises(BadInput, match=r"expected a new folder, found study\.toml"):
        run("init", study)


def test_traps_are_counted_apart_from_tasks(study: Path) -> None:
    with opened_study(str(study), None, load=True) as opened:
        assert opened.notes[0] == "9 new tasks and 1 trap loaded."


def test_an_empty_study_says_which_files_to_add(tmp_path: Path) -> None:
    said = run("init", tmp_path / "new", "--empty").output
    for name in ("queries.csv", "documents.jsonl", "runs/", "tasks.csv"):
        assert name in said
    assert 'title = "new"' in (tmp_path / "new" / "study.toml").read_text()


def test_without_a_task_file_the_top_of_the_runs_is_judged(study: Path) -> None:
    (study / "tasks.csv").unlink()
    with opened_study(str(study), None, load=True) as opened:
        assert opened.notes == ("6 new tasks loaded.",)


def test_runs_do_not_become_tasks_where_others_were_imported_unless_the_study_says_so(study: Path) -> None:
    (study / "tasks.csv").unlink()
    (study / "chosen.csv").write_text("query,doc\n1,hoof-care\n")
    run("import", study, study / "chosen.csv")

    def noted() -> tuple[str, ...]:
        with opened_study(str(study), None, load=True) as opened:
            return opened.notes

    said = (
        "note: tasks were imported, so 5 documents of the runs' first 10 are not asked about; pool = true in study.toml"
    )
    assert noted() == (f"{said} asks for them, too.",)
    toml = (study / "study.toml").read_text()
    (study / "study.toml").write_text(f"pool = false\n{toml}")
    assert noted() == ()
    (study / "study.toml").write_text(f"pool = true\n{toml}")
    assert noted() == ("5 new tasks loaded.",)


def test_a_run_that_comes_later_adds_its_documents_where_runs_are_what_is_judged(study: Path) -> None:
    (study / "tasks.csv").unlink()
    with opened_study(str(study), None, load=True):
        pass
    (study / "runs" / "third.run").write_text("1 Q0 new 1 1.0 third\n")
    with opened_study(str(study), None, load=True) as opened:
        assert opened.notes == ("1 new task loaded.",)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("title = 3", "title as str"),
        ("[overlap]\nlables = 2", r"\[overlap\] lables"),
        ("[overlap]\nlabels = true", "labels as int"),
        ("[overlap]\nlabels = 0", r"study\.toml: the rule labels: expected 1 or more, at most 1000, found 0"),
        (
            "[overlaps]\nlabels = 2",
            r"groups, cant_tell, pool, \[scale\], \[\[aspects\]\], \[overlap\], .*, found \[overlaps\]",
        ),
        ("[overlap]\nreserve_minutes = -1", "reserve_minutes"),
        ("overlap = 2", r"a table \[overlap\]"),
        ("[scale]\nlevels = [{ name = 'a' }]", "at least two levels"),
        ("[scale]\nlevels = [{ colour = 'a' }, { name = 'b' }]", "levels with grade"),
        ("[[aspects]]\ndefinition = 'x'", "a name for each aspect"),
        ("[platform]\ngroup = 'crowd'", "a platform group of judges"),
        ("groups = []", "something in groups"),
        ("groups = ['']", "study.toml: groups: expected a text in one line, of 1 to 200 characters, found ''"),
        ("cant_tell = ['']", "cant_tell: expected a text in one line"),
        (f"id = '{'i' * 81}'", "id: expected a text in one line, of 1 to 80 characters"),
        ("[[aspects]]\nname = 'overall'", 'expected another name for each aspect, .*found "overall"'),
        ("[[aspects]]\nname = 'a'\n[[aspects]]\nname = 'a'", 'expected another name for each aspect, .*found "a"'),
        ("[platform]\ntasks = -5", r"\[platform\] tasks: expected 0 .all of them. or more, found -5"),
        (f"[platform]\ncompletion_code = '{'C' * 81}'", "completion_code: expected a text in one line, of 1 to 80"),
        ("[pairs]\nstrengths = 3", r"\[pairs\] strengths: expected 1 to 2, found 3"),
        ("[pairs]\ndepth = 0", r"\[pairs\] depth: expected 1 to 1000, found 0"),
        ("guidelines = 'guidlines.md'", "expected the guidelines in guidlines.md, found no such file in the folder"),
        ("groups = ['a', 'b', 'a']", 'each of groups once, found "a" again'),
        ("title = \n", "study.toml: expected TOML, found Invalid value .at line 1"),
        ("id = 'x'\nid = 'y'\n", "study.toml: expected TOML, found Cannot overwrite a value .at line 2"),
    ],
)
def test_a_slip_in_the_study_file_is_said(tmp_path: Path, wrong: str, said: str) -> None:
    (tmp_path / "study.toml").write_text(wrong)
    with pytest.raises(BadInput, match=said):
        read_study(str(tmp_path))


def test_the_study_file_may_come_from_windows_and_needs_no_title(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(b'\xef\xbb\xbftitle = ""\r\ngroups = ["crowd"]\r\n')
    study = read_study(str(tmp_path)).study
    assert (study.title, study.groups) == (tmp_path.name, ("crowd",))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("practice.csv", "query,doc,gold\n1,starter,2\n1,hoof-care,7\n", "practice.csv line 3: expected a grade of"),
        ("practice.csv", "query,doc\n1,starter\n", "practice.csv line 2: expected the right grade in the column gold"),
        ("practice.csv", "query,left,right,expected\n1,plain,better,up\n", "practice.csv line 2: expected left, equal"),
        (
            "tasks.csv",
            "query,page\n1,starter\n",
            "tasks.csv: expected tasks with query and doc, or query and left and right, or query and reason, "
            ".*found query, page",
        ),
        ("tasks.csv", "query,doc,gold\n1,starter,9\n", "tasks.csv line 2: expected a grade of the scale .* found 9"),
        ("tasks.csv", "query,doc,probability\n1,a,1\n1,b,1.5\n", "tasks.csv line 3: expected a probability above 0"),
        ("tasks.csv", "query,doc\n1,a\n1,a\n\n1,\n", "tasks.csv line 5: expected doc for a task of kind judge"),
        ("tasks.csv", "query,doc,group\n1,a,\n1,b,crowd\n", "tasks.csv line 3: expected a group of judges"),
        ("tasks.csv", "query,left,right,expected\n1,plain,better,up\n", "tasks.csv line 2: expected left, equal"),
        (
            "tasks.csv",
            "query,left,right,trap\n1,plain,better,maybe\n",
            "tasks.csv line 2: expected true or false as trap",
        ),
    ],
)
def test_a_slip_in_a_file_of_tasks_is_said_with_the_file_and_its_line(
    study: Path, name: str, text: str, said: str
) -> None:
    (study / name).write_text(text)
    with pytest.raises(BadInput, match=said):
        open_study(str(study), None, load=True)
    assert not (study / "karat.db").exists(), "a broken file leaves no trace"


def test_gold_off_the_scale_is_refused_by_import_as_well(study: Path, tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text('{"query": "1", "doc": "a", "gold": 4}\n')
    with pytest.raises(BadInput, match=r"more\.jsonl line 1: expected a grade of the scale"):
        run("import", study, tmp_path / "more.jsonl")


@pytest.mark.parametrize("chance", [-0.1, 0, 1.5])
def test_a_probability_that_is_none_is_refused_by_import_as_well(study: Path, tmp_path: Path, chance: float) -> None:
    (tmp_path / "plan.csv").write_text(f"query,doc,probability\n1,a,0.5\n1,b,{chance}\n")
    with pytest.raises(BadInput, match=r"plan\.csv line 3: expected a probability above 0"):
        run("import", study, tmp_path / "plan.csv")
    (tmp_path / "labels.csv").write_text(f"query,doc,label,probability\n1,a,1,0.5\n1,b,1,{chance}\n")
    with pytest.raises(BadInput, match="the label of document b of query 1: expected a probability above 0"):
        run("import", study, tmp_path / "labels.csv")
    assert "Wrote 0 rows" in run("export", study, tmp_path / "tasks.jsonl", "--kind", "tasks").output


def test_a_folder_without_a_study_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="karat init"):
        run("export", tmp_path, "-")


def test_what_judges_said_comes_out_in_every_format(study: Path, tmp_path: Path) -> None:
    alone = pl.read_csv(study / "tasks.csv").filter(pl.col("doc").is_not_null() & pl.col("context").is_null())
    alone.select("query", "doc").write_csv(study / "tasks.csv")
    run("import", study, study / "tasks.csv")
    store = Store.open(str(study / "karat.db"), read_study(str(study)).study)
    for number in range(2):
        judge = add_judge(store)[0]["id"]
        while (turn := next_task(store, judge)).task is not None:
            answer(store, judge, turn.task["id"], Answer(label=1.0 + number % 2 * (turn.task["doc"] == "hoof-care")))
    store.close()
    for name in ("labels.csv", "labels.tsv", "labels.jsonl", "labels.parquet", "labels.json", "labels.csv.gz"):
        path = tmp_path / name
        run("export", study, path)
        found = read_judgments(str(path))
        assert found.frame.filter(pl.col("doc") == "hoof-care")["label"].sort().to_list() == [1.0, 2.0]
    run("export", study, tmp_path / "qrels.txt", "--consensus")
    assert len(read_judgments(str(tmp_path / "qrels.txt"))) == 6
    with pytest.raises(BadInput, match="several for"):
        run("export", study, tmp_path / "more.txt")
    for kind in ("preferences", "tasks", "codes", "log"):
        run("export", study, tmp_path / f"{kind}.csv", "--kind", kind)
    assert pl.read_csv(tmp_path / "tasks.csv")["filled"].sum() == 12
    assert set(pl.read_csv(tmp_path / "log.csv")["kind"]) == {"joined", "answer"}


def test_labels_from_elsewhere_fill_their_slots_once(study: Path, tmp_path: Path) -> None:
    run("import", study, study / "tasks.csv")
    labels = tmp_path / "crowd.csv"
    rows = [("1", "hoof-care", 2, f"w{n}") for n in range(3)] + [("9", "new", 1, "w0"), ("9", "other", None, "w0")]
    frame = pl.DataFrame(rows, schema=["query", "doc", "label", "judge"], orient="row")
    frame.with_columns(time=pl.lit("2024-05-01T10:00:00+00:00")).write_csv(labels)
    said = run("import", study, labels)
    assert "4 new labels" in said.output
    assert "1 beyond what was asked for: left out" in said.output
    assert "4 were there already" in run("import", study, labels).output
    run("export", study, tmp_path / "out.csv")
    out = read_judgments(str(tmp_path / "out.csv")).frame
    assert out.select("query", "doc", "label", "judge").sort("doc", "judge").rows() == [
        ("1", "hoof-care", 2.0, "w0"),
        ("1", "hoof-care", 2.0, "w1"),
        ("9", "new", 1.0, "w0"),
        ("9", "other", None, "w0"),
    ]
    assert set(out["time"].str.slice(0, 10)) == {"2024-05-01"}
    (tmp_path / "bad.csv").write_text("query,doc,label\n1,x,7\n")
    with pytest.raises(BadInput, match=r"line 2: expected a grade of the scale 0=bad.*found \"7\""):
        run("import", study, tmp_path / "bad.csv", "--kind", "judgments")


def test_preferences_from_elsewhere_come_out_again(study: Path, tmp_path: Path) -> None:
    path = tmp_path / "preferences.csv"
    path.write_text("query,left,right,choice,judge,reason\n1,better,plain,left,w1,=clear\n2,plain,better,right,w1,x\n")
    assert "2 new preferences" in run("import", study, path).output
    run("export", study, tmp_path / "out.csv", "--kind", "preferences")
    text = (tmp_path / "out.csv").read_text()
    assert "'=clear" in text
    assert pl.read_csv(tmp_path / "out.csv")["choice"].to_list() == ["left", "right"]


def test_the_probability_of_gold_tasks_is_kept(study: Path, tmp_path: Path) -> None:
    plan = tmp_path / "gold.csv"
    plan.write_text("query,doc,label,probability\n1,hoof-care,,0.25\n")
    assert "1 new task" in run("import", study, plan).output
    store = Store.open(str(study / "karat.db"), read_study(str(study)).study)
    judge = add_judge(store)[0]["id"]
    task = next_task(store, judge).task
    assert task is not None
    answer(store, judge, task["id"], Answer(label=1.0))
    store.close()
    run("export", study, tmp_path / "labels.csv")
    assert read_judgments(str(tmp_path / "labels.csv")).frame["probability"].to_list() == [0.25]


def test_labels_that_no_plan_drew_can_be_left_out(study: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("query,doc,label,judge\n1,hoof-care,2,ana\n1,other,1,ana\n")
    run("import", study, labels)
    plan = tmp_path / "plan.csv"
    plan.write_text("query,doc,label,probability\n1,hoof-care,,0.25\n")
    run("import", study, plan)
    for more in ([], ["--consensus"]):
        said = run("export", study, tmp_path / "gold.csv", "--kind", "gold", *more).output
        assert "1 label of documents that are not in the sample left out" in said
        found = read_judgments(str(tmp_path / "gold.csv")).frame
        assert found.select("doc", "label", "probability").rows() == [("hoof-care", 2.0, 0.25)]
    with pytest.raises(BadInput, match="--consensus: expected judgments or gold labels, found people"):
        run("export", study, tmp_path / "people.csv", "--consensus", "--kind", "people")


def test_everything_goes_into_one_zip_and_people_have_what_they_did(study: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("query,doc,label,judge,seconds\n1,hoof-care,2,ana,30\n")
    run("import", study, labels)
    run("export", study, tmp_path / "people.csv", "--kind", "people")
    head, ana = (line.split(",") for line in (tmp_path / "people.csv").read_text().splitlines())
    said = dict(zip(head, ana, strict=True))
    assert (said["judge"], said["answers"], said["minutes"]) == ("ana", "1", "0.5")
    assert "flags" in head
    run("export", study, tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as packed:
        assert {"judgments.csv", "people.csv", "log.jsonl", "pay.txt"} <= {*packed.namelist()}
    with pytest.raises(BadInput, match="--kind: expected none for a zip"):
        run("export", study, tmp_path / "all.zip", "--kind", "people")


def test_every_kind_that_the_store_has_can_be_exported_by_the_command() -> None:
    (kind,) = (option for option in karat.loaded["export"].params if option.name == "kind")
    assert isinstance(kind.type, click.Choice)
    assert {*kind.type.choices} == {*exportable()}


def test_an_export_makes_no_database(study: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"found no karat\.db: nothing was collected here; name it with --database"):
        run("export", study, tmp_path / "labels.csv")
    with pytest.raises(BadInput, match=r"found no slip\.db: nothing was collected here; name another"):
        run("export", study, tmp_path / "labels.csv", "--database", tmp_path / "slip.db")
    assert not list(tmp_path.rglob("*.db"))


def test_a_database_of_other_studies_is_refused_with_their_ids(study: Path, tmp_path: Path, database: str) -> None:
    mine = read_study(str(study)).study
    Store.open(database, replace(mine, id="another")).close()
    with pytest.raises(BadInput, match=r'expected the study ".+", found ".+"; set the id in study\.toml'):
        run("export", study, tmp_path / "labels.csv", "--database", database)
    assert not (tmp_path / "labels.csv").exists()


def test_a_database_without_a_study_is_refused(study: Path, tmp_path: Path) -> None:
    Database.open(str(tmp_path / "new.db")).close()
    with pytest.raises(BadInput, match=r"found no study: nothing was collected here; name another database"):
        run("export", study, tmp_path / "labels.csv", "--database", tmp_path / "new.db")


def test_a_database_that_is_not_there_is_said(study: Path) -> None:
    with pytest.raises(BadInput, match="the database cannot be opened"):
        run("export", study, "-", "--database", "postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(BadInput, match=r"a path or postgresql.*, found mysql://$"):
        run("export", study, "-", "--database", "mysql://x/y")


def test_a_port_that_is_taken_is_said_before_anything_is_done(study: Path) -> None:
    said = "expected a free port of this machine, found address already in use"
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(BadInput, match=said):
        run("serve", study, "--port", other.getsockname()[1])
    assert not (study / "karat.db").exists()


def test_an_init_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\n")
    (tmp_path / "queries.csv").write_text("query,text\nq1,horse\n")
    (tmp_path / "documents.jsonl").write_text('{"doc": "d1", "title": "A", "text": "b"}\n')
    before = sorted(path.name for path in tmp_path.iterdir())

    def fail(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("karat.study.folders.write_csv", fail)  # of the last file
    words = [str(tmp_path / name) for name in ("deep/new", "a.run", "queries.csv", "documents.jsonl")]
    done = typed_karat("init", *words)
    assert (done.returncode, done.stderr) == (2, f"karat: {words[0]}: cannot be written (No space left on device)\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
