"""Reasons for a preference: rules on plain comments, a model that learns what rules miss, two coders."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput, Undefined
from karat.records import Preferences
from karat.users.reasons import NAMES, codes_of, comments_of, learn_reasons, reason_table, reasons_by_rules

#: Comments and the classes that a reader would give them.
PLAIN = {
    "All of these are about growing tomatoes": {"on topic"},
    "It has a link to the official website of the museum": {"specific links", "quality/authority"},
    "I just liked it": {"not classifiable"},
    "Half of the right side is not related to the question": {"irrelevant"},
    "the left is more relevant": {"more relevant"},
    "There are more links for cheap flights": {"number"},
    "The best page is at the top": {"position"},
    "A wider variety of recipes": {"range of results"},
    "The snippets are easier to read": {"presentation"},
    "The sources are trustworthy and reliable": {"quality/authority"},
    "Too many ads on the other side": {"spam/adverts"},
    "The other one repeats the same site": {"duplication"},
    "You can download it for free": {"availability"},
    "These are in English": {"language"},
    "Two of the links were broken pages": {"dead links"},
}


@pytest.mark.parametrize(("comment", "classes"), PLAIN.items())
def test_plain_comments_get_their_class_by_rules(comment: str, classes: set[str]) -> None:
    row = reasons_by_rules([comment]).row(0, named=True)
    assert classes <= {name for name in NAMES if row[name]}, row


def test_the_papers_own_sentence_has_two_reasons_and_the_order_of_the_classes_is_the_papers() -> None:
    row = reasons_by_rules(["the left one has more useful results higher in the search"]).row(0, named=True)
    assert {name for name in NAMES if row[name]} == {"number", "position"}
    # Table 10's counts, most frequent first: 1,307 comments, 1,407 reasons.
    counts = [332, 265, 181, 144, 132, 123, 69, 66, 36, 16, 15, 11, 6, 6, 5]
    assert len(NAMES) == 15
    codes = [name for name, n in zip(NAMES, counts, strict=True) for _ in range(n)]
    rows = [{"reason": f"comment {n}", "codes": [code]} for n, code in enumerate(codes[:1307])]
    for n, code in enumerate(codes[1307:]):
        rows[n]["codes"] = [rows[n]["codes"][0], code]
    found = reason_table(rows)
    assert found.frame["n"].to_list() == counts
    assert found.frame["class"].to_list() == list(NAMES)
    assert found.frame["share"][0] == pytest.approx(332 / 1307)
    assert "332 of 1,307 comments (25%)" in found.finding
    assert found.notes == ("100 comments with several reasons, 1,407 reasons in all",)
    assert found.frame["example"].str.starts_with('"comment').all()


def test_comments_come_from_preferences_and_blanks_are_left_out() -> None:
    said = [
        {"query": "q", "left": "a", "right": "b", "choice": "left", "comment": text}
        for text in ("  ", "dead links", None)
    ]
    assert comments_of(Preferences.of(said))["reason"].to_list() == ["dead links"]
    assert reason_table(Preferences.of(said)).frame.row(0)[:2] == ("dead links", 1)
    with pytest.raises(Undefined, match="no comment has any words"):
        reason_table(["", " "])
    with pytest.raises(BadInput, match="a column reason"):
        reason_table(pl.DataFrame({"text": ["x"]}))


def test_codes_are_read_in_any_case_and_a_strange_one_is_named() -> None:
    frame, flags = codes_of([{"reason": "x", "codes": " Position;NUMBER"}, {"reason": "y", "codes": ""}])
    assert frame["reason"].to_list() == ["x"]
    assert [name for name, said in zip(NAMES, flags[0], strict=True) if said] == ["number", "position"]
    with pytest.raises(BadInput, match='found "speed"'):
        codes_of([{"reason": "x", "codes": "speed"}])
    with pytest.raises(BadInput, match="a column codes"):
        codes_of(["x"])


#: Ways to say a thing that no rule knows, beside some that rules do.
SAID = {
    "position": ["shows up sooner", "you see it straight off", "i did not have to scroll", "at the top"],
    "spam/adverts": ["wants my money", "is all shops", "too pushy and trying to make me buy", "has ads"],
    "on topic": ["hits the nail on the head", "is spot on", "fits my need", "is about it"],
    "number": ["offers plenty", "has loads", "gives me heaps", "has more links"],
    "not classifiable": ["i like it", "is nice", "my gut says so", "is better"],
}


def coded(number: int, seed: int) -> list[dict[str, str]]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(number):
        classes = ["not classifiable"]
        if rng.random() < 0.85:
            classes = list(rng.choice([name for name in SAID if name != "not classifiable"], rng.integers(1, 3), False))
        side = rng.choice(["left", "right"])
        text = " and ".join(f"{side} {rng.choice(SAID[name])}" for name in classes)
        rows.append({"reason": text, "codes": "; ".join(classes), "query": f"q{rng.integers(30)}"})
    return rows


def test_a_model_learns_what_rules_do_not_know() -> None:
    model = learn_reasons(coded(250, 1), draws=300)
    overall = model.overall.row(0, named=True)
    assert overall["model_overlap"] > 0.9
    assert overall["rules_overlap"] < 0.6
    assert overall["gain_low"] > 0.2
    assert "better than the rules" in model.finding
    found = model.suggest(["left shows up sooner and left wants my money", "right my gut says so"])
    assert {*found["suggested"][0].split("; ")} == {"position", "spam/adverts"}
    assert found["suggested"][1] == "not classifiable"
    assert any("by query" in note for note in model.notes)
    assert model.frame.filter(pl.col("class") == "language")["model_recall"].is_nan().all()


def test_codes_at_random_teach_nothing() -> None:
    rng = np.random.default_rng(2)
    rows = coded(200, 3)
    mixed = rng.permutation([row["codes"] for row in rows])
    model = learn_reasons([row | {"codes": code} for row, code in zip(rows, mixed, strict=True)], draws=200)
    assert model.overall["model_overlap"][0] < 0.45


def test_too_few_comments_teach_nothing_and_rare_classes_are_left_to_rules() -> None:
    with pytest.raises(Undefined, match="too few to learn"):
        learn_reasons(coded(20, 1))
    model = learn_reasons([*coded(60, 4), {"reason": "in English", "codes": "language", "query": "q1"}], draws=0)
    assert any("left to the rules: language" in note for note in model.notes)
    assert "language" in model.suggest(["it is in English"])["suggested"][0]


def answered(judge: str, choice: str, reason: str, **more: object) -> dict[str, object]:
    plain = {"query": "q", "left": "a", "right": "b", "trap": False, "expected": None}
    return plain | {"judge": judge, "choice": choice, "reason": reason} | more


def test_table_10_counts_reasons_of_preferences_by_judges_who_are_believed() -> None:
    """The paper categorised comments "in which the users made a specific preference", of those who failed no trap.

    Of six comments two count: ann's and bob's first; a trap, an equal answer, a repeat, and eve, who failed a trap
    without a word, do not.
    """
    rows = [
        answered("ann", "left", "more relevant results"),
        answered("ann", "left", "more relevant results", trap=True, expected="left"),
        answered("bob", "right", "dead links on the left"),
        answered("bob", "left", "too many ads"),
        answered("cat", "equal", "both are more relevant than I thought"),
        answered("eve", "left", "more relevant results"),
        answered("eve", "left", "", trap=True, expected="right"),
    ]
    for data in (rows, Preferences.of(rows), pl.DataFrame(rows)):
        found = reason_table(data)
        assert dict(found.frame.filter(pl.col("n") > 0).select("class", "n").rows()) == {
            "more relevant": 1,
            "dead links": 1,
        }
        assert "of 2 comments" in found.finding
        notes = " | ".join(found.notes)
        assert "1 judge of 4 failed a trap and is left out with 1 answer; 2 traps are no votes" in notes
        assert "1 answer of a judge who had answered the same question before: the first counts" in notes
        assert "1 comment of answers that prefer no list left out" in notes


def test_what_a_model_suggests_is_counted_for_the_same_comments() -> None:
    rows = [answered("ann", "equal", "dead links"), answered("bob", "left", ""), answered("cat", "left", "dead links")]
    flags = reasons_by_rules(rows).select(NAMES).to_numpy()
    assert len(flags) == 2
    found = reason_table(rows, flags)
    assert found.frame.filter(pl.col("n") > 0).select("class", "n").rows() == [("dead links", 1)]
    with pytest.raises(BadInput, match="a row for each of 2 comments"):
        reason_table(rows, flags[:1])
