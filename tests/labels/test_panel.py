"""The one layout of items x judges, and its policies."""

import numpy as np
import pytest

from karat.errors import BadInput, Undefined
from karat.labels import Panel
from karat.records import Judgments, Scale

ROW = {"query": "q", "doc": "d", "label": 1.0}


def test_a_judges_second_answer_is_left_aside_unless_asked_for() -> None:
    rows = [ROW | {"judge": "ann"}, ROW | {"judge": "ann", "label": 0.0}, ROW | {"judge": "bob"}]
    panel = Panel.of(rows)
    assert panel.value.tolist() == [1.0, 1.0]
    assert "1 label repeated by the same judge: the first counts" in panel.notes
    assert Panel.of(rows, repeats="all").value.tolist() == [1.0, 0.0, 1.0]


def test_the_same_name_in_two_groups_is_two_judges() -> None:
    rows = [ROW | {"judge": "1", "group": group} for group in ("crowd", "nist")]
    assert Panel.of(rows).judges.rows() == [("crowd", "1"), ("nist", "1")]


def test_several_nameless_labels_of_an_item_are_of_different_people() -> None:
    rows = [ROW | {"judge": None, "label": label} for label in (0.0, 1.0)]
    panel = Panel.of(rows)
    assert panel.judge.tolist() == [0, 1]
    assert panel.nameless.all()
    assert "2 labels without a judge's name taken for those of different people" in panel.notes
    assert len(Panel.of(rows, nameless="one").judge) == 1


def test_one_nameless_label_of_each_item_is_of_one_judge() -> None:
    panel = Panel.of({"q": {"a": 1, "b": 0}})
    assert panel.judge.tolist() == [0, 0]
    assert "2 labels without a judge's name taken for those of one judge" in panel.notes
    assert Panel.of({"q": {"a": 1, "b": 0}}, nameless="different").judge.tolist() == [0, 1]


@pytest.mark.parametrize("inside", [True, False])
def test_gold_is_split_off_once_whether_it_comes_inside_or_apart(inside: bool) -> None:
    labels = [ROW | {"judge": "ann", "group": "crowd"}, ROW | {"doc": "e", "judge": "ann", "group": "crowd"}]
    gold = [ROW | {"label": 3.0, "judge": "gus", "group": "gold"}, ROW | {"doc": "x", "label": 2.0, "group": "gold"}]
    panel = Panel.of([*labels, *gold]) if inside else Panel.of(labels, [ROW | {"label": 3.0}, gold[1]])
    assert panel.groups == ("crowd", "gold")
    np.testing.assert_equal(panel.of_judges().truth, [3.0, np.nan])
    assert "1 document of 2 judged ones have a gold label" in panel.notes


def test_two_places_with_gold_labels_are_refused() -> None:
    labels = [ROW | {"group": "crowd"}, ROW | {"group": "gold"}]
    with pytest.raises(BadInput, match="gold labels in one place"):
        Panel.of(labels, [ROW])


def test_gold_on_another_scale_is_said() -> None:
    labels = [ROW | {"doc": f"d{n}", "label": n % 4, "judge": "ann"} for n in range(20)]
    gold = [ROW | {"doc": f"d{n}", "label": n % 2} for n in range(20)]
    said = "gold labels go from 0 to 1, those of the judges from 0 to 3: are both on one scale?"
    assert said in Panel.of(labels, gold).notes


def test_gold_has_the_features_that_the_labels_have_of_the_same_document() -> None:
    panel = Panel.of([ROW | {"judge": "ann", "kind": "nav"}], [ROW])
    assert panel.feature("kind").to_list() == ["nav", "nav"]


def test_texts_that_are_all_numbers_are_numbers() -> None:
    """As a CSV has them; one that is a name leaves all of them names."""
    panel = Panel.of([ROW | {"length": "10", "code": "007"}, ROW | {"doc": "e", "length": "9", "code": "10"}])
    assert panel.feature("length").to_list() == [10.0, 9.0]
    assert panel.feature("code").to_list() == ["007", "10"]


def test_of_gold_labels_with_groups_the_group_gold_counts() -> None:
    panel = Panel.of([ROW], [ROW | {"group": "gold", "label": 0}, ROW | {"group": "crowd", "label": 2}])
    assert panel.grades[panel.gold].tolist() == [0.0]


def test_the_grades_are_those_of_the_scale() -> None:
    panel = Panel.of(Judgments.of([ROW | {"judge": "ann"}], Scale.parse("Non, HRel, Key")))
    assert panel.grades.tolist() == [0.0, 1.0, 2.0]
    assert panel.said(2.0) == "Key"
    assert panel.top == 2.0


def test_a_panel_is_taken_as_it_is() -> None:
    panel = Panel.of([ROW | {"judge": "ann"}], repeats="all")
    assert Panel.of(panel) is panel


def test_nothing_to_lay_out_is_said() -> None:
    with pytest.raises(Undefined, match="there is no label"):
        Panel.of([ROW | {"judge": "ann", "label": None}])


def test_gold_beside_judges_without_group_makes_no_groups() -> None:
    labels = [{"query": "q", "doc": "d", "label": 1, "judge": judge} for judge in ("ann", "bob")]
    assert not Panel.of(labels, [{"query": "q", "doc": "d", "label": 2}]).has_groups
    assert Panel.of([row | {"group": "crowd"} for row in labels]).has_groups


def test_labels_that_are_measurements_are_laid_out_but_make_no_tables() -> None:
    panel = Panel.of([ROW | {"doc": str(n), "label": n / 7, "judge": "ann"} for n in range(300)])
    assert panel.third_rules == []
    with pytest.raises(BadInput, match="at most 101 different grades"):
        panel.counts()


@pytest.mark.parametrize("chance", [0.0, -1.0, 2.0])
def test_a_chance_to_be_drawn_for_gold_that_is_none_is_refused(chance: float) -> None:
    with pytest.raises(BadInput, match="a probability above 0"):
        Panel.of([ROW | {"judge": "ann"}], [ROW | {"probability": chance}])


def test_features_leave_the_rules_of_the_study_on_the_labels() -> None:
    from karat.judges import add_features
    from karat.records import Rules

    asked = Judgments.of([ROW | {"judge": "ann", "doc": "http://a.org/"}])
    asked = Judgments(asked.frame, rules=Rules(labels=2, apart=2.0))
    assert add_features(asked, ["root_url"]).rules == asked.rules
