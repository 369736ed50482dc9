"""Records: checked once, on entry, with scales and notes."""

from __future__ import annotations

from pathlib import Path

import pandas
import polars as pl
import pytest

import karat as kt
from karat.records import Level, Result


def test_frames_rows_and_dictionaries_are_taken() -> None:
    rows = [{"query": "q", "doc": "d", "label": 1}]
    for data in (rows, pl.DataFrame(rows), pl.LazyFrame(rows), {"q": {"d": 1}}):
        assert kt.Judgments.of(data).frame.rows() == [("q", "d", 1.0)]


def test_pandas_frames_are_taken() -> None:
    frame = pandas.DataFrame({"query": [1, 1], "doc": ["a", "b"], "label": [1.0, float("nan")]})
    assert kt.Judgments.of(frame).frame.rows() == [("1", "a", 1.0), ("1", "b", None)]


def test_ids_that_pandas_made_numbers_with_decimals_are_whole_again() -> None:
    labels = kt.Judgments.of(pandas.DataFrame({"qid": [301.0, 302.5], "docno": [7.0, 8.0], "label": [1, 0]}))
    assert labels.frame.select("query", "doc").rows() == [("301", "7"), ("302.5", "8")]
    lost = pandas.DataFrame({"qid": [1e23, 301.0], "docno": ["a", "b"], "label": [1, 0]})
    with pytest.raises(kt.BadInput, match=r"row 1: expected a text as query \(column qid\), found .1e\+23"):
        kt.Judgments.of(lost)  # of 23 digits such a number keeps 16: two ids may be one


def test_input_is_not_changed() -> None:
    frame = pl.DataFrame({"qid": ["q"], "docid": ["d"], "rel": [1]})
    kt.score(frame, {"q": {"d": 1.0}}, "P@1")
    assert frame.columns == ["qid", "docid", "rel"]


def test_a_row_in_memory_is_named_by_its_number() -> None:
    with pytest.raises(kt.BadInput, match=r"the judgments row 2: expected a text as doc, found nothing"):
        kt.Judgments.of([{"query": "q", "doc": "a", "label": 1}, {"query": "q", "doc": None, "label": 1}])
    with pytest.raises(kt.BadInput, match=r"the run row 1: expected a number as score, found NaN"):
        kt.Runs.of({"q": {"d": float("nan")}})
    with pytest.raises(kt.BadInput, match="expected a frame, rows or columns"):
        kt.Judgments.of(3)


def test_infinite_labels_are_bad_labels() -> None:
    with pytest.raises(kt.BadInput, match="expected a number as label"):
        kt.Judgments.of({"q": {"d": float("inf")}})


def test_a_surface_is_a_page_or_a_snippet() -> None:
    rows = [{"query": "q", "doc": "d", "label": 1, "surface": said} for said in ("Page ", "SNIPPET", "", None)]
    assert kt.Judgments.of(rows).frame["surface"].to_list() == ["page", "snippet", None, None]
    with pytest.raises(kt.BadInput, match='row 2: expected page or snippet as surface, found "screenshot"'):
        kt.Judgments.of([rows[0], rows[1] | {"surface": "screenshot"}])


@pytest.mark.parametrize("name", ["seconds", "away"])
@pytest.mark.parametrize("wrong", [-1.0, float("inf"), "inf", "-0.5"])
def test_no_judge_takes_forever_or_less_than_nothing(name: str, wrong: float | str) -> None:
    label = {"query": "q", "doc": "d", "label": 1}
    choice = {"query": "q", "left": "a", "right": "b", "choice": "left"}
    for records, row in ((kt.Judgments, label), (kt.Preferences, choice)):
        with pytest.raises(kt.BadInput, match=f'row 2: expected a number from 0 as {name}, found "{wrong}"'):
            records.of(pl.DataFrame([row | {name: type(wrong)(3)}, row | {name: wrong}]))
        assert records.of([row | {name: 0.0}, row | {name: float("nan")}]).frame[name].to_list() == [0.0, None]


