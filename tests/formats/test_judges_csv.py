"""A spreadsheet with a column for each annotator is labels of so many judges."""

from __future__ import annotations

from pathlib import Path

import krippendorff
import numpy as np
import pytest

import karat as kt
from karat import judges
from karat.errors import BadInput

WIDE = """query,doc,anna,ben,carl
q1,d1,2,2,1
q1,d2,0,0,0
q1,d3,1,,1
q2,d1,0,1,0
q2,d4,2,2,2
q2,d5,1,1,
"""


def written(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_each_judge_has_a_column_and_an_empty_cell_is_no_label(tmp_path: Path) -> None:
    labels = kt.read_judgments(written(tmp_path, WIDE))
    assert labels.frame.height == 16
    assert labels.frame.filter(doc="d3").select("query", "label", "judge").rows() == [
        ("q1", 1.0, "anna"),
        ("q1", 1.0, "carl"),
    ]
    assert "a column for each judge, anna, ben, carl" in " ".join(labels.notes)


def test_agreement_is_that_of_another_tool_on_the_same_table(tmp_path: Path) -> None:
    table = np.genfromtxt(WIDE.splitlines()[1:], delimiter=",", usecols=(2, 3, 4))
    alpha = krippendorff.alpha(reliability_data=table.T, level_of_measurement="ordinal")
    found = judges.agreement(kt.read_judgments(written(tmp_path, WIDE)), draws=0).to_frame()
    assert found["alpha_ordinal"][0] == pytest.approx(alpha)


def test_columns_may_be_called_and_ordered_as_they_like(tmp_path: Path) -> None:
    path = written(tmp_path, 'docno\tqid\tanna\tben\nd1\tq1\t"2"\t1\nd2\tq1\t\t0\n', "wide.tsv")
    assert kt.read_judgments(path).frame.select("query", "doc", "label", "judge").rows() == [
        ("q1", "d1", 2.0, "anna"),
        ("q1", "d1", 1.0, "ben"),
        ("q1", "d2", 0.0, "ben"),
    ]


def test_what_judges_were_shown_is_no_judge(tmp_path: Path) -> None:
    text = 'Query;Doc;Title;URL;Anna;Ben\nq1;d1;"Tea; black";http://x/1;2;1\nq1;d2;Milk;http://x/2;;0\n'
    assert kt.read_judgments(written(tmp_path, text)).frame.select("doc", "label", "judge").rows() == [
        ("d1", 2.0, "Anna"),
        ("d1", 1.0, "Ben"),
        ("d2", 0.0, "Ben"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "query,doc,bm25,length\nq1,d1,12.5,300\n",  # features of documents
        "query,doc,title,comment\nq1,d1,Tea,green\n",
        "query,doc,lable,note\nq1,d1,1,2020\n",
        "query,doc,anna,ben\n",  # nothing tells that these are judges
    ],
)
def test_what_holds_no_grades_is_not_taken_for_judges(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match=r"expected judgments with the columns query, doc, label"):
        kt.read_judgments(written(tmp_path, text))


def test_one_may_say_that_it_is_such_a_table(tmp_path: Path) -> None:
    path = written(tmp_path, "query,doc,anna,ben\nq1,d1,70,85\n")
    assert kt.read_judgments(path, format="judges-csv").frame["label"].to_list() == [70.0, 85.0]
    with pytest.raises(BadInput, match="expected a query, a document and a column for each judge, found anna, ben"):
        kt.read_judgments(written(tmp_path, "anna,ben\n1,2\n"), format="judges-csv")
