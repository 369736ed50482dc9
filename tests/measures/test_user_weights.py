"""Scores with weights of users who disagree: from the labels that speak of users, and said where they are stretched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.formats import read_user_weights
from karat.judges import disagreement
from karat.records import Scale
from karat.simulate import disagreement_study
from simulated import studies

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


def half_widths(path: Path, ends: str, gains: str) -> tuple[float, float]:
    """The half-width of DCG@1 with weights from a file, of 40 queries whose first document is 1 or 2."""
    path.write_text(f"at_least,of,level,weight{ends}\n")
    labels = kt.Judgments.of({f"q{q}": {"a": 1 + q % 2} for q in range(40)})
    run = {f"q{q}": {"a": 1.0} for q in range(40)}
    found = kt.score(labels, run, f"DCG(gains={gains})@1", user_weights=read_user_weights(path), draws=1000)
    row = found.means.row(0, named=True)
    return row["value"], (row["high"] - row["low"]) / 2


def test_the_interval_of_a_score_holds_the_weights_own(tmp_path: Path) -> None:
    # The mean is half of 1 and half of 0.5; the weight's error, 0.0784 / 1.96 = 0.04, moves it by half as much: 0.02.
    path = tmp_path / "weights.csv"
    sure = half_widths(path, "\n1,3,1,0.5\n1,3,2,1", "udm(1/3)")
    unsure = half_widths(path, ",low,high\n1,3,1,0.5,0.4216,0.5784\n1,3,2,1,,", "udm(1/3)")
    assert sure[0] == unsure[0] == pytest.approx(0.75)
    assert unsure[1] ** 2 == pytest.approx(sure[1] ** 2 + (1.96 * 0.02) ** 2, rel=1e-3)


def test_one_user_is_not_the_judge_and_his_error_is_held_too(tmp_path: Path) -> None:
    # Another label of the document is drawn: "a" has 2, 2, 1, so after a 2 another says 2 in half of the cases.
    p = {0.0: 0.0, 1.0: (1 / 3 + 2 * 1 / 2 * 1 / 3) / (1 / 3 + 1 / 3 + 2 / 3), 2.0: (2 / 3 * 1 / 2) / (2 / 3 + 1 / 3)}
    for grade, doc in ((0, "b"), (1, "c"), (2, "a")):
        got = kt.score(ROWS, {"q": {doc: 1.0}}, "DCG(gains=udm(user))@1", draws=0)
        assert value(got) == pytest.approx(p[float(grade)])
    path = tmp_path / "weights.csv"
    sure = half_widths(path, "\n1,0,1,0.3\n1,0,2,0.6", "udm(user)")
    unsure = half_widths(path, ",low,high\n1,0,1,0.3,,\n1,0,2,0.6,0.5216,0.6784", "udm(user)")
    assert sure[0] == unsure[0] == pytest.approx(0.45)
    assert unsure[1] ** 2 == pytest.approx(sure[1] ** 2 + (1.96 * 0.02) ** 2, rel=1e-3)
    with pytest.raises(kt.BadInput, match="expected weights for 1 of 3 users, found a user who is not the judge"):
        half_widths(path, "\n1,0,1,0.3\n1,0,2,0.6", "udm(1/3)")


@pytest.mark.evidence
def test_weights_of_the_labels_themselves_have_the_error_that_studies_scatter_by() -> None:
    # p(Key | HRel) of studies drawn anew scatters as each says, and 1 of 3 as the formula's slope makes it.
    seen, claimed = [], []
    for seed in studies(30, 300):
        made = disagreement_study(queries=20, engines=3, docs=8, crowd_queries=1, seed=seed)
        model = disagreement(made.judgments, 3, draws=0)
        seen.append(model.binomial(1, 3)[2])
        levels, covariance = model.weight_errors(1, 3)
        assert levels == [0.0, 1.0, 2.0, 3.0]
        assert covariance[3, 3] == 0  # top is top
        claimed.append(covariance[2, 2])
    # A standard deviation of 30 studies is known to within 13 %.
    assert np.sqrt(np.mean(claimed)) == pytest.approx(np.std(seen, ddof=1), rel=0.35)
