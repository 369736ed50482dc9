"""Scores with weights of users who disagree: from the labels that speak of users, and said where they are stretched."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt
from karat.records import Scale

UDM = "nDCG(gains=udm(1/3))@3"
GIVEN = {"a": [2, 2, 1], "b": [1, 0, 0], "c": [2, 1, 1]}
ROWS = [
    {"query": "q", "doc": doc, "judge": f"j{n}", "label": label}
    for doc, labels in GIVEN.items()
    for n, label in enumerate(labels)
]
RUN = {"q": {"b": 3.0, "c": 2.0, "a": 1.0}}


def value(scores: kt.Scores) -> float:
    return float(scores.means["value"][0])


def test_snippets_aspects_and_repeats_are_not_other_users() -> None:
    plain = kt.score(ROWS, RUN, UDM, draws=0)
    more = [row | {"surface": "snippet", "label": 2 - int(row["label"])} for row in ROWS]  # type: ignore[call-overload]
    more += [row | {"aspect": "novelty", "label": 2 - int(row["label"])} for row in ROWS]  # type: ignore[call-overload]
    more += [row | {"label": 2 - int(row["label"])} for row in ROWS]  # type: ignore[call-overload]
    assert value(kt.score(ROWS + more, RUN, UDM, draws=0)) == value(plain)


def test_weights_of_single_labels_on_medians_are_said() -> None:
    note = "user weights are of single labels; the labels of 3 documents are medians of several"
    assert note in kt.score(ROWS, RUN, UDM, draws=0).notes
    worth = {0.0: 0.1, 1.0: 0.4, 2.0: 1.0}
    assert note in kt.score(ROWS, RUN, UDM, user_weights=lambda m, n: worth, draws=0).notes
    single = [row for row in ROWS if row["judge"] == "j0"]
    assert not kt.score(single, RUN, UDM, user_weights=lambda m, n: worth, draws=0).notes
    assert not any("user weights" in note for note in kt.score(ROWS, RUN, "nDCG@3", draws=0).notes)


def test_grades_above_the_top_of_the_weights_are_worth_as_much() -> None:
    scale = Scale.parse("Non, Rel, Key, Nav")
    labels = kt.Judgments.of({"q": {"a": 3, "b": 1, "c": 2}}, scale=scale)
    worth = {0.0: 0.0, 1.0: 0.5, 2.0: 1.0}
    found = kt.score(labels, RUN, UDM, user_weights=lambda m, n: worth, draws=0)
    same = kt.score({"q": {"a": 2, "b": 1, "c": 2}}, RUN, UDM, user_weights=lambda m, n: worth, draws=0)
    assert value(found) == value(same)
    assert "1 label above Key, the top of the user weights: as top" in found.notes
    with pytest.raises(kt.BadInput, match=r"a gain for the grade 1\.5"):
        kt.score({"q": {"a": 1.5}}, RUN, UDM, user_weights=lambda m, n: worth, draws=0)


@pytest.mark.parametrize(("grades", "nothing"), [((-2, 0, 1, 2), (-2, 0)), ((0, 1, 2), (0,)), ((1, 2, 3), (1,))])
def test_zero_is_for_every_grade_that_is_not_above_the_lowest(
    grades: tuple[int, ...], nothing: tuple[int, ...]
) -> None:
    worth = {float(grade): 0.1 * place + 0.1 for place, grade in enumerate(grades)}
    labels = {"q": {str(grade): grade for grade in grades}}
    for grade in grades:
        run = {"q": {str(grade): 1.0}}
        got = kt.score(labels, run, "DCG(gains=udm(1/3,zero=True))@1", user_weights=lambda m, n: worth, draws=0)
        assert value(got) == (0.0 if grade in nothing else pytest.approx(worth[grade]))


def test_which_labels_the_weights_are_from_is_said() -> None:
    notes = kt.score(ROWS, RUN, UDM, draws=0).notes
    assert "user weights: 3 documents with at least 2 labels, 9 labels" in notes
    assert pl.Series(notes).is_unique().all()
