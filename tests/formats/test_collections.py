"""Files of test collections and toolkits: PyTerrier, BEIR, MS MARCO, TREC's topics, LETOR, ir_metadata."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_svmlight_file

import karat as kt
from commands import karat
from karat.advice import speak_command_line
from karat.formats.content_type import kind_of

CLASSIC = """<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in international criminal
activity, the activity, and, if possible, collaborating organizations
and the countries involved.

<narr> Narrative:
A relevant document must as a minimum identify the organization.

</top>

<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies
<desc> Description:
Document will discuss government assistance to Airbus Industrie.
</top>
"""
#: The first lines of MQ2007, with fewer features.
LETOR = """2 qid:10032 1:0.056537 2:0.000000 46:0.076923 #docid = GX029-35-5894638 inc = 0.01198 prob = 0.139842
0 qid:10032 1:0.279152 2:0.000000 46:1.000000 #docid = GX030-77-6315042 inc = 1 prob = 0.341364
"""
#: ir_metadata's own annotations above a run, shortened.
METADATA = """# ir_metadata.start
# platform:
#   hardware:
#     cpu:
#       model: 'Intel Xeon Gold 6144 CPU @ 3.50GHz'
# tag: bm25
# ir_metadata.end
301 Q0 FBIS3-1 1 12.5 bm25
301 Q0 FBIS3-2 2 11.5 bm25
"""


def saved(folder: Path, text: str, name: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_classic_topics_are_read(tmp_path: Path) -> None:
    path = saved(tmp_path, CLASSIC, "topics.301-302.txt")
    assert kind_of(path) == "queries"
    queries = kt.read_queries(path)
    assert queries.frame.select("query", "text").rows() == [
        ("301", "International Organized Crime"),
        ("51", "Airbus Subsidies"),
    ]
    assert queries.frame["description"][1] == "Document will discuss government assistance to Airbus Industrie."
    assert queries.frame["narrative"].to_list() == [
        "A relevant document must as a minimum identify the organization.",
        None,
    ]
    fire = saved(tmp_path, "<top lang='en'>\n<num>176</num>\n<title>YSR Reddy death</title>\n</top>\n", "fire.xml")
    assert kt.read_queries(fire).frame.rows() == [("176", "YSR Reddy death")]


def test_headerless_topics_are_read(tmp_path: Path) -> None:
    text = "2024-145979\twhat is vicarious trauma and how can it be coped with?\n2024-158743\twhat was happening\n"
    path = saved(tmp_path, text, "topics.rag24.test.txt")
    assert kind_of(path) == "queries"
    assert kt.read_queries(path).frame.row(0) == tuple(text.splitlines()[0].split("\t"))
    passages = kt.read_documents(saved(tmp_path, "0\tThe presence of communication\n7\tmore words\n", "collection.tsv"))
    assert passages.frame.rows() == [("0", "The presence of communication"), ("7", "more words")]
    rag25 = saved(tmp_path, '{"id": "5", "title": "I am interested in what affects climate"}\n', "rag25_queries.jsonl")
    assert kind_of(rag25) == "queries"
    assert kt.read_queries(rag25).frame.rows() == [("5", "I am interested in what affects climate")]


def test_runs_of_ms_marco_are_read_by_rank(tmp_path: Path) -> None:
    lines = [f"1048585\t{passage}\t{rank}" for rank, passage in enumerate(["7187158", "7187157", "7187163", "5"], 1)]
    path = saved(tmp_path, "\n".join(lines) + "\n", "run.dev.tsv")
    assert kind_of(path) == "runs"
    scores = kt.score({"1048585": {"7187157": 1}}, kt.read_runs(path), ["RR@10"])
    assert scores.queries["RR@10"].to_list() == [0.5]


def test_metadata_above_a_run_is_left_aside(tmp_path: Path) -> None:
    path = saved(tmp_path, METADATA, "bm25.run")
    assert kind_of(path) == "runs"
    runs = kt.read_runs(path)
    assert runs.systems == ["bm25"]
    assert runs.frame["doc"].to_list() == ["FBIS3-1", "FBIS3-2"]
    assert runs.notes == (f"{path}: 7 lines of comments above left aside",)
    tabs = saved(tmp_path, METADATA.replace("301 Q0", "301\tQ0"), "tabs.run")
    assert kt.read_runs(tabs).frame["doc"].to_list() == ["FBIS3-1", "FBIS3-2"]
    short = saved(tmp_path, METADATA + "301 Q0 FBIS3-3\n", "short.run")
    with pytest.raises(kt.BadInput, match=r"short.run line 10: expected 6 columns"):
        kt.read_runs(short)


def test_lines_of_letor_are_labels_with_features(tmp_path: Path) -> None:
    path = saved(tmp_path, LETOR, "train.txt")
    assert kind_of(path) == "judgments"
    labels = kt.read_judgments(path)
    assert labels.frame.select("query", "doc", "label", "f1", "f46").rows() == [
        ("10032", "GX029-35-5894638", 2.0, 0.056537, 0.076923),
        ("10032", "GX030-77-6315042", 0.0, 0.279152, 1.0),
    ]
    nameless = kt.read_judgments(saved(tmp_path, "1 qid:1 1:3\n0 qid:1 2:4.5\n", "mslr.txt"))
    assert nameless.frame.select("doc", "f1", "f2").rows() == [("1", 3.0, 0.0), ("2", 0.0, 4.5)]
    assert "the numbers of the lines are the ids" in nameless.notes[-1]
    # Words that stand there twice for a query are no ids.
    remarks = kt.read_judgments(saved(tmp_path, "1 qid:1 1:3 # very good\n0 qid:1 1:4 # very bad\n", "mine.txt"))
    assert remarks.frame["doc"].to_list() == ["1", "2"]


def test_letor_is_written_as_svmlight_reads_it(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, LETOR, "train.txt"))
    kt.write(labels, tmp_path / "out.letor", "letor")
    x, y, query = load_svmlight_file(str(tmp_path / "out.letor"), query_id=True)
    assert y.tolist() == [2.0, 0.0]
    assert query.tolist() == [10032, 10032]
    assert np.allclose(x.toarray(), [[0.056537, 0, 0.076923], [0.279152, 0, 1.0]])
    back = kt.read_judgments(tmp_path / "out.letor")
    assert back.frame.select("query", "doc", "label").equals(labels.frame.select("query", "doc", "label"))
    with pytest.raises(kt.BadInput, match="expected columns of numbers, as features"):
        kt.write(kt.Judgments.of({"q": {"d": 1}}), tmp_path / "out.letor", "letor")


def test_the_files_of_beir_come_in_and_go_out(tmp_path: Path) -> None:
    """Read back as BEIR's own loader does: `_id`, title and text from JSON, labels from tabs below a header."""
    corpus = {
        "_id": "4983",
        "title": "Microstructural development",
        "text": "Alterations of the architecture",
        "metadata": {},
    }
    query = {"_id": "0", "text": "0-dimensional biomaterials show inductive properties.", "metadata": {}}
    texts = {
        "corpus.jsonl": json.dumps(corpus) + "\n",
        "queries.jsonl": json.dumps(query) + "\n",
        "test.tsv": "query-id\tcorpus-id\tscore\n0\t4983\t1\n",
    }
    kinds = {"corpus.jsonl": "documents", "queries.jsonl": "queries", "test.tsv": "judgments"}
    out = tmp_path / "out"
    out.mkdir()
    for name, text in texts.items():
        path = saved(tmp_path, text, name)
        assert kind_of(path) == kinds[name]
        done = karat("convert", path, str(out / name), "--to", "beir")
        assert done.returncode == 0, done.stderr
        plain = karat("convert", path, str(tmp_path / "plain.csv"))
        assert plain.returncode == 0, plain.stderr
    assert json.loads((out / "corpus.jsonl").read_text()) == {k: corpus[k] for k in ("_id", "title", "text")}
    assert json.loads((out / "queries.jsonl").read_text()) == {k: query[k] for k in ("_id", "text")}
    with (out / "test.tsv").open() as lines:
        assert [*csv.reader(lines, delimiter="\t")] == [["query-id", "corpus-id", "score"], ["0", "4983", "1"]]
    with pytest.raises(kt.BadInput, match=r"expected whole numbers as labels, found 0\.5"):
        kt.write(kt.Judgments.of({"q": {"d": 0.5}}), out / "test.tsv", "beir")


