"""Which labels speak of the same thing: METHODS' rule, said once."""

import pytest

from karat.errors import BadInput
from karat.labels import Panel, consensus, select
from karat.labels.selection import subtopics_of
from karat.records import Judgments

PLAIN = {"query": "q", "doc": "d", "label": 2.0, "judge": "ann"}
#: One more label of another kind for each column, and the words for what is left aside.
OTHERS = {
    "aspect": ("novelty", "1 label of single aspects left aside"),
    "surface": ("snippet", "1 label of snippets left aside"),
    "context": ("e", "1 label given after another document left aside"),
    "subtopic": ("3", "1 label of single subtopics left aside"),
}


@pytest.mark.parametrize("column", OTHERS)
def test_a_label_of_another_kind_is_left_aside_and_counted(column: str) -> None:
    other, note = OTHERS[column]
    found = select(Judgments.of([PLAIN | {column: None}, PLAIN | {column: other, "label": 0.0}]))
    assert found.frame["label"].to_list() == [2.0]
    assert found.key == ("query", "doc")
    assert found.notes == (note,)


@pytest.mark.parametrize("column", OTHERS)
def test_a_column_that_is_told_apart_makes_items_of_its_own(column: str) -> None:
    found = select(Judgments.of([PLAIN | {column: None}, PLAIN | {column: OTHERS[column][0]}]), [column])
    assert len(found.frame) == 2
    assert found.key == ("query", "doc", column)
    assert not found.notes


@pytest.mark.parametrize("column", OTHERS)
def test_where_no_label_is_of_the_usual_kind_each_value_is_taken_by_itself(column: str) -> None:
    other = "Snippet " if column == "surface" else "other"
    found = select(Judgments.of([PLAIN | {column: OTHERS[column][0]}, PLAIN | {column: other}]))
    assert len(found.frame) == 2
    assert found.key[-1] == column
    assert "is taken by itself" in found.notes[0]


def test_what_is_told_apart_is_a_column_that_says_what_was_asked() -> None:
    with pytest.raises(BadInput, match=r"column nosuch, found query, .*asked stands in aspect, surface, context, sub"):
        Panel.of([PLAIN], apart=("nosuch",))
    with pytest.raises(BadInput, match="expected a column nosuch"):
        consensus([PLAIN], apart=("nosuch",))


def test_scoring_refuses_labels_of_snippets_alone() -> None:
    with pytest.raises(BadInput, match=r"expected some labels of pages, found only labels of snippets"):
        select(Judgments.of([PLAIN | {"surface": "snippet"}]), strict=True)


def test_overall_page_and_nothing_are_the_same_answer() -> None:
    rows = [PLAIN | {"aspect": aspect, "surface": surface} for aspect, surface in [("Overall ", "PAGE"), (None, None)]]
    assert len(select(Judgments.of(rows)).frame) == 2


def test_subtopic_0_of_a_diversity_file_is_no_subtopic() -> None:
    rows = [PLAIN | {"subtopic": number} for number in ("0", "1", "2")]
    assert subtopics_of(Judgments.of(rows))["subtopic"].to_list() == ["1", "2"]
