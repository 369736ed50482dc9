"""Confusion matrices as files: as karat writes them, as a square of shares or of counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt


def read(folder: Path, text: str) -> list[tuple[float, ...]]:
    (folder / "matrix.csv").write_text(text)
    return kt.read_confusion(folder / "matrix.csv").sort("grade", "label").rows()


def test_a_square_of_shares(tmp_path: Path) -> None:
    assert read(tmp_path, "grade,0,1\n0,0.8,0.2\n1,0.1,0.9\n") == [
        (0.0, 0.0, 0.8),
        (0.0, 1.0, 0.2),
        (1.0, 0.0, 0.1),
        (1.0, 1.0, 0.9),
    ]


def test_a_square_of_counts_says_how_many_gold_labels_there_are(tmp_path: Path) -> None:
    """The paper's section 6: 43 of 59 relevant documents and 67 of 84 others."""
    rows = read(tmp_path, "truth;0;1\n0;67;17\n1;16;43\n")
    assert rows == [
        (0.0, 0.0, pytest.approx(67 / 84), 84.0),
        (0.0, 1.0, pytest.approx(17 / 84), 84.0),
        (1.0, 0.0, pytest.approx(16 / 59), 59.0),
        (1.0, 1.0, pytest.approx(43 / 59), 59.0),
    ]


def test_a_row_for_each_grade_and_label(tmp_path: Path) -> None:
    assert read(tmp_path, "truth,label,share,n\n0,0,1,5\n1,1,1,7\n") == [(0.0, 0.0, 1.0, 5.0), (1.0, 1.0, 1.0, 7.0)]


@pytest.mark.parametrize(
    "text",
    [
        "grade,0,1\n0,0.8,\n1,0.1,0.9\n",
        "grade,no,yes\n0,0.8,0.2\n1,0.1,0.9\n",
        "grade,0,1\n0,80,-20\n1,0.1,0.9\n",
        "grade,0,1\n0,8.5,2.5\n1,0.1,0.9\n",
        "grade\n0\n1\n",
        '{"rows": 3}',
    ],
)
def test_what_is_no_matrix_is_said_with_what_is_one(tmp_path: Path, text: str) -> None:
    with pytest.raises(kt.BadInput, match=r"matrix\.csv: expected (a square|the JSON of a confusion table)"):
        read(tmp_path, text)


def test_more_gold_labels_than_people_have_given_are_refused(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match=r"expected a number of gold labels up to 1e\+12, found 1e\+20"):
        read(tmp_path, f"grade,0,1\n0,{10**20},0\n1,3,7\n")
