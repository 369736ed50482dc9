"""One label of several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.labels import Panel, consensus
from karat.records import Judgments


def said(*labels: float | None, **more: object) -> list[dict[str, object]]:
    return [{"query": "q", "doc": "d", "label": label, "judge": f"j{n}", **more} for n, label in enumerate(labels)]


def one(rows: object, *args: str, **how: str) -> float:
    label: float = consensus(rows, *args, **how).frame["label"].item()  # type: ignore[arg-type]
    return label


@pytest.mark.parametrize(
    ("labels", "median", "majority", "upper", "mean"),
    [
        ((0, 2, 3), 2, 0, 2, 2),  # three different ones: not the lowest
        ((0, 0, 3), 0, 0, 0, 0),
        ((1, 2), 1, 1, 2, 1.5),
        ((0, 1, 3, 3), 1, 3, 3, 2),
        ((2,), 2, 2, 2, 2),
    ],
)
def test_the_median_is_the_grade_in_the_middle(
    labels: tuple[float, ...], median: float, majority: float, upper: float, mean: float
) -> None:
    rows = said(*labels)
    assert one(rows) == median
    assert one(rows, "majority") == majority
    assert one(rows, ties="upper") == upper
    assert one(rows, ties="mean") == mean
    assert one(rows, "mean") == pytest.approx(sum(labels) / len(labels))


def test_even_splits_are_counted() -> None:
    rows = said(0, 1) + [row | {"doc": "e"} for row in said(0, 1, 2)]
    assert consensus(rows).notes == (
        "5 labels of 2 documents: the median counts, and the lower grade where labels split evenly (1 document)",
    )


def test_a_judge_has_one_label_the_first_by_time() -> None:
    rows = said(2, 1, 0, time="9")
    rows += [rows[0] | {"label": 0, "time": "10"}, rows[0] | {"label": 0, "time": "100"}]
    assert one(rows[::-1]) == 1
    assert "2 labels repeated by the same judge: the first counts" in consensus(rows).notes


def test_who_cannot_tell_has_no_say() -> None:
    assert one(said(None, 2, 3, 3)) == 3
    assert "1 answer without a label (can't tell) left aside" in consensus(said(None, 2)).notes


def test_each_context_and_subtopic_has_a_label_of_its_own() -> None:
    rows = said(1, 1) + said(3, 3, context="e") + said(0, 2, 2, subtopic="1")
    found = consensus(rows).frame.sort("label")
    assert found["label"].to_list() == [1, 2, 3]


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=7), min_size=1, max_size=8))
def test_a_panel_reduces_as_the_labels_do(documents: list[list[int]]) -> None:
    rows = [
        {"query": f"q{d % 2}", "doc": f"d{d}", "label": label, "judge": f"j{j}"}
        for d, labels in enumerate(documents)
        for j, label in enumerate(labels)
    ]
    by_numpy = {
        (f"q{d % 2}", f"d{d}"): float(np.quantile(labels, 0.5, method="lower")) for d, labels in enumerate(documents)
    }
    assert {(q, d): label for q, d, label in consensus(rows).frame.iter_rows()} == by_numpy
    panel = Panel.of(rows)
    made = panel.consensus().frame.sort("item")
    assert dict(zip(panel.items.iter_rows(), made["label"], strict=True)) == by_numpy


def test_the_scale_and_the_rules_stay_with_the_labels() -> None:
    from karat.records import Rules, Scale

    asked = Judgments.of(said(1, 2), Scale.parse("bad, fair, good"))
    found = consensus(Judgments(asked.frame, (), asked.scale, Rules(labels=3)))
    assert found.scale == asked.scale
    assert found.rules == Rules(labels=3)


def test_gold_beside_judges_is_no_judge() -> None:
    rows = [row | {"group": "crowd"} for row in said(0, 2, 2)] + [said(0)[0] | {"judge": "gus", "group": "gold"}]
    assert one(rows) == 2
    assert "1 label of the group gold left aside" in consensus(rows).notes
    assert one([row | {"group": "gold"} for row in said(0, 1, 1)]) == 1