def test_the_frames_of_pyterrier_go_out_and_come_in(tmp_path: Path) -> None:
    run = kt.Runs.of({"1": {"d10": 2.5, "d20": 3.5}})
    kt.write(run, tmp_path / "res.csv", "pyterrier")
    frame = pandas.read_csv(tmp_path / "res.csv", dtype={"qid": str})
    assert frame.to_dict("records") == [
        {"qid": "1", "docno": "d20", "rank": 0, "score": 3.5},
        {"qid": "1", "docno": "d10", "rank": 1, "score": 2.5},
    ]
    assert sorted(kt.read_runs(tmp_path / "res.csv").frame.select("query", "doc", "score").rows()) == [
        ("1", "d10", 2.5),
        ("1", "d20", 3.5),
    ]
    kt.write(kt.Queries.of([{"query": "1", "text": "words"}]), tmp_path / "topics.csv", "pyterrier")
    assert (tmp_path / "topics.csv").read_text() == "qid,query\n1,words\n"
    assert kt.read_queries(tmp_path / "topics.csv").frame.rows() == [("1", "words")]
    kt.write(kt.Judgments.of({"1": {"d10": 2}}), tmp_path / "qrels.csv", "pyterrier")
    assert (tmp_path / "qrels.csv").read_text() == "qid,docno,label\n1,d10,2\n"


