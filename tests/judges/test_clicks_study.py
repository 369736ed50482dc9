"""Labels against clicks in a study whose truth is known: the figure and the tables of the paper, a call each."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

from karat.judges.features import add_features
from karat.records import Result
from karat.simulate import JudgingStudy, judging_study
from karat.users.click_preferences import against_clicks, most_clicked


def row(result: Result, group: str, value: str | None = None) -> dict[str, object]:
    rows = result.frame.filter(pl.col("group") == group)
    if value is not None:
        rows = rows.filter(pl.col("value") == value)
    assert rows.height == 1
    return rows.row(0, named=True)


@cache
def study(wikipedia: float = 0.5) -> JudgingStudy:
    return judging_study(seed=3, queries=400, wikipedia=wikipedia)


def test_figure_2_is_one_call() -> None:
    """Correct, incorrect, insensitive by group, all pairs and the two most clicked, in the order planted."""
    result = against_clicks(study().judgments, study().clicks, pairs="both")
    every = {r["group"]: r for r in result.frame.filter(pl.col("pairs") == "all").iter_rows(named=True)}
    assert every["gold"]["correct_low"] > every["professional"]["correct_high"]
    assert every["gold"]["correct_low"] > every["crowd"]["correct_high"]
    # Whoever squeezes the scale tells fewer documents apart.
    assert every["professional"]["insensitive_low"] > every["crowd"]["insensitive_high"]
    assert every["crowd"]["incorrect_low"] > every["professional"]["incorrect_high"]
    two = result.frame.filter(pl.col("pairs") == "top two")
    assert {*two["group"]} == {*every} == {"gold", "professional", "crowd"}
    assert (two["n_pairs"] == two["n_queries"]).all()
    for found in result.frame.iter_rows(named=True):
        assert sum(found[name] for name in ("correct", "incorrect", "insensitive")) == pytest.approx(1)
    assert result.finding.startswith("Labels of gold agree with 8")


@pytest.mark.thorough
def test_table_3_is_one_call() -> None:
    """The crowd's bias turns preferences round where one of two pages is Wikipedia's, not where both or none are."""

    def turned(wikipedia: float, group: str) -> float:
        made = study(wikipedia)
        result = against_clicks(
            add_features(made.judgments, ["wikipedia"], documents=made.documents), made.clicks, by="wikipedia"
        )
        assert result.frame["value"].unique(maintain_order=True).to_list() == ["WP1", "WP2", "nWP"]
        one, none = (row(result, group, value)["incorrect"] for value in ("WP1", "nWP"))
        return one - none  # type: ignore[operator, no-any-return]

    assert turned(0.5, "crowd") > 0.01
    assert turned(1.0, "crowd") > 0.03
    assert abs(turned(0.5, "professional")) < 0.01
    assert abs(turned(0.5, "gold")) < 0.01
    assert abs(turned(0.0, "crowd")) < 0.01


@pytest.mark.thorough
def test_table_4_is_one_call() -> None:
    """The crowd puts a much clicked Wikipedia page above the rest too often; professionals shun the top."""
    # One document for each query, and one in five from Wikipedia: it takes many queries to see it surely.
    large = judging_study(seed=3, queries=1500)
    judged = add_features(large.judgments, ["wikipedia"], documents=large.documents)
    result = most_clicked(judged, large.clicks, by="wikipedia", draws=100)
    lost = {}
    for group in ("crowd", "professional"):
        rated, true = ([row(result, g, value)["p_r"] for value in ("WP", "nWP")] for g in (group, "gold"))
        lost[group] = [a - b for a, b in zip(rated, true, strict=True)]  # type: ignore[operator]
    assert lost["crowd"][0] > lost["crowd"][1] + 0.1
    assert abs(lost["professional"][0] - lost["professional"][1]) < 0.1
    top = most_clicked(study().judgments, study().clicks, high=4)
    assert row(top, "professional")["p_a_high"] < row(top, "gold")["p_a_low"]  # type: ignore[operator]
    whole = most_clicked(study().judgments, study().clicks)
    assert "The most clicked document gets 3 or more from" in whole.finding
