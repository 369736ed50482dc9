"""Tables: CSV, TSV, JSON lines and Parquet, with the names other tools use and the faults people make."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

import karat as kt
from karat.formats.content_type import kind_of


def saved(folder: Path, text: str, name: str = "crowd.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return str(folder / name)


def test_columns_of_other_tools_are_understood_and_unknown_ones_kept(tmp_path: Path) -> None:
    path = saved(tmp_path, "query_id,doc_id,relevance,worker,colour\n7,a,1,w1,red\n")
    frame = kt.read_judgments(path).frame
    assert frame.columns == ["query", "doc", "label", "judge", "colour"]
    assert frame.row(0) == ("7", "a", 1.0, "w1", "red")


@pytest.mark.parametrize("cell", ["", "N/A", "can't tell"])
def test_no_answer_is_an_answer(tmp_path: Path, cell: str) -> None:
    judgments = kt.read_judgments(saved(tmp_path, f"query,doc,label\nq,a,1\nq,b,{cell}\n"))
    assert judgments.frame["label"].to_list() == [1.0, None]


def test_levels_have_names_where_a_scale_gives_them(tmp_path: Path) -> None:
    path = saved(tmp_path, "query,doc,label\nq,a,Good\nq,b,bad\n")
    assert kt.read_judgments(path, scale="bad,fair,good").frame["label"].to_list() == [2.0, 0.0]
    with pytest.raises(kt.BadInput, match="name the levels, the worst first, with scale="):
        kt.read_judgments(path)


def test_an_error_counts_the_lines_of_quoted_texts(tmp_path: Path) -> None:
    path = saved(tmp_path, 'query,doc,label,comment\nq,a,1,"two\nlines"\n\nq,b,x,\n')
    with pytest.raises(kt.BadInput, match=r'crowd.csv line 5: expected a number as label, found "x"'):
        kt.read_judgments(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "crowd.csv: expected a first line with the columns' names, found an empty file"),
        ("query,document,colour\nq,d,1\n", "found query, document, colour (no label)"),
        ("query,doc,label\nq,d,1,9\n", "crowd.csv line 2: expected 3 cells (query, doc, label), found 4"),
        ("query,doc,label\nq,,1\n", "crowd.csv line 2: expected a text as doc, found nothing"),
        ("query,doc,label,seconds\nq,d,1,fast\n", 'line 2: expected a number from 0 as seconds, found "fast"'),
        ("query,doc,label\n", None),
    ],
)
def test_a_bad_table_gets_an_error_that_helps(tmp_path: Path, text: str, said: str | None) -> None:
    path = saved(tmp_path, text)
    if said is None:
        assert len(kt.read_judgments(path)) == 0
        return
    with pytest.raises(kt.BadInput) as error:
        kt.read_judgments(path)
    assert said in str(error.value)


def test_json_lines_of_mixed_types_read_as_one_column(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        '{"query": 1, "doc": "a", "label": 2}\n{"query": "x", "doc": "b", "label": "1"}\n',
        "j.jsonl",
    )
    assert kt.read_judgments(path).frame.rows() == [("1", "a", 2.0), ("x", "b", 1.0)]


def test_broken_json_names_its_line(tmp_path: Path) -> None:
    path = saved(tmp_path, '{"query": "q", "doc": "a", "label": 2}\n{oops}\n', "j.jsonl")
    with pytest.raises(kt.BadInput, match=r"j.jsonl line 2: expected a JSON object"):
        kt.read_judgments(path)


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match="expected a Parquet file"):
        kt.read_judgments(saved(tmp_path, "hello", "x.parquet"))


def test_semicolons_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = saved(tmp_path, "\ufeffquery;doc;label\r\nq;a;1\r\nq;b;0\r\n")
    assert kt.read_judgments(path).frame.rows() == [("q", "a", 1.0), ("q", "b", 0.0)]


def test_tab_separated_qrels_without_header_stay_qrels(tmp_path: Path) -> None:
    assert kt.read_judgments(saved(tmp_path, "1\t0\td\t1\n", "qrels.dev.tsv")).frame.rows() == [("1", "d", 1.0)]


def test_blanks_around_cells_are_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path, "query, doc, label\nq1, d1, 2\n q2 ,d5,1\n")
    assert kt.read_judgments(path).frame.rows() == [("q1", "d1", 2.0), ("q2", "d5", 1.0)]


def test_the_columns_of_beir_are_understood(tmp_path: Path) -> None:
    path = saved(tmp_path, "query-id\tcorpus-id\tscore\nq\td\t1\n", "test.tsv")
    assert kt.read_judgments(path).frame.rows() == [("q", "d", 1.0)]


def test_lists_and_objects_are_no_cells(tmp_path: Path) -> None:
    for cell in ('"doc": ["d"], "label": 1', '"doc": "d", "label": [1]', '"doc": "d", "label": {"a": 1}'):
        path = saved(tmp_path, '{"query": "q", ' + cell + "}\n", "x.jsonl")
        with pytest.raises(kt.BadInput, match=r"found lists or objects.*; put the one value itself there"):
            kt.read_judgments(path)


def test_whole_labels_stay_whole(tmp_path: Path) -> None:
    kt.write(kt.Judgments.of({"q": {"d": 2}}), str(tmp_path / "x.csv"))
    assert (tmp_path / "x.csv").read_text() == "query,doc,label\nq,d,2\n"
    kt.write(kt.Judgments.of({"q": {"d": 0.5}}), str(tmp_path / "x.csv"))
    assert (tmp_path / "x.csv").read_text().endswith("0.5\n")


def test_an_ending_that_promises_something_else_is_refused(tmp_path: Path) -> None:
    for name in ("x.xlsx", "x.txt.bz2"):
        with pytest.raises(kt.BadInput):
            kt.write(kt.Judgments.of({"q": {"d": 2}}), str(tmp_path / name))


def test_cells_that_a_spreadsheet_would_run_are_guarded_and_read_back(tmp_path: Path) -> None:
    rows = [{"query": "q", "doc": "a", "label": -2, "judge": "ann", "comment": "=HYPERLINK(1)"}]
    path = str(tmp_path / "x.csv")
    kt.write(kt.Judgments.of(rows), path)
    assert "'=HYPERLINK" in Path(path).read_text()
    back = kt.read_judgments(path)
    assert (back.frame["comment"][0], back.frame["label"][0]) == ("=HYPERLINK(1)", -2.0)


def test_preferences_clicks_queries_and_documents_are_read(tmp_path: Path) -> None:
    preferences = kt.read_preferences(saved(tmp_path, "query,left,right,choice,trap\nq,a,b,LEFT,yes\n"))
    assert preferences.frame.row(0, named=True)["choice"] == "left"
    assert preferences.frame.row(0, named=True)["trap"] is True
    clicks = kt.read_clicks(saved(tmp_path, "query,doc,impressions,clicks\nq,a,10,4\n"))
    assert repr(clicks) == "4 clicks in 10 impressions of 1 result for 1 query"
    log = kt.read_clicks(saved(tmp_path, "query,doc,clicked,dwell\nq,a,true,40\nq,a,false,\n"))
    assert isinstance(log, kt.ClickLog)
    assert log.counts().frame.row(0) == ("q", "a", 2, 1, 1)
    assert repr(kt.read_queries(saved(tmp_path, "qid,title\n1,horse hooves\n"))) == "1 query"
    assert repr(kt.read_documents(saved(tmp_path, "docno,url\nd1,http://x\n"))) == "1 document with url"


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (
            kt.read_preferences,
            "query,left,right,choice\nq,a,b,maybe\n",
            "expected left, equal, right or none as choice",
        ),
        (
            kt.read_preferences,
            "query,left,right,choice\nq,a,a,left\n",
            "expected two systems, found a on both sides",
        ),
        (kt.read_clicks, "query,doc,impressions,clicks\nq,a,1,4\n", "found 4 clicks in 1 impressions"),
        (
            kt.read_clicks,
            "query,doc,clicks\nq,a,1\nq,a,1\n",
            "line 3: expected one row of counts for a result",
        ),
        (kt.read_queries, "query,text\n1,a\n1,b\n", "line 3: expected each query once, found query 1 again"),
        (kt.read_documents, "doc,title\n1,a\n1,b\n", "line 3: expected each document once, found doc 1 again"),
        (kt.read_runs, "query,doc\nq,a\n", "expected a column score or rank"),
    ],
)
def test_other_records_are_checked_too(tmp_path: Path, read: object, text: str, said: str) -> None:
    assert callable(read)
    with pytest.raises(kt.BadInput) as error:
        read(saved(tmp_path, text))
    assert said in str(error.value)


def test_a_run_with_ranks_alone_is_ordered_by_them() -> None:
    runs = kt.Runs.of(pl.DataFrame({"query": ["q", "q"], "doc": ["b", "a"], "rank": [2, 1]}))
    assert runs.frame["score"].to_list() == [-2.0, -1.0]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("q 0 d 1\n", "judgments"),
        ("q Q0 d 1 2.0 t\n", "runs"),
        ("query,doc,label\nq,d,1\n", "judgments"),
        ("query,doc,score\nq,d,1\n", "runs"),
        ("query,left,right,choice\nq,a,b,left\n", "preferences"),
        ("query,doc,clicks\nq,d,1\n", "clicks"),
        ("query,doc,clicked\nq,d,1\n", "clicks"),
        ("query,text\nq,words\n", "queries"),
        ("doc,title\nd,words\n", "documents"),
    ],
)
def test_a_files_columns_tell_what_it_holds(tmp_path: Path, text: str, kind: str) -> None:
    assert kind_of(saved(tmp_path, text, "some.file")) == kind


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_a_large_packed_table_is_known_by_its_first_line(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """zstd packs blocks of 128 kB, of which nothing is known before their last byte."""
    ids = np.random.default_rng(1).bytes(200_000).hex()
    rows = "".join(f"q{n},{ids[40 * n : 40 * n + 40]},1\n" for n in range(10_000))
    (tmp_path / "labels.csv").write_bytes(pack(f"query,doc,label\n{rows}".encode()))
    assert len(kt.read_judgments(tmp_path / "labels.csv")) == 10_000


NESTED = """\
{"query": "51", "text": "horse hooves", "kind": "faceted", "subtopics": [{"subtopic": 1, "description": "care", \
"kind": "informational"}, {"subtopic": 2, "kind": "navigational", "weight": 0.5}]}
{"query": "52", "text": "avp", "kind": "ambiguous", "subtopics": []}
{"query": "53", "text": "espn", "subtopics": null}
"""


def test_subtopics_nested_in_a_query_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text(NESTED)
    found = kt.read_queries(path)
    assert found.frame.columns == ["query", "text", "kind"]
    assert found.frame["query"].to_list() == ["51", "52", "53"]
    assert found.subtopics.select("query", "subtopic", "description", "kind", "weight").rows() == [
        ("51", "1", "care", "informational", None),
        ("51", "2", None, "navigational", 0.5),
    ]


def test_an_id_or_number_names_a_nested_subtopic() -> None:
    for name in ("id", "number", "subtopic_id"):
        found = kt.Queries.of([{"query": "51", "subtopics": [{name: "a", "text": "care", "type": "informational"}]}])
        assert found.subtopics.select("query", "subtopic", "description", "kind").row(0) == (
            "51",
            "a",
            "care",
            "informational",
        )


def test_a_nested_subtopic_without_an_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text('{"query": "51", "subtopics": [{"kind": "navigational"}]}')
    with pytest.raises(kt.BadInput, match=r"subtopics of .*topics.jsonl.*subtopic"):
        kt.read_queries(path)
