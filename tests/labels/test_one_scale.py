"""Gold labels on another scale than the judges' are refused where that is sure, and left alone where it is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from karat.correction.judge_confusion import confusion
from karat.errors import BadInput
from karat.judges import against_gold
from karat.labels import Panel, split_gold
from karat.labels.scale_check import scale_difference
from karat.records import Judgments, Scale


def labels(grades: list[float]) -> Judgments:
    return Judgments.of({f"q{n % 10}": {f"d{n}": grade for n, grade in enumerate(grades)} for n in [0]})


GRADES = [n % 4 for n in range(80)]  # 40 of them above 1
YES_OR_NO = [int(grade > 1) for grade in GRADES]


@pytest.mark.parametrize(("judged", "gold"), [(GRADES, YES_OR_NO), (YES_OR_NO, GRADES)])
def test_yes_or_no_beside_grades_is_refused_with_the_remedy(judged: list[float], gold: list[float]) -> None:
    for analysis in (split_gold, confusion, Panel.of, lambda a, b: against_gold(Panel.of(a, b))):
        with pytest.raises(BadInput, match=r"found only 0 and 1, also of 40 documents.*recode.*0\.\.3"):
            analysis(labels(judged), labels(gold))


@pytest.mark.parametrize(("judged", "gold"), [(GRADES, YES_OR_NO), (YES_OR_NO, GRADES)])
def test_calibration_takes_either_side_coarser(judged: list[float], gold: list[float]) -> None:
    found = scale_difference(*split_gold(labels(judged), labels(gold), any_scale=True))
    assert found is not None
    assert (found.labels_top, found.gold_top) == (max(judged), max(gold))


@pytest.mark.parametrize(
    ("judged", "gold", "differ"),
    [
        ([grade / 3 for grade in GRADES], GRADES, True),  # shares of 0 to 1
        ([1.6 * grade for grade in GRADES], GRADES, True),  # means on a scale of 0 to 5
        ([0.95 * grade for grade in GRADES], GRADES, False),  # expected grades on the same scale
        ([0.9 * grade for grade in GRADES], [min(grade, 2) for grade in GRADES], False),  # gold without the top grade
        (GRADES, GRADES, False),
    ],
)
def test_labels_between_whole_grades_may_be_on_the_scale(judged: list[float], gold: list[float], differ: bool) -> None:
    assert (scale_difference(labels(judged), labels(gold)) is not None) == differ


def test_a_scale_that_begins_higher_is_refused() -> None:
    with pytest.raises(BadInput, match=r"scale \(1 to 4\), found only 0 to 3, also of 20 documents"):
        split_gold(labels(GRADES), labels([grade + 1 for grade in GRADES]))


def test_a_scale_that_goes_more_than_twice_as_far_up_is_refused() -> None:
    """Gold labels in per cent beside grades of 0 to 3: a difference of 15 in DCG would be told as if it were one."""
    said = r"scale \(0 to 99\), found only 0 to 3, also of 60 documents.*33=1,66=2,99=3"
    with pytest.raises(BadInput, match=said):
        split_gold(labels(GRADES), labels([33 * grade for grade in GRADES]))


@pytest.mark.parametrize(
    "gold",
    [
        [2 * grade for grade in GRADES],  # twice as far: may be a judge who is shy of high grades
        [min(grade, 2) for grade in GRADES],  # nobody reaches the top: a judge may be too kind
        [0] * 80,  # nothing relevant was drawn
        YES_OR_NO[:30],  # 14 documents with a higher grade: too few to be sure
        [2 * grade for grade in YES_OR_NO],  # 0 and 2 are grades of 0..3
    ],
)
def test_gold_that_merely_lacks_grades_is_not(gold: list[float]) -> None:
    assert split_gold(labels(GRADES), labels(gold))[1] is not None


def test_where_the_scale_is_known_both_are_on_it() -> None:
    judged = replace(labels(GRADES), scale=Scale.parse("0..3"))
    assert split_gold(judged, labels(YES_OR_NO))[1] is not None


def test_gold_of_other_documents_decides_nothing() -> None:
    elsewhere = Judgments.of({"other": {f"d{n}": n % 2 for n in range(80)}})
    assert split_gold(labels(GRADES), elsewhere)[1] is not None
