"""Votes: who is believed, how answers become a majority, and when users find two systems equal."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from karat.errors import BadInput, Undefined
from karat.records import Preferences
from karat.users import preference_judges, preferred, trusted, votes


def said(*answers: tuple[str, ...], **more: Any) -> Preferences:
    """Answers as (judge, subtopic, choice); a is on the left."""
    rows = [
        {"query": "q", "left": "a", "right": "b", "judge": j, "subtopic": s, "choice": c} | more for j, s, c in answers
    ]
    return Preferences.of(rows)


def test_the_normalised_majority_counts_everybody_who_saw_the_pair() -> None:
    """Five saw subtopic 1: (3 - 1) / 5 = 0.4; two saw subtopic 2: (0 - 1) / 2 = -0.5; the mean is -0.05: b."""
    answers = said(
        *[(f"j{n}", "1", c) for n, c in enumerate(("left", "left", "left", "right", "none"))],
        *[(f"k{n}", "2", c) for n, c in enumerate(("right", "equal"))],
    )
    by_subtopic = votes(answers).frame
    assert by_subtopic["value"].to_list() == pytest.approx([0.4, -0.5])
    row = preferred(answers).frame.row(0, named=True)
    assert row["value"] == pytest.approx(-0.05)
    assert (row["sign"], row["n"], row["subtopics"]) == (-1, 7, 2)
    assert preferred(answers, by="subtopic").frame["sign"].to_list() == [1, -1]


def test_sides_do_not_matter() -> None:
    turned = [
        {"query": "q", "left": "b", "right": "a", "choice": "right"},
        {"query": "q", "left": "a", "right": "b", "choice": "left"},
    ]
    row = votes(Preferences.of(turned)).frame.row(0, named=True)
    assert (row["a"], row["b"], row["for_a"], row["for_b"]) == ("a", "b", 2, 0)


def test_a_mean_that_is_nothing_but_rounding_is_equal() -> None:
    """Three subtopics: 1/3 + 1/3 - 2/3 is not 0 in floating point."""
    answers = []
    for subtopic, choices in (("1", "lle"), ("2", "lre"), ("3", "rle"), ("4", "rre")):
        answers += [
            (f"{subtopic}{n}", subtopic, {"l": "left", "r": "right", "e": "equal"}[c]) for n, c in enumerate(choices)
        ]
    row = preferred(said(*answers)).frame.row(0, named=True)
    assert row["sign"] == 0


def test_a_judge_who_failed_a_trap_is_left_out_of_every_count() -> None:
    pair = {"query": "q", "left": "a", "right": "b", "trap": False, "expected": None}
    trap = pair | {"trap": True, "expected": "right"}
    rows = [pair | {"judge": "ann", "choice": "left"}, pair | {"judge": "bob", "choice": "right"}]
    rows += [pair | {"judge": "bob", "choice": "right", "query": "r"}, pair | {"judge": "eve", "choice": "left"}]
    rows += [trap | {"judge": "ann", "choice": "right"}, trap | {"judge": "bob", "choice": "right"}]
    rows += [trap | {"judge": "bob", "choice": "equal"}]
    kept = trusted(Preferences.of(rows))
    assert kept.frame["judge"].to_list() == ["ann", "eve"]
    assert "1 judge of 3 failed a trap and is left out with 2 answers; 3 traps are no votes" in kept.notes
    assert "1 judge met no trap and is believed" in kept.notes
    assert votes(Preferences.of(rows)).frame.select("for_a", "for_b", "n").rows() == [(2, 0, 2)]


def test_traps_need_their_right_answer_and_a_judge() -> None:
    row = {"query": "q", "left": "a", "right": "b", "choice": "left", "trap": True}
    with pytest.raises(BadInput, match="the right answer to every trap"):
        trusted(Preferences.of([row | {"judge": "ann"}]))
    with pytest.raises(BadInput, match="a column judge"):
        trusted(Preferences.of([row | {"expected": "left"}]))
    with pytest.raises(BadInput, match='left, equal, right or none as expected, found "up"'):
        Preferences.of([row | {"expected": "up"}])


def test_when_nobody_is_left_the_data_cannot_answer() -> None:
    row = {"query": "q", "left": "a", "right": "b", "judge": "ann", "choice": "left", "trap": True, "expected": "right"}
    with pytest.raises(Undefined, match="no answer is left"):
        votes(Preferences.of([row, row | {"trap": False}]))


def test_a_strong_preference_takes_slight_ones_for_equal() -> None:
    rows = [
        {"query": "q", "left": "a", "right": "b", "choice": c, "strength": s}
        for c, s in (("left", 1.0), ("left", 1.0), ("right", 2.0), ("equal", 0.0))
    ]
    weak, strong = preferred(Preferences.of(rows)), preferred(Preferences.of(rows), at_least=2)
    assert weak.frame["sign"][0] == 1
    assert strong.frame.select("sign", "for_a", "for_b", "equal").row(0) == (-1, 0, 1, 3)
    assert "2 preferences of a strength below 2 count as equal" in strong.notes
    with pytest.raises(BadInput, match="a strength with every preference"):
        preferred(said(("ann", "1", "left")), at_least=2)


@pytest.mark.parametrize(
    ("choices", "mode", "majority"),
    [
        (("left", "left", "right", "equal", "equal"), 0, 1),  # two modes: equal
        (("left", "left", "left", "right", "right"), 1, 1),
        (("equal", "none", "equal", "left", "left"), 0, 1),
        (("right", "right", "right", "left", "equal"), -1, -1),
        (("left", "right"), 0, 0),
    ],
)
def test_the_mode_of_the_judges_and_the_sign_of_the_majority(
    choices: tuple[str, ...], mode: int, majority: int
) -> None:
    answers = said(*[(f"j{n}", "1", c) for n, c in enumerate(choices)])
    assert preferred(answers, how="mode").frame["sign"][0] == mode
    assert preferred(answers).frame["sign"][0] == majority


def test_a_judge_who_answers_the_same_question_twice_has_one_vote() -> None:
    """The first, as everywhere: a planned repeat tells of the judge, not of the lists."""
    found = votes(said(("ann", "1", "left"), ("ann", "1", "right"), ("bob", "1", "right")))
    assert found.frame.select("for_a", "for_b", "n").row(0) == (1, 1, 2)
    assert any("the first counts" in note for note in found.notes)


@pytest.mark.parametrize(
    ("early", "late"),
    [("9", "10"), ("2024-05-01T11:00:00+02:00", "2024-05-01T09:30:00Z"), ("2024-05-01T09:00", "2024-05-02")],
)
def test_the_first_answer_is_the_first_by_time_however_times_are_written(early: str, late: str) -> None:
    row = {"query": "q", "left": "a", "right": "b", "judge": "ann"}
    rows = [row | {"choice": "right", "time": late}, row | {"choice": "left", "time": early}]
    for shuffled in (rows, rows[::-1]):
        assert votes(shuffled).frame.select("for_a", "for_b", "n").row(0) == (1, 0, 1)


def test_a_time_that_cannot_be_read_is_refused() -> None:
    row = {"query": "q", "left": "a", "right": "b", "choice": "left", "time": "yesterday"}
    with pytest.raises(BadInput, match=r'a time as ISO 8601.*found "yesterday"'):
        Preferences.of([row])


def test_judges_whom_the_app_rejected_are_said_to_be_missing() -> None:
    """The app takes back what they said, so no file has the traps that they failed."""
    rows = [
        {"query": "q", "left": "a", "right": "b", "choice": "left", "judge": "ann", "rejected": 2, "trap": trap}
        | {"expected": "left"}
        for trap in (True, False)
    ]
    for found in (trusted(rows), votes(rows), preferred(rows)):
        assert "2 judges were rejected in the app and are not among these answers" in found.notes


def test_what_cannot_be_asked_for_is_named() -> None:
    answers = Preferences.of([{"query": "q", "left": "a", "right": "b", "choice": "left"}])
    with pytest.raises(BadInput, match="by query or subtopic, how votes or mode"):
        preferred(answers, by="judge")
    with pytest.raises(BadInput, match="the column subtopic"):
        preferred(answers, by="subtopic")
    with pytest.raises(BadInput, match=r'row 1: expected a number from 0 as strength, found "-1.0"'):
        Preferences.of([{"query": "q", "left": "a", "right": "b", "choice": "left", "strength": -1.0}])


def test_nothing_given_is_changed() -> None:
    answers = said(("ann", "1", "left"), ("bob", "2", "right"))
    before = answers.frame.clone()
    preferred(answers)
    assert answers.frame.equals(before)
    assert isinstance(preferred(answers).frame, pl.DataFrame)


def test_both_orders_of_a_pair_are_one_vote_and_a_flip_is_equal() -> None:
    rows = [
        {"query": query, "left": "ab"[order], "right": "ba"[order], "choice": choice, "judge": "gpt", "order": order}
        for query, choices in (("same", ("left", "right")), ("flip", ("left", "left")), ("tie", ("left", "equal")))
        for order, choice in enumerate(choices)
    ]
    told = votes(Preferences.of(rows))
    table = told.frame.select("query", "for_a", "for_b", "equal", "n").sort("query")
    assert table.rows() == [("flip", 0, 0, 1, 1), ("same", 1, 0, 0, 1), ("tie", 0, 0, 1, 1)]
    assert any("3 pairs shown to a judge in both orders: one vote each, 2 equal for differing" in n for n in told.notes)


def test_a_judge_who_failed_as_many_traps_as_the_rules_allow_is_not_flagged() -> None:
    pair = {"query": "q", "left": "a", "right": "b", "choice": "left", "judge": "ann", "trap": False, "expected": None}
    trap = pair | {"trap": True, "expected": "right"}
    for allowed, flag in ((None, "failed 1 of 1 traps"), (1, None)):
        rows = [one | {"failed_allowed": allowed} for one in (pair, trap)]
        assert preference_judges(rows).frame["flag"].to_list() == [flag]
