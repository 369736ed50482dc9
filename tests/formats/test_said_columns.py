"""Columns that a user names: in Python for one table, in commands for all that are read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.study import Study

RESULTS = "HITId,WorkerId,Input.qid,Input.docid,Answer.rel\nh1,w1,q1,d1,2\nh2,w2,q1,d2,0\nh3,w1,q2,d3,1\n"
SAID = "query=Input.qid,doc=Input.docid,label=Answer.rel,judge=WorkerId"


def saved(folder: Path, text: str, name: str = "results.csv") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_header_is_what_the_user_says(tmp_path: Path) -> None:
    path = saved(tmp_path, RESULTS)
    columns = dict(part.split("=") for part in SAID.split(","))
    for said in (SAID, columns):
        labels = kt.read_judgments(path, columns=said)
        assert labels.frame.select("query", "doc", "label", "judge").rows()[0] == ("q1", "d1", 2.0, "w1")


def test_what_is_said_stands_above_all_names(tmp_path: Path) -> None:
    path = saved(tmp_path, "qid,query,docno,label,mine\n1,words,d,0,3\n")
    labels = kt.read_judgments(path, columns="query=query,label=mine")
    assert labels.frame.select("query", "doc", "label").rows() == [("words", "d", 3.0)]
    assert kt.Judgments.of(labels.frame).frame.equals(labels.frame), "checked again, it stays so"
    assert not any("counts as" in note for note in labels.notes)


def test_a_text_may_be_the_id_as_well(tmp_path: Path) -> None:
    queries = kt.read_queries(saved(tmp_path, "number,words\n1,horse hooves\n"), columns="query=words,text=words")
    assert queries.frame.select("query", "text").rows() == [("horse hooves", "horse hooves")]


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl", "x.tsv", "x.txt"])
def test_every_table_takes_them(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"topic no": ["q"], "hit": ["d"], "value": [0.5]})
    if name.endswith("parquet"):
        frame.write_parquet(tmp_path / name)
    elif name.endswith("jsonl"):
        frame.write_ndjson(tmp_path / name)
    else:
        frame.write_csv(tmp_path / name, separator="\t")
    runs = kt.read_runs(tmp_path / name, columns={"query": "topic no", "doc": "hit", "score": "value"})
    assert runs.frame.select("query", "doc", "score").rows() == [("q", "d", 0.5)]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("query=Input.q", "expected the column Input.q, for query, found HITId, WorkerId, Input.qid"),
        ("lable=Answer.rel", "expected columns of judgments (query, doc, label"),
        ("query=HITId,query=Input.qid", "expected each column once, found query=HITId and query=Input.qid"),
        ("query=" + "x" * 200_000, "expected names of columns, found field larger than field limit"),
        ("query", 'expected COLUMN=HEADER,..., as query=Input.qid,doc=Input.docid, found "query"'),
    ],
)
def test_what_cannot_be_is_refused_in_words(tmp_path: Path, said: str, words: str) -> None:
    with pytest.raises(kt.BadInput) as error:
        kt.read_judgments(saved(tmp_path, RESULTS), columns=said)
    assert words in str(error.value)


def test_in_a_command_they_hold_for_every_table_that_has_the_header(tmp_path: Path) -> None:
    labels = saved(tmp_path, RESULTS)
    run = saved(tmp_path, "topic,hit,value\nq1,d2,2\nq1,d1,1\nq2,d3,1\n", "mine.csv")
    plain = saved(tmp_path, "q1 Q0 d1 1 2 a\nq2 Q0 d3 1 2 a\n", "a.run")
    said = f"{SAID},doc=hit,score=value".replace("doc=Input.docid,", "")
    done = karat("score", labels, run, plain, "-m", "RR", "--draws", "0", "--tsv", "--columns", said)
    assert done.returncode == 2, "the labels have no other document's id"
    renamed = saved(tmp_path, RESULTS.replace("Input.docid", "hit"), "renamed.csv")
    done = karat("score", renamed, run, plain, "-m", "RR", "--draws", "0", "--tsv", "--columns", said)
    assert done.returncode == 0, done.stderr
    values = {line.split("\t")[0]: line.split("\t")[3] for line in done.stdout.splitlines()}
    assert values == {"system": "value", "a": "1.0", "mine": "0.75"}, "d1 stands second in mine"


@pytest.mark.parametrize("command", [["convert", "-", "--to", "trec"], ["judges"], ["disagree"]])
def test_commands_say_what_is_not_there(tmp_path: Path, command: list[str]) -> None:
    path = saved(tmp_path, RESULTS)
    done = karat(command[0], path, *command[1:], "--columns", SAID + "2")
    assert done.returncode == 2
    assert "--columns: expected a table with the column WorkerId2, for judge, found" in done.stderr
    done = karat(command[0], path, *command[1:], "--columns", SAID + ",dok=HITId")
    assert "--columns: expected columns that karat knows (query, doc, label" in done.stderr


def test_a_study_takes_them_for_all_its_files(tmp_path: Path) -> None:
    saved(tmp_path, RESULTS, "judgments.csv")
    saved(tmp_path, "q1 Q0 d1 1 2 a\nq2 Q0 d3 1 2 a\n", "a.run")
    study = Study.load(tmp_path, columns=SAID)
    assert study.judged.frame["judge"].to_list() == ["w1", "w2", "w1"]
    assert study.systems == ["a"]
    with pytest.raises(kt.BadInput, match="expected a table with the column X, for label"):
        Study.load(tmp_path, columns="label=X")


def test_a_study_of_files_with_other_names_is_told_which_column_is_which(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("term_id,term\n1,tea\n2,milk\n")
    (tmp_path / "d.csv").write_text("sku,name,body\np1,Tea pot,black\np2,Milk,white\n")
    (tmp_path / "a.csv").write_text("term_id,sku,points\n1,p1,2\n1,p2,1\n2,p2,3\n")
    words = ["init", str(tmp_path / "shop"), *(str(tmp_path / name) for name in ("a.csv", "q.csv", "d.csv"))]
    assert "or say which column is which with --columns" in karat(*words).stderr
    done = karat(*words, "--columns", "query=term_id,doc=sku,score=points,text=term,title=name")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "shop" / "queries.csv").read_text() == "query,text\n1,tea\n2,milk\n"
    assert (tmp_path / "shop" / "tasks.csv").read_text() == "query,doc\n1,p1\n1,p2\n2,p2\n"
    assert '"title":"Tea pot"' in (tmp_path / "shop" / "documents.jsonl").read_text()


@pytest.mark.parametrize("head", ["session,query,do\rc,rank,clicked", "query,clicked," + "x" * 200_000])
@pytest.mark.parametrize("more", [(), ("--columns", "doc=page")])
def test_a_carriage_return_or_no_end_among_the_names_is_bad_input(
    tmp_path: Path, head: str, more: tuple[str, ...]
) -> None:
    # The fuzz job, seed 601, case 26557.
    (tmp_path / "log.csv").write_text(f"{head}\ns1,q1,d1,1,1\n", newline="")
    done = karat("clicks", str(tmp_path / "log.csv"), "--out", str(tmp_path / "out.csv"), *more)
    assert done.returncode == 2, done.stderr
    assert "expected" in done.stderr


def test_a_line_break_in_what_is_typed_is_a_blank(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,doc,label\nq,d,1\n")
    done = karat("convert", str(tmp_path / "x.csv"), str(tmp_path / "y.csv"), "--columns", "query=a,\rdoc=doc")
    assert (done.returncode, kt.read_judgments(tmp_path / "y.csv").frame["query"].to_list()) == (0, ["q"])


GOLD = "query,doc,rel,grade,probability\nq1,d1,0,3,1\nq1,d2,0,0,1\nq2,d3,0,2,1\n"
LABELS = "query,doc,rel\nq1,d1,1\nq1,d2,0\nq2,d3,1\n"
RUN = "q1 Q0 d1 1 2 a\nq2 Q0 d3 1 2 a\n"


def test_a_role_before_a_dot_is_about_its_tables_only(tmp_path: Path) -> None:
    labels, gold = saved(tmp_path, LABELS, "labels.csv"), saved(tmp_path, GOLD, "gold.csv")
    for said in ("gold.label=grade", "label=rel,gold.label=grade", {"gold.label": "grade", "labels.label": "rel"}):
        study = Study.load(labels=labels, gold=gold, columns=said)
        assert study.gold is not None
        assert study.gold.frame["label"].to_list() == [3.0, 0.0, 2.0]
        assert study.judged.frame["label"].to_list() == [1.0, 0.0, 1.0]
    assert kt.read_judgments(gold, columns="gold.label=grade").frame["label"].to_list() == [3.0, 0.0, 2.0]


def test_a_study_folder_knows_the_roles_of_its_files(tmp_path: Path) -> None:
    saved(tmp_path, LABELS.replace("doc", "id"), "judgments.csv")
    saved(tmp_path, GOLD, "gold.csv")
    (tmp_path / "runs").mkdir()
    saved(tmp_path / "runs", "query,id,doc,s\nq1,x,d1,2\nq2,y,d3,1\n", "a.csv")
    study = Study.load(tmp_path, columns="labels.doc=id,gold.label=grade,runs.score=s")
    assert study.gold is not None
    assert study.gold.frame["label"].to_list() == [3.0, 0.0, 2.0]
    assert study.judged.frame["doc"].to_list() == ["d1", "d2", "d3"]
    assert study.runs[0].frame["doc"].to_list() == ["d1", "d3"]


def test_commands_take_roles_before_a_dot(tmp_path: Path) -> None:
    labels, gold = saved(tmp_path, LABELS, "labels.csv"), saved(tmp_path, GOLD, "gold.csv")
    run = saved(tmp_path, "query,doc,s,score\nq1,d1,1,9\nq1,d2,2,1\nq2,d3,1,1\n", "mine.csv")
    words = ["score", labels, run, "-m", "RR", "--draws", "0", "--json", "--columns"]
    assert '"value": 0.75' in karat(*words, "runs.score=s").stdout  # d2 first
    assert '"value": 1.0' in karat(*words, "runs.score=score").stdout
    done = karat("judges", "gold", labels, "--gold", gold, "--json", "--columns", "gold.label=grade")
    assert done.returncode == 0, done.stderr
    assert "found rel and grade" in karat("judges", "gold", labels, "--gold", gold).stderr


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("truth.label=grade", "--columns: expected before the dot one of labels, gold, runs"),
        ("gold.score=grade", "--columns: expected columns of gold (query, doc, label"),
        ("gold.label=grades", "expected a table of gold with the column grades, for gold.label, found"),
        ("labels.label=grade", "expected a table of labels with the column grade, for labels.label, found"),
        ("runs.score=grade", "expected a table of runs with the column grade, for runs.score, found no table"),
    ],
)
def test_roles_and_headers_that_match_nothing_are_refused(tmp_path: Path, said: str, words: str) -> None:
    labels, gold = saved(tmp_path, LABELS, "labels.csv"), saved(tmp_path, GOLD, "gold.csv")
    done = karat("score", labels, saved(tmp_path, RUN, "a.run"), "--gold", gold, "-m", "RR", "--columns", said)
    assert done.returncode == 2
    assert words in done.stderr
    with pytest.raises(kt.BadInput):
        Study.load(labels=labels, gold=gold, columns=said)
    with pytest.raises(kt.BadInput, match="columns: expected columns of judgments"):
        kt.read_judgments(labels, columns={"runs.score": "rel"})
