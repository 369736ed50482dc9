"""Measures as one text with commas, and gains as a function."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import karat as kt
from karat.measures import as_measures, parse_measure

LABELS = {"q": {"a": 1, "b": 3, "c": 0}}
RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}


def test_one_text_with_commas_is_several_measures() -> None:
    text = "P@10, nDCG(gains={0:0,1:3})@10,AP ,mrr@5"
    assert as_measures(text) == [kt.P @ 10, kt.nDCG(gains={0: 0, 1: 3}) @ 10, kt.AP(), kt.RR @ 5]
    assert as_measures(["P@10, AP", kt.AP]) == [kt.P @ 10, kt.AP()]
    assert list(kt.score(LABELS, RUN, "P@2, AP", draws=0).measures) == ["P@2", "AP"]


def test_a_comparison_by_two_measures_says_how() -> None:
    with pytest.raises(kt.BadInput, match="expected one measure, found 2"):
        kt.compare(LABELS, {"a": RUN, "b": RUN}, "P@10, AP")


@pytest.mark.parametrize("text", ["", ",", "P@10,nonsense@3"])
def test_a_text_with_a_name_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(kt.BadInput):
        as_measures(text)


def test_a_function_gives_the_gain_of_each_grade() -> None:
    (value,) = kt.score(LABELS, RUN, kt.DCG(gains=lambda grade: grade**2) @ 2, draws=0).means["value"]
    assert value == pytest.approx(1 + 9 / math.log2(3))


def test_a_function_prints_as_a_table_that_reads_back() -> None:
    measure = kt.nDCG(gains=[0, 1, 5, 20].__getitem__) @ 10
    assert str(measure) == "nDCG(gains={0:0,1:1,2:5,3:20})@10"
    assert parse_measure(str(measure)) == measure == pickle.loads(pickle.dumps(measure))
    assert str(kt.nDCG(gains=lambda grade: 2**grade - 1) @ 10) == "nDCG(gains='exp')@10"
    assert str(kt.DCG(gains={0: 0, 1: 2}.get) @ 5) == "DCG(gains={0:0,1:2})@5"


@pytest.mark.parametrize("function", [lambda grade: -1, lambda grade: "high", lambda grade: math.nan, {}.__getitem__])
def test_a_function_without_usable_gains_is_refused(function: Any) -> None:
    with pytest.raises(kt.BadInput, match="gains"):
        kt.nDCG(gains=function)