@pytest.mark.parametrize(
    ("read", "name", "text", "said"),
    [
        (
            kt.read_queries,
            "t.txt",
            "<top>\n<title> no number\n</top>\n",
            "line 1: expected a topic with <num>, found none",
        ),
        (kt.read_queries, "t.txt", CLASSIC + CLASSIC, "expected each query once, found query 301 again"),
        (kt.read_judgments, "t.txt", CLASSIC, "only queries are read from TREC-TOPICS"),
        (kt.read_queries, "t.tsv", "1\ttwo words\n2\n", "expected the names of the columns"),
        (
            kt.read_judgments,
            "l.txt",
            LETOR + "1 10032 1:0.5\n",
            "line 3: expected a label, qid:QUERY and features as 1:0.5",
        ),
        (
            kt.read_judgments,
            "l.txt",
            LETOR + "1 qid:3 1:x #docid = d\n",
            'line 3: expected a number as feature, found "1:x"',
        ),
        (
            kt.read_judgments,
            "l.txt",
            LETOR + "1 qid:3 1:2\n",
            "line 3: expected a document, as #docid = d1, found none",
        ),
        (kt.read_judgments, "l.txt", LETOR + LETOR.replace("2 qid", "1 qid"), "line 3: expected one label"),
        (kt.read_runs, "l.txt", LETOR, "only judgments are read from LETOR"),
        (kt.read_runs, "m.tsv", "1\t2\t1\n1\t3\t0.5\n", "expected 6 columns"),
        (kt.read_runs, "m.tsv", "1\t2\t1\n1\t2\t2\n", "line 2: expected document 2 once"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, read: object, name: str, text: str, said: str) -> None:
    assert callable(read)
    with pytest.raises(kt.BadInput) as error:
        read(saved(tmp_path, text, name))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\ttwo words\n2\tthree more words\n", "which could be queries or documents; say it with --kind"),
        ("1\t2\t1\n1\t3\t2\n", "ranks (runs) or labels (judgments)"),
    ],
)
def test_lines_that_could_be_two_things_are_refused_with_both(tmp_path: Path, text: str, said: str) -> None:
    with speak_command_line(), pytest.raises(kt.BadInput) as error:
        kind_of(saved(tmp_path, text, "x.tsv"))
    assert said in str(error.value)