def test_of_two_columns_for_one_thing_the_better_name_counts_and_is_said() -> None:
    frame = pl.DataFrame({"query": ["q"], "qid": ["7"], "doc": ["d"], "label": [1], "grade": [3]})
    labels = kt.Judgments.of(frame)
    assert labels.frame.select("query", "label").row(0) == ("7", 1.0)
    assert labels.notes[:2] == (
        "the judgments: qid counts as the query's id, and not query",
        "the judgments: label counts as the grade given; none when the judge could not tell, and not grade",
    )
    same = kt.Judgments.of(frame.with_columns(qid="query").drop("grade"))
    assert not same.notes, "a copy changes nothing"
    logged = pl.DataFrame({"query": ["q"], "docid": ["d"], "url": ["https://d"], "clicked": [True]})
    assert kt.Clicks.of(logged).frame["doc"].to_list() == ["d"], "an address beside an id is no id"


def test_two_other_names_for_one_column_are_refused() -> None:
    frame = pl.DataFrame({"query": ["q"], "doc": ["d"], "rating": [1], "grade": [3]})
    with pytest.raises(kt.BadInput, match=r"one column as label, .* found rating and grade; call the one that counts"):
        kt.Judgments.of(frame)


def test_a_judge_may_say_the_same_twice() -> None:
    rows = [{"query": "q", "doc": "d", "label": n, "judge": "ann"} for n in (1, 2)]
    assert len(kt.Judgments.of(rows)) == 2


def test_a_scale_has_names_gains_and_grades_below_zero() -> None:
    scale = kt.Scale((Level(-2, "junk"), Level(0, "not"), Level(1, "fair", gain=0.3), Level(2, "top", gain=1.0)))
    assert scale.gains == {-2.0: 0.0, 0.0: 0.0, 1.0: 0.3, 2.0: 1.0}
    assert str(scale) == "-2=junk, 0=not, 1=fair, 2=top"
    assert kt.Scale.parse(str(scale)).grades == scale.grades
    assert str(kt.Scale.parse("0..3")) == "0..3"


@pytest.mark.parametrize("text", ["", "a", "3..1", "a..b", "0=x,0=y", "2=b,1=a", "x,X"])
def test_a_scale_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(kt.BadInput):
        kt.Scale.parse(text)


def test_a_missing_column_says_what_it_was_for() -> None:
    with pytest.raises(kt.BadInput, match="expected the column judge for agreement, found query, doc, label"):
        kt.Judgments.of({"q": {"d": 1}}).need("judge", "agreement")


def test_records_show_themselves_in_a_notebook() -> None:
    html = kt.Judgments.of({"q": {"d": 1}})._repr_html_()
    assert html.startswith("<p>1 judgment of 1 document for 1 query, label 1</p>")


def test_several_labels_of_a_document_without_a_judge_are_of_different_people() -> None:
    rows = [{"query": "q", "doc": "d", "label": label} for label in (0, 3, 3)] + [
        {"query": "q", "doc": "e", "label": 1}
    ]
    labels = kt.Judgments.of(rows)
    assert len(labels) == 4
    assert labels.notes == (
        "the judgments: several labels of 1 document without a judge's name, as of different people",
    )
    assert kt.consensus(labels).frame.rows() == [("q", "d", 3.0), ("q", "e", 1.0)]


def test_a_format_with_one_label_for_a_document_refuses_another(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 d 0\nq 0 e 1\nq 0 d 3\n")
    with pytest.raises(
        kt.BadInput, match=r'qrels\.txt line 3: expected one label for document d of query q, found "3"'
    ):
        kt.read_judgments(tmp_path / "qrels.txt")
    (tmp_path / "qrels.txt").write_text("q 0 d 3\nq 0 d 3\n")
    assert len(kt.read_judgments(tmp_path / "qrels.txt")) == 1


def test_results_print_grades_by_their_names_and_keep_the_numbers() -> None:
    scale = kt.Scale.parse("Non, Rel, HRel, Key")
    result = Result(pl.DataFrame({"level": [3.0], "p_0": [0.5], "n": [7]}), "Found.", scale=scale)
    assert "Key" in result._repr_html_()
    assert "p Non" in result._repr_html_()
    assert result.to_dict()["rows"] == [{"level": 3.0, "p_0": 0.5, "n": 7}]
    bare = Result(result.frame, "Found.", scale=kt.Scale.parse("0..3"))
    assert "p 0" in bare._repr_html_(), "a scale without names changes nothing"
