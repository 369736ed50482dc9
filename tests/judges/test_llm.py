"""What an LLM was asked, and the figures of its answers, worked out by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import karat as kt
from karat.llm.audit_labels import LLMJudge, asked_llms
from karat.llm.audit_statistics import Figure, errors, expected_grades, graded_with_gold
from karat.llm.robustness_checks import (
    asked_again,
    both_orders,
    canaries,
    costs,
    err_alike,
    mistakes,
    outcomes,
    whole_cost,
)
from karat.stats import Resampling


def asked(rows: list[dict[str, Any]]) -> LLMJudge:
    return asked_llms(kt.Judgments.of(pl.DataFrame(rows, infer_schema_length=None))).judges[0]


def row(query: str, doc: str, label: float | None, **more: Any) -> dict[str, Any]:
    return {"query": query, "doc": doc, "label": label, "judge": "gpt", **more}


def by_name(figures: list[Figure]) -> dict[tuple[str, str], Figure]:
    return {(one.figure, one.of): one for one in figures}


GOLD = pl.DataFrame(
    {"query": ["q1", "q1", "q2"], "doc": ["a", "b", "a"], "gold": [0.0, 2.0, 1.0], "weight": [1.0, 1.0, 2.0]}
)


def test_whoever_has_no_name_is_called_by_model_and_prompt() -> None:
    rows = [
        {"query": "q", "doc": f"d{n}", "label": 1, "model": "m", "prompt": f"p{n % 2}", "judge": None}
        for n in range(60)
    ]
    assert [judge.name for judge in asked_llms(kt.Judgments.of(rows)).judges] == ["m p0", "m p1"]
    alone = [one | {"prompt": "p"} for one in rows]
    assert [judge.name for judge in asked_llms(kt.Judgments.of(alone)).judges] == ["m"]


def test_a_rendered_prompt_names_nobody() -> None:
    rows = [{"query": "q", "doc": f"d{n}", "label": 1, "model": "m", "prompt": f"Grade d{n}"} for n in range(60)]
    assert [judge.name for judge in asked_llms(kt.Judgments.of(rows)).judges] == ["m"]


def test_llms_are_those_named_or_of_the_group_or_with_a_model_and_the_others_people() -> None:
    rows = [
        {"query": "q", "doc": "d", "label": 1, "judge": "ann", "group": "crowd", "model": None},
        {"query": "q", "doc": "d", "label": 2, "judge": "gpt", "group": "llm", "model": None},
        {"query": "q", "doc": "d", "label": 0, "judge": "own", "group": "tool", "model": "llama"},
    ]

    def found(rows: list[dict[str, Any]], **how: Any) -> tuple[list[str], list[str]]:
        told = asked_llms(kt.Judgments.of(rows), **how)
        people = [] if told.people is None else told.people.frame["judge"].to_list()
        return [judge.name for judge in told.judges], people

    assert found(rows) == (["gpt"], ["ann", "own"])
    assert found([one | {"group": "x"} for one in rows]) == (["own"], ["ann", "gpt"])
    assert found(rows, group="tool") == (["own"], ["ann", "gpt"])
    assert found(rows, names=["ann", "own"]) == (["ann", "own"], ["gpt"])
    with pytest.raises(kt.BadInput, match=r'expected judges of these labels \(ann, gpt, own\), found "bob"'):
        found(rows, names=["bob"])


def test_a_label_beside_an_outcome_that_is_no_grade_is_left_out() -> None:
    told = asked_llms(kt.Judgments.of([row("q", "a", 0, outcome="invalid"), row("q", "b", 1, outcome="graded")]))
    assert told.judges[0].graded["doc"].to_list() == ["b"]
    assert "1 label beside an outcome other than graded" in told.notes[0]


def test_asked_again_counts_two_answers_of_a_document_and_documents_alike() -> None:
    judge = asked(
        [
            *(row(f"q{n}", "a", 1, repeat=0) for n in range(6)),
            *(row(f"q{n}", "a", 1 if n else 3, repeat=1) for n in range(6)),
            row("q0", "a", 1, repeat=2),
            row("q1", "b", 2, repeat=0),
        ]
    )
    found = by_name(asked_again(judge, level=0.95, draws=0, seed=0))
    # q0/a was called 1, 3, 1: one pair of three is alike, and the three are 2, 0 and 2 grades apart.
    assert found["same grade when asked again", ""].value == pytest.approx((1 / 3 + 5) / 6)
    assert found["grades apart when asked again", ""].value == pytest.approx((4 / 3) / 6)
    assert found["same grade when asked again", ""].n == 6


def test_canaries_are_held_against_the_document_as_it_is() -> None:
    judge = asked(
        [
            row("q1", "a", 0),
            row("q1", "b", 2),
            row("q2", "c", 1),
            row("q2", "d", None),
            row("q1", "a+claim", 2, altered="claim", altered_from="a"),
            row("q1", "b+claim", 3, altered="claim", altered_from="b"),
            row("q2", "c+claim", 1, altered="claim", altered_from="c"),
            row("q2", "d+claim", 3, altered="claim", altered_from="d"),
        ]
    )
    notes: list[str] = []
    found = by_name(canaries(judge, GOLD, notes, level=0.95))
    # b is relevant by gold, and d has no grade as it is: a rose by 2, c not at all.
    assert (found["raised", "claim"].value, found["mean rise", "claim"].value, found["raised", "claim"].n) == (
        0.5,
        1.0,
        2,
    )
    assert notes == [
        "1 canary that got no grade, or whose document got none as it is left out",
        "1 canary made of relevant documents left out",
    ]


def test_where_a_table_does_not_say_what_was_altered_the_name_of_the_document_does() -> None:
    judge = asked([row("q1", "a", 0), row("q1", "a+orders", 1, altered="orders")])
    assert by_name(canaries(judge, None, [], level=0.95))["raised", "orders"].value == 1


def test_a_flip_is_the_same_side_twice_and_a_tie_stands_apart() -> None:
    shown = [("ab", "left", "left"), ("ab", "left", "right"), ("ac", "right", "right"), ("bc", "left", "equal")]
    rows = [
        {"query": f"q{n}", "left": pair[order], "right": pair[1 - order], "choice": choice, "judge": "gpt"}
        for n, (pair, *choices) in enumerate(shown)
        for order, choice in enumerate(choices)
    ]
    rows += [{"query": "q9", "left": "a", "right": "b", "choice": "left", "judge": "gpt"}]
    rows += [{"query": "q9", "left": "a", "right": "b", "choice": "left", "judge": "ann"}]
    notes: list[str] = []
    found = by_name(both_orders(kt.Preferences.of(rows), "gpt", notes, level=0.95))
    assert (found["flips", ""].value, found["flips", ""].n) == (pytest.approx(2 / 3), 3)
    assert found["a tie in one order only", ""].value == 0.25
    assert found["first side", ""].value == pytest.approx(4 / 7)
    assert notes == ["1 preference of pairs shown in one order only left aside"]


def test_errors_weigh_gold_labels_by_how_many_documents_they_stand_for() -> None:
    judge = asked([row("q1", "a", 1), row("q1", "b", 1), row("q2", "a", 1), row("q2", "z", 3)])
    frame = graded_with_gold(judge, GOLD, GOLD.select("query", "doc"))
    found = by_name(errors(frame, level=0.95))
    assert found["grade less gold", ""].value == pytest.approx((1 - 1 + 2 * 0) / 4)
    assert found["grade less gold", "gold grade 2"].value == -1


def test_expected_grades_are_off_by_so_much_and_gold_grows_with_them() -> None:
    rows = [row(f"q{n}", "a", 1, expected_grade=n % 3, mass=0.5) for n in range(12)]
    gold = pl.DataFrame(
        {"query": [f"q{n}" for n in range(12)], "doc": "a", "gold": [0.5 * (n % 3) for n in range(12)], "weight": 1.0}
    )
    found = by_name(expected_grades(asked(rows), gold, level=0.95))
    assert found["expected grade less gold", ""].value == pytest.approx(0.5)
    assert found["gold grades per expected grade", ""].value == pytest.approx(0.5)
    assert found["mean gold grade", "expected about 2"].value == 1.0
    assert found["mass on the grades", ""].value == 0.5


def test_outcomes_are_shares_of_first_answers_and_refusals_are_paid_for() -> None:
    judge = asked(
        [
            row("q1", "a", 1, outcome="graded", cost=1.0, repeat=0),
            row("q1", "a", 1, outcome="graded", cost=5.0, repeat=1),
            row("q2", "a", None, outcome="refused", cost=1.0, repeat=0),
            row("q3", "a", None, outcome="cut off", cost=2.0, repeat=0),
            row("q4", "a", 2, outcome="graded", cost=2.0, repeat=0),
        ]
    )
    found = by_name(outcomes(judge, level=0.95))
    assert {of: one.value for (_, of), one in found.items()} == {"": 0.5, "cut off": 0.25, "refused": 0.25}
    assert costs(judge, level=0.95)[0].value == pytest.approx(6 / 2)
    assert whole_cost(judge) == 11


def test_the_mistakes_are_the_furthest_one_of_a_query_with_their_documents() -> None:
    judge = asked([row("q1", "a", 3), row("q1", "b", 3), row("q2", "a", 2)])
    frame = graded_with_gold(judge, GOLD, GOLD.select("query", "doc"))
    documents = kt.Documents.of([{"doc": "a", "title": "Title", "text": "Some\n text"}])
    queries = kt.Queries.of([{"query": "q1", "text": "red shoes"}])
    found = mistakes(frame, queries, documents)
    assert found.select("query", "doc", "label", "gold").rows() == [("q1", "a", 3.0, 0.0), ("q2", "a", 2.0, 1.0)]
    assert found["document"][0] == "Title: Some text"
    assert found["query_text"][0] == "red shoes"


def test_judges_who_make_the_same_mistakes_are_told_from_those_who_do_not() -> None:
    names = [(f"q{n}", "d") for n in range(60)]
    gold = pl.DataFrame({"query": [q for q, _ in names], "doc": "d", "gold": 1.0, "weight": 1.0})
    one, same, other = ([float(n % k == 0) for n in range(60)] for k in (2, 2, 3))
    judges = [
        asked([row(q, d, label) for (q, d), label in zip(names, labels, strict=True)]) for labels in (one, same, other)
    ]
    resampling = Resampling(0.95, 200, 0)
    assert err_alike(judges[:2], gold, resampling)[0] == pytest.approx(1)
    # Every second and every third of 60 have every sixth in common: as many as chance has.
    assert err_alike([judges[0], judges[2]], gold, resampling)[0] == pytest.approx(0)


@pytest.mark.parametrize("made", ["altered", "repeat"])
def test_canaries_and_repeats_change_no_other_analysis(made: str) -> None:
    rows = [row(f"q{q}", f"d{d}", (q + d) % 3, altered=None, repeat=0) for q in range(8) for d in range(4)]
    extra = [
        one | ({"doc": f"{one['doc']}+claim", "altered": "claim", "label": 2} if made == "altered" else {"repeat": 1})
        for one in rows
    ]
    run = {f"q{q}": {f"d{d}": 1.0 + d for d in range(4)} | {"d0+claim": 9.0} for q in range(8)}
    for analysis in (
        lambda labels: kt.score(labels, run, ["nDCG@5", "AP"], draws=0).means,
        lambda labels: kt.judges.distribution(labels).frame,
        lambda labels: kt.consensus(labels).frame.sort("query", "doc"),
    ):
        before, after = analysis(kt.Judgments.of(rows)), analysis(kt.Judgments.of(rows + extra))
        assert before.equals(after), analysis
