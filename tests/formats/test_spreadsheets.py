"""Tables as spreadsheets and people leave them: what can mean one thing only is read, the rest is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt
from commands import karat


def saved(folder: Path, text: str, name: str = "labels.csv", encoding: str = "utf-8") -> str:
    (folder / name).write_bytes(text.encode(encoding))
    return str(folder / name)


@pytest.mark.parametrize("header", ["Query ID,Document ID,Relevance", "QUERY_ID, doc-id ,Rating", "topic id,Doc,LABEL"])
def test_capitals_blanks_and_hyphens_of_names_do_not_matter(tmp_path: Path, header: str) -> None:
    read = kt.read_judgments(saved(tmp_path, f"{header}\nq1,d1,2\n"))
    assert read.frame.select("query", "doc", "label").rows() == [("q1", "d1", 2.0)]


@pytest.mark.parametrize("before", ["sep=;\r\n", "\ufeffsep=;\r\n", "\ufeff", ""])
def test_what_excel_puts_above_a_table_is_no_row_of_it(tmp_path: Path, before: str) -> None:
    path = saved(tmp_path, before + 'Query;Doc;Label;Comment\r\nq1;d1;2;"so; so"\r\nq1;d2;1;\r\n;;;\r\n\r\n')
    read = kt.read_judgments(path)
    assert read.frame.select("query", "doc", "label", "comment").rows() == [
        ("q1", "d1", 2.0, "so; so"),
        ("q1", "d2", 1.0, None),
    ]
    saved(tmp_path, before + "Query;Doc;Label\r\nq1;d1;2\r\nq1;d2;high\r\n")
    with pytest.raises(kt.BadInput, match=f"line {4 if 'sep' in before else 3}: expected a number as label"):
        kt.read_judgments(path)


@pytest.mark.parametrize("above", ["\n", "\r\n \r\n", "\n\n\n"])
def test_blank_lines_above_a_table_are_no_rows_and_are_counted(tmp_path: Path, above: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"{above}query;doc;label\nq1;d1;1,5\n")
    assert kt.read_judgments(path).frame["label"].to_list() == [1.5]
    path.write_text(f"{above}query;doc;label\nq1;d1;high\n")
    with pytest.raises(kt.BadInput, match=f"line {above.count(chr(10)) + 2}: expected a number"):
        kt.read_judgments(path)


def test_commas_are_decimal_points_where_semicolons_divide_cells(tmp_path: Path) -> None:
    read = kt.read_judgments(saved(tmp_path, "query;doc;label\nq1;d1;0,5\nq1;1,5;1\n"))
    assert read.frame.select("doc", "label").rows() == [("d1", 0.5), ("1,5", 1.0)]  # an id stays what it is
    assert read.notes == (f"{tmp_path}/labels.csv: commas in label are decimal points",)
    runs = kt.read_runs(saved(tmp_path, "query;doc;score\nq1;d1;12,5\nq1;d2;-1,25\n", "a.csv"))
    assert runs.frame["score"].to_list() == [12.5, -1.25]
    with pytest.raises(kt.BadInput, match='expected a number as label, found "1,234"'):  # thousands, or decimals
        kt.read_judgments(saved(tmp_path, 'query,doc,label\nq1,d1,"1,234"\n'))


def test_other_encodings_are_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match=r"line 2: expected text in UTF-8.*save it as CSV UTF-8.*windows-1252"):
        kt.read_judgments(saved(tmp_path, "query;doc;label;judge\nq1;d1;2;Jürgen\n", encoding="cp1252"))
    with pytest.raises(kt.BadInput, match="UTF-16; convert it with iconv -f utf-16"):
        kt.read_judgments(saved(tmp_path, "query,doc,label\nq1,d1,2\n", encoding="utf-16"))


def test_words_for_labels_need_their_order(tmp_path: Path) -> None:
    path = saved(tmp_path, "query,doc,label\nq1,d1,yes\nq1,d2,No\n")
    with pytest.raises(kt.BadInput, match="name the levels, the worst first, with scale="):
        kt.read_judgments(path)
    assert kt.read_judgments(path, scale="no,yes").frame["label"].to_list() == [1.0, 0.0]


def test_columns_without_a_word_in_them_hinder_no_analysis(tmp_path: Path) -> None:
    """MTurk leaves columns such as NumberOfSimilarHITs empty; quoted, their cells are empty texts: a fault once."""
    rows = "".join(f'"q{n % 3}","d{n}","{(n + w) % 2}","w{w}","","."\n' for n in range(9) for w in range(3))
    done = karat("judges", saved(tmp_path, f"query,doc,label,judge,NumberOfSimilarHITs,odd\n{rows}"))
    assert (done.returncode, "fault" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("book.csv", "query,docid,ann@example.com,Bob Smith\nshoes,d1,3,2\nboots,d3,0,1\n", "4 rows of judgments"),
        ("info.csv", "Team Name,Case Name,Case ID,Query Text,Doc ID,Rating\nt,c,1,shoes,D1,3\n", "1 row of judgments"),
        (
            "ubi_events.ndjson",
            '{"query_id": "i", "user_query": "shoes", "query_response_hit_ids": ["d1"]}\n'
            '{"action_name": "click", "query_id": "i", "client_id": "c", "timestamp": "2024-11-01T10:00:05Z",'
            ' "event_attributes": {"object": {"object_id": "d1"}, "position": {"ordinal": 1}}}\n',
            "1 row of clicks",
        ),
    ],
)
def test_convert_knows_what_they_hold(tmp_path: Path, name: str, text: str, what: str) -> None:
    done = karat("convert", saved(tmp_path, text, name), str(tmp_path / "out.csv"))
    assert what in done.stderr
