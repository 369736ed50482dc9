"""TREC's qrels and runs, as they should be and as they come."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

import karat as kt

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n"
RUN = "q1 Q0 d1 1 3.5 bm25\nq1 Q0 d2 2 2.5 bm25\nq2 Q0 d9 1 1e-3 bm25\n"


def saved(folder: Path, text: str | bytes, name: str = "file.txt") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_qrels_are_judgments_of_a_nameless_judge(tmp_path: Path) -> None:
    judgments = kt.read_judgments(saved(tmp_path, QRELS))
    assert judgments.frame.rows() == [("q1", "d1", 2.0), ("q1", "d2", 0.0), ("q2", "d1", -1.0)]
    assert repr(judgments) == "3 judgments of 3 documents for 2 queries, labels -1, 0 and 2"


def test_a_second_column_that_differs_is_the_subtopic(tmp_path: Path) -> None:
    judgments = kt.read_judgments(saved(tmp_path, "q1 1 d1 1\nq1 2 d1 0\n"))
    assert judgments.frame["subtopic"].to_list() == ["1", "2"]


def test_a_run_keeps_scores_and_ranks(tmp_path: Path) -> None:
    runs = kt.read_runs(saved(tmp_path, RUN))
    assert runs.frame.row(2, named=True) == {
        "system": "bm25",
        "query": "q2",
        "doc": "d9",
        "rank": 1,
        "score": 0.001,
    }


def test_a_file_with_two_tags_holds_two_systems(tmp_path: Path) -> None:
    runs = kt.read_runs(saved(tmp_path, "q Q0 d 1 1 a\nq Q0 d 1 1 b\n"))
    assert runs.systems == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        QRELS.replace(" ", "\t"),
        QRELS.replace("\n", "\r\n"),
        "\ufeff" + QRELS,
        QRELS.replace("q1 0", "q1\t 0"),
        QRELS.replace(" ", "   "),
        "\n" + QRELS + "\n\n",
        QRELS.strip(),
        " " + QRELS.replace("\n", " \n"),
    ],
    ids=["tabs", "windows", "bom", "mixed", "wide", "blank lines", "no last newline", "spaces around"],
)
def test_white_space_does_not_matter(tmp_path: Path, text: str) -> None:
    expected = kt.read_judgments(saved(tmp_path, QRELS)).frame
    assert kt.read_judgments(saved(tmp_path, text, "other.txt")).frame.equals(expected)


def test_packed_files_are_told_by_their_bytes_not_their_names(tmp_path: Path) -> None:
    expected = kt.read_runs(saved(tmp_path, RUN)).frame
    packed = {
        "a.gz": gzip.compress(RUN.encode()),
        "b.zst": zstandard.ZstdCompressor().compress(RUN.encode()),
        "c.txt": gzip.compress(RUN.encode()),
        "two.gz": gzip.compress(RUN[:20].encode()) + gzip.compress(RUN[20:].encode()),
        "two.zst": b"".join(zstandard.ZstdCompressor().compress(part.encode()) for part in (RUN[:20], RUN[20:])),
    }
    for name, data in packed.items():
        assert kt.read_runs(saved(tmp_path, data, name)).frame.equals(expected), name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "file.txt: expected lines of 4 columns, found an empty file"),
        ("\n\n", "found an empty file"),
        ("q1 0 d1 1\nq1 0 d2\n", "file.txt line 2: expected 4 columns (query subtopic doc label), found 3"),
        ("q1 0 d1 1\n\nq1 0 d2 1 x\n", "file.txt line 3: expected 4 columns"),
        ("q1 0 d1 1\nq1 0 d2 good\n", 'file.txt line 2: expected a number as label, found "good"'),
        ("q1 0 d1 nan\n", 'line 1: expected a number as label, found "nan"'),
        (
            "q1 0 d1 1\nq1 0 d2 1\nq1 0 d1 0\n",
            'line 3: expected one label for document d1 of query q1, found "0"',
        ),
        (RUN, "is this a run? The labels come first, then the runs"),
        (b"q1 0 d\xe9 1\n", "line 1: expected text in UTF-8, found the byte 0xe9"),
    ],
)
def test_a_bad_qrels_file_gets_an_error_that_helps(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(kt.BadInput) as error:
        kt.read_judgments(saved(tmp_path, text))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "file.txt: expected lines of 6 columns, found an empty file"),
        ("q1 Q0 d1 1 3.5\n", "line 1: expected 6 columns (query Q0 doc rank score system), found 5"),
        ("q1 Q0 d1 1 x bm25\n", 'line 1: expected a number as score, found "x"'),
        ("q1 Q0 d1 1 1 b\nq1 Q0 d2 2 NaN b\n", "line 2: expected a number as score, found NaN"),
        (
            "q1 Q0 d1 1 2 b\nq1 Q0 d2 2 1 b\nq1 Q0 d1 3 0 b\n",
            "line 3: expected document d1 once in the list of query q1",
        ),
        (QRELS, "is this a qrels file?"),
        ("q1  Q0 d1 1 s\n", "expected 6 columns"),
    ],
)
def test_a_bad_run_gets_an_error_that_helps(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(kt.BadInput) as error:
        kt.read_runs(saved(tmp_path, text))
    assert said in str(error.value)


def test_a_repeated_line_is_noted_and_counted_once(tmp_path: Path) -> None:
    path = saved(tmp_path, QRELS + "q1 0 d1 2\n")
    judgments = kt.read_judgments(path)
    assert len(judgments) == 3
    assert judgments.notes == (f"{path}: 1 row repeated an earlier label of the same document and counted once",)


def test_bad_labels_are_dropped_only_on_request_and_said(tmp_path: Path) -> None:
    path = saved(tmp_path, "q1 0 d1 1\nq1 0 d2 5\nq1 0 d3 10\n")
    with pytest.raises(kt.BadInput) as error:
        kt.read_judgments(path, scale="0..3")
    assert str(error.value) == (
        f'{path} line 2: expected a grade of the scale 0..3, found "5" (1 more row like it); '
        "drop it with drop_bad_labels=True or extend the scale"
    )
    judgments = kt.read_judgments(path, scale="0..3", drop_bad_labels=True)
    assert len(judgments) == 1
    assert judgments.notes == (f'{path}: dropped 2 bad labels, the first "5" ({path} line 2)',)


def test_missing_files_folders_and_damaged_archives_are_named(tmp_path: Path) -> None:
    saved(tmp_path, QRELS, "qrels.txt")
    for path, said in {
        str(tmp_path / "qrel.txt"): "no such file; near it: qrels.txt",
        str(tmp_path / "rels.txt"): "no such file; near it: qrels.txt",
        str(tmp_path / "judged-by-me.txt"): "no such file; that folder has qrels.txt",
        str(tmp_path / "none" / "qrels.txt"): f"no such file; there is no folder {tmp_path / 'none'}",
        str(tmp_path): "this is a folder",
        saved(tmp_path, gzip.compress(QRELS.encode())[:-9], "cut.gz"): "damaged or cut short",
        saved(tmp_path, zstandard.ZstdCompressor().compress(QRELS.encode())[:-9], "cut.zst"): "damaged or cut short",
        saved(tmp_path, QRELS.encode("utf-16"), "wide.txt"): "text in UTF-16; convert it with iconv",
        saved(tmp_path, b"BZh91AY", "packed.bz2"): "packed with bzip2",
    }.items():
        with pytest.raises(kt.BadInput) as error:
            kt.read_judgments(path)
        assert said in str(error.value)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, QRELS))
    runs = kt.read_runs(saved(tmp_path, RUN))
    diverse = kt.read_judgments(saved(tmp_path, "q1 1 d1 1\nq1 2 d1 0\n"))
    for name in ("x.txt", "x.txt.gz", "x.zst", "x.csv", "x.tsv", "x.jsonl", "x.parquet", "x.csv.gz"):
        assert kt.write(labels, str(tmp_path / name)) == []
        assert kt.read_judgments(str(tmp_path / name)).frame.equals(labels.frame), name
        kt.write(runs, str(tmp_path / name))
        assert kt.read_runs(str(tmp_path / name)).frame.equals(runs.frame), name
        kt.write(diverse, str(tmp_path / name))
        back = kt.read_judgments(str(tmp_path / name)).frame
        assert back.select(diverse.frame.columns).equals(diverse.frame), name


def test_a_run_without_ranks_is_written_with_those_of_its_scores(tmp_path: Path) -> None:
    runs = kt.Runs.of({"q1": {"a": 0.5, "b": 2.0}}, system="mine")
    kt.write(runs, str(tmp_path / "x.run"))
    assert (tmp_path / "x.run").read_text() == "q1 Q0 a 2 0.5 mine\nq1 Q0 b 1 2.0 mine\n"


def test_ids_with_spaces_are_written_as_csv_and_read_back(tmp_path: Path) -> None:
    labels, path = kt.Judgments.of({"star wars": {"d1": 1}}), str(tmp_path / "x.qrels")
    assert kt.write(labels, path) == [
        f'{path}: written as CSV; TREC\'s format has no place for white space in ids (query "star wars")'
    ]
    assert kt.read_judgments(path).frame.equals(labels.frame)
    runs, path = kt.Runs.of({"star wars": {"d 1": 1.0, "d2": 0.5}}, system="my run"), str(tmp_path / "x.run")
    kt.write(runs, path)
    assert kt.read_runs(path).frame.equals(runs.frame)
    with pytest.raises(kt.BadInput, match="ids without white space"):
        kt.write(labels, path, "trec")


def test_topics_that_are_none_are_refused(tmp_path: Path) -> None:
    for text, said in {"<a>": "topics in XML", "<a/>": "<topic> elements"}.items():
        with pytest.raises(kt.BadInput, match=said):
            kt.read_queries(saved(tmp_path, text, "t.xml"))


def test_a_run_with_scores_only_is_written_with_ranks(tmp_path: Path) -> None:
    kt.write(kt.Runs.of({"q": {"a": 1.0, "b": 2.0}}, system="mine"), str(tmp_path / "my.run"))
    assert (tmp_path / "my.run").read_text().splitlines() == ["q Q0 a 2 1.0 mine", "q Q0 b 1 2.0 mine"]


def test_a_pattern_that_matches_nothing_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match="no such file"):
        kt.read_runs(str(tmp_path / "p*.run"))
