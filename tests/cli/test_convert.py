"""`karat convert` between formats."""

from __future__ import annotations

from pathlib import Path

import karat as kt
from commands import karat


def test_qrels_go_to_every_format_and_back(tmp_path: Path) -> None:
    text = "q1 0 d1 2\nq1 0 d2 -1\n"
    (tmp_path / "qrels.txt").write_text(text)
    for name in ("x.csv", "x.tsv.gz", "x.jsonl.zst", "x.parquet", "book.json"):
        there = karat("convert", str(tmp_path / "qrels.txt"), str(tmp_path / name))
        assert there.returncode == 0, there.stderr
        back = karat("convert", str(tmp_path / name), "-", "--to", "trec")
        assert back.stdout == text, name


def test_standard_input_is_converted(tmp_path: Path) -> None:
    done = karat("convert", "-", "-", "--to", "csv", given="q 0 d 1\n")
    assert done.stdout == "query,doc,label\nq,d,1\n"


def test_several_judges_need_a_consensus_to_become_qrels(tmp_path: Path) -> None:
    (tmp_path / "crowd.csv").write_text("query,doc,label,judge\nq,d,1,a\nq,d,1,b\nq,d,0,c\n")
    refused = karat("convert", str(tmp_path / "crowd.csv"), str(tmp_path / "out.txt"))
    assert refused.returncode == 2
    assert "reduce them first with --consensus" in refused.stderr
    assert not (tmp_path / "out.txt").exists()
    done = karat("convert", str(tmp_path / "crowd.csv"), str(tmp_path / "out.txt"), "--consensus")
    assert (tmp_path / "out.txt").read_text() == "q 0 d 1\n"
    assert "the median counts" in done.stderr


def test_what_is_lost_is_said(tmp_path: Path) -> None:
    (tmp_path / "crowd.csv").write_text("query,doc,label,judge\nq,d,1,a\nq,e,,b\n")
    done = karat("convert", str(tmp_path / "crowd.csv"), "-", "--to", "trec")
    assert done.stdout == "q 0 d 1\n"
    assert "trec has no place for judge: left out" in done.stderr
    assert "1 answer without a label: left out" in done.stderr


def test_runs_and_topics_are_converted_too(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 d 1 2.5 t\nq Q0 e 2 1.5 t\n")
    karat("convert", str(tmp_path / "a.run"), str(tmp_path / "a.parquet"))
    assert repr(kt.read_runs(str(tmp_path / "a.parquet"))) == "2 documents for 1 query by t"
    topics = '<t><topic number="1" type="faceted"><query>x</query><subtopic number="1">y</subtopic></topic></t>'
    (tmp_path / "t.xml").write_text(topics)
    done = karat("convert", str(tmp_path / "t.xml"), str(tmp_path / "t.csv"))
    assert "1 subtopic" in done.stderr
    assert "left out" in done.stderr
    assert kt.read_queries(str(tmp_path / "t.csv")).frame["text"].to_list() == ["x"]


def test_unknown_kinds_and_formats_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert "say it with --kind" in karat("convert", str(tmp_path / "x.csv"), "-").stderr
    (tmp_path / "q.txt").write_text("q 0 d 1\n")
    assert "expected csv or tsv" in karat("convert", str(tmp_path / "q.txt"), "-", "--to", "doc").stderr
    assert (
        "'cats' is not one of 'judgments', 'runs'"
        in karat("convert", str(tmp_path / "x.csv"), "-", "--kind", "cats").stderr
    )


def test_as_many_rows_are_told_as_are_written(tmp_path: Path) -> None:
    rows = [
        f"q,d{n},{label},{judge},{context}"
        for n in range(3)
        for judge in "ab"
        for label, context in ((1, ""), (0, "x"))
    ]
    (tmp_path / "crowd.csv").write_text("\n".join(["query,doc,label,judge,context", *rows]) + "\n")
    done = karat("convert", str(tmp_path / "crowd.csv"), str(tmp_path / "out.txt"), "--consensus", "majority")
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "out.txt").read_text().splitlines()
    assert len(written) == 3
    assert "Wrote 3 rows of judgments" in done.stderr
    assert "3 labels given after another document left aside" in done.stderr


def test_the_median_stands_where_three_labels_differ(tmp_path: Path) -> None:
    (tmp_path / "crowd.csv").write_text("query,doc,label,judge\nq,d,0,a\nq,d,2,b\nq,d,3,c\n")
    for how, label in (((), "2"), (("mean",), "1.666666667"), (("majority",), "0")):
        done = karat("convert", str(tmp_path / "crowd.csv"), "-", "--to", "trec", "--consensus", *how)
        assert done.stdout == f"q 0 d {label}\n"


def test_an_error_model_gives_the_labels_of_qrels(tmp_path: Path) -> None:
    """Eve answers upside down: her labels tell as much as the others', and outvote nobody."""
    said = {"ann": "010101", "bob": "010100", "eve": "101010"}
    rows = [f"q,d{n},{label},{judge}" for judge, given in said.items() for n, label in enumerate(given)]
    (tmp_path / "crowd.csv").write_text("\n".join(["query,doc,label,judge", *rows]) + "\n")
    labels = {}
    for how in ("median", "dawid-skene"):
        done = karat("convert", str(tmp_path / "crowd.csv"), "-", "--to", "trec", "--consensus", how)
        labels[how] = "".join(line.split()[3] for line in done.stdout.splitlines())
    assert labels == {"median": "010100", "dawid-skene": "010101"}
    assert "one label per document: the most probable grade. Dawid-Skene converged" in done.stderr


def test_grades_become_others_and_what_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("query,doc,label\nq,a,3\nq,b,2\nq,c,1\nq,d,0\nq,e,\n")
    done = karat("convert", str(tmp_path / "labels.csv"), "-", "--to", "csv", "--map", "2=1,3=1")
    assert done.stdout == "query,doc,label\nq,a,1\nq,b,1\nq,c,1\nq,d,0\nq,e,\n"
    for mapped, said in (
        ("5=1", "grades of the file (0, 1, 2, 3), found 5"),
        ("two=1", "as 2=1,3=1"),
        ("2=nan", "as 2"),
    ):
        refused = karat("convert", str(tmp_path / "labels.csv"), "-", "--map", mapped)
        assert refused.returncode == 2
        assert said in refused.stderr
    (tmp_path / "a.run").write_text("q Q0 d 1 1 a\n")
    assert "--map would do nothing" in karat("convert", str(tmp_path / "a.run"), "-", "--map", "2=1").stderr
