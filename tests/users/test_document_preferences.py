"""Pairs of documents: the order they make, and how labels and rankings agree with it."""

from __future__ import annotations

import numpy as np
import pytest

import karat as kt
from karat.labels.document_order import document_order
from karat.users import document_agreement, preferred_documents


def answers(*pairs: tuple[str, str], query: str = "q") -> list[dict[str, str]]:
    return [{"query": query, "left": won, "right": lost, "choice": "left"} for won, lost in pairs]


def test_a_round_robin_is_ordered_by_wins() -> None:
    # Bradley and Terry's strengths rise with the wins where everybody met everybody once.
    docs, rng = [f"d{n}" for n in range(7)], np.random.default_rng(1)
    pairs = [(a, b) if rng.random() < 0.5 else (b, a) for n, a in enumerate(docs) for b in docs[n + 1 :]]
    frame = document_order(kt.Preferences.of(answers(*pairs)))
    assert frame["wins"].to_list() == sorted(frame["wins"], reverse=True)
    assert frame.select("wins", "grade").n_unique() == frame["wins"].n_unique() == frame["grade"].n_unique()


def test_queries_do_not_mix() -> None:
    found = preferred_documents(answers(("x", "y")) + answers(("y", "x"), query="r"))
    assert found.frame.select("query", "doc", "grade").rows() == [
        ("q", "x", 2),
        ("q", "y", 1),
        ("r", "y", 2),
        ("r", "x", 1),
    ]
    assert "0 of 2 answers for a side (0 %) go against it" in found.finding


def test_answers_in_a_circle_go_against_any_order() -> None:
    # x beats y twice, y beats z twice, z beats x once: one answer of five is against x, y, z.
    found = preferred_documents(answers(("x", "y"), ("x", "y"), ("y", "z"), ("y", "z"), ("z", "x")))
    assert found.frame["doc"].to_list() == ["x", "y", "z"]
    assert "1 of 5 answers for a side (20 %)" in found.finding


def test_ppref_and_rpref_by_hand() -> None:
    # q: x > y, x > z, y > z; the run has z, x: x > y right (y is below), x > z wrong, y > z wrong.
    # r: u > v, and the run has neither: unseen. ppref = 1/3 over one query, rpref = (1/3 + 0) / 2.
    said = answers(("x", "y"), ("x", "z"), ("y", "z")) + answers(("u", "v"), query="r")
    found = document_agreement(said, runs={"bm25": {"q": {"z": 2.0, "x": 1.0}, "r": {"w": 1.0}}}, draws=0).frame
    assert found.select("agree", "disagree", "unseen").row(0) == (1, 2, 1)
    assert found.select("ppref", "rpref").row(0) == pytest.approx((1 / 3, 1 / 6))


def test_only_the_top_of_a_list_counts_down_to_a_depth() -> None:
    said = answers(("x", "y"))
    run = {"s": {"q": {"a": 3.0, "y": 2.0, "x": 1.0}}}
    assert document_agreement(said, runs=run, draws=0).frame["disagree"][0] == 1
    assert document_agreement(said, runs=run, depth=1, draws=0).frame["unseen"][0] == 1


def test_users_who_are_divided_prefer_neither() -> None:
    said = answers(("x", "y"), ("y", "x"), ("x", "z"))
    found = document_agreement(said, {"q": {"x": 1, "y": 0, "z": 0}}, draws=0)
    assert found.frame["agree"][0] == 1
    assert "1 pair with as many votes for either document left aside" in found.notes


def test_there_must_be_something_to_compare_with() -> None:
    with pytest.raises(kt.BadInput, match="expected labels or runs, found neither"):
        document_agreement(answers(("x", "y")))
