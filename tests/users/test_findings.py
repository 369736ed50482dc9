"""What is said about users and measures is so: ties, opposition, chance, empty tables, missing lists."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput
from karat.records import Preferences, Runs
from karat.simulate import preference_study
from karat.stats.hypothesis_tests import share_interval
from karat.users import (
    against_ratings,
    agreement,
    agreement_tables,
    fit_measure,
    measure_correlation,
    preference_curves,
    rank_systems,
    votes,
)
from karat.users.measure_agreement import agreement_of
from karat.users.pair_scores import PairScores


def pairs(users: list[int], points: list[list[int]]) -> PairScores:
    """One pair a query: what users prefer, and which side each measure points to."""
    frame = pl.DataFrame({"query": [f"q{n:03}" for n in range(len(users))], "sign": users})
    frame = frame.with_columns(a=pl.lit("x"), b=pl.lit("y"))
    way = np.array(points, np.float64)
    return PairScores(
        frame,
        ("P@10", "RR", "AP", "P@5", "P@1")[: way.shape[1]],
        np.where(way > 0, 1.0, 0.5),
        np.where(way < 0, 1.0, 0.5),
    )


def answers(*choices: str, judge: str | None = None) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {"query": f"q{n}", "left": "x", "right": "y", "choice": choice} for n, choice in enumerate(choices)
    ]
    return [row | {"judge": judge} for row in rows] if judge else rows


def test_where_users_tie_everywhere_it_is_not_the_measures_that_tell_nothing_apart() -> None:
    found = agreement_of(pairs([0] * 8, [[1]] * 8), draws=0)
    assert found.finding == "Users find both systems equal in all 8 pairs: no measure can agree with them."


def test_where_measures_tie_everywhere_it_is_they_that_tell_nothing_apart() -> None:
    found = agreement_of(pairs([1] * 8, [[0]] * 8), draws=0)
    assert found.finding == "No measure tells any two systems of a pair apart."


def test_a_measure_that_points_against_users_is_said_to() -> None:
    users = [1, -1] * 10
    found = agreement_of(pairs(users, [[-user] for user in users]), draws=0)
    assert "agrees with users in 0 % of 20 pairs and disagrees in 100 %: it goes against users" in found.finding
    both = agreement_of(pairs(users, [[-user, user] for user in users]), draws=0)
    assert both.finding.startswith("RR agrees with users in 100 % of 20 pairs; P@10 goes against users")


def test_what_the_best_measure_is_better_than_is_said_first() -> None:
    """Of 60 pairs P@10 is right in 10, RR in 30, AP in 50, P@5 in 30, and the last in 48, too near to AP, or in all."""

    def finding(last: int) -> str:
        right = [10, 30, 50, 30, last]
        ways = [[1 if pair < most else -1 for most in right] for pair in range(60)]
        return agreement_of(pairs([1] * 60, ways), draws=0).finding

    assert finding(48).endswith("shown to agree better: AP than P@10, AP than RR, AP than P@5 and others.")
    assert finding(60).endswith("; P@1 is shown to agree better than every other.")


def test_two_measures_that_never_differ_may_differ_either_way() -> None:
    users = [1, -1] * 10
    row = agreement_of(pairs(users, [[user, user] for user in users])).between_measures.row(0, named=True)
    high = share_interval(0, 20, 0.95)[1]
    assert (row["difference"], row["low"], row["high"]) == (0.0, -high, high)
    assert high > 0.1
    turned = agreement_of(pairs(users, [[-user, user] for user in users])).between_measures.row(0, named=True)
    assert (turned["difference"], turned["low"]) == (-1.0, -1.0)
    assert turned["high"] == pytest.approx(-share_interval(20, 20, 0.95)[0])


def test_p_values_of_parts_are_adjusted_for_all_rows() -> None:
    """Two measures, all pairs and two parts: six rows, so the smallest p counts six times."""
    made = preference_study("nDCG@10", queries=20, seed=6)
    told = agreement(made.preferences, made.judgments, made.runs, ["nDCG@10", "P@10"], split=["difference"], draws=0)
    p, adjusted = told.frame["p"].to_numpy(), told.frame["p_adjusted"].to_numpy()
    assert len(p) == 6
    order = np.argsort(p)
    by_hand = np.minimum(np.maximum.accumulate(p[order] * np.arange(6, 0, -1)), 1)
    assert adjusted[order] == pytest.approx(by_hand)


def test_a_system_without_a_list_for_a_compared_query_is_counted() -> None:
    runs = {"x": {"q0": {"d": 1.0}, "q1": {"d": 1.0}}, "y": {"q0": {"d": 1.0}}}
    labels = {"q0": {"d": 1}, "q1": {"d": 1}}
    found = agreement(answers("left", "left"), labels, runs, "P@1", draws=0)
    assert any("1 of 4 lists compared is not in the runs (y)" in note for note in found.notes)
    assert found.frame["agree"].to_list() == [1]


def test_users_who_always_tie_rank_no_system_first() -> None:
    found = rank_systems(answers(*["equal"] * 6), draws=0)
    assert found.finding == "Users prefer no system to another: all 6 answers are ties (6 queries)."
    even = rank_systems(answers("left", "right", "left", "right"), draws=0)
    assert even.finding == "Users prefer x and y equally (4 answers, 4 queries)."


def test_a_judge_who_answers_twice_has_one_voice_in_the_ranking_too() -> None:
    once = answers("left", "right", "left", judge="ann") + answers("left", "left", "left", judge="bob")
    again = answers("right", "right", "right", judge="ann")
    both, first = rank_systems(once + again * 5, draws=0), rank_systems(once, draws=0)
    assert both.frame["strength"].to_list() == pytest.approx(first.frame["strength"].to_list())
    assert both.frame["answers"].to_list() == [6, 6]
    assert any("15 answers of a judge who had answered" in note for note in both.notes)


def test_weak_preferences_are_ties_in_the_ranking_when_asked_for() -> None:
    rows = [row | {"strength": 1 + n % 2} for n, row in enumerate(answers(*["left"] * 4, *["right"] * 2))]
    equal = [row | {"choice": "equal"} if row["strength"] == 1 else row for row in rows]
    strong, by_hand = rank_systems(rows, at_least=2, draws=0), rank_systems(equal, draws=0)
    assert strong.frame["strength"].to_list() == pytest.approx(by_hand.frame["strength"].to_list())


@pytest.mark.parametrize("at_least", [float("nan"), -1.0, float("inf")])
def test_a_strength_that_is_none_is_refused(at_least: float) -> None:
    rows = [row | {"strength": 1.0} for row in answers("left", "right")]
    with pytest.raises(BadInput, match="a strength of 0 or more"):
        votes(rows, at_least=at_least)
    with pytest.raises(BadInput, match="a strength of 0 or more"):
        preference_curves(rows, {}, {}, strong_from=at_least)


def test_preferences_without_a_row_are_called_empty() -> None:
    empty = Preferences.check(pl.DataFrame(schema=["query", "left", "right", "choice"]))
    for ask in (votes, rank_systems):
        with pytest.raises(BadInput, match="the table is empty"):
            ask(empty)


def test_a_constant_rating_is_the_ratings_fault() -> None:
    names = [f"s{n}" for n in range(6)]
    lists = [{"session": s, "step": 1, "doc": "x", "rank": 1} for s in names]
    labels = [{"query": s, "doc": "x", "label": n % 3} for n, s in enumerate(names)]
    found = against_ratings([{"session": s, "rating": 3} for s in names], labels, lists, "DCG@2", draws=0)
    assert found.finding.startswith("All 6 sessions have the same rating, 3")


def test_a_measure_that_falls_with_the_rating_is_not_said_to_go_along() -> None:
    names = [f"s{n:02}" for n in range(20)]
    lists = [{"session": s, "step": 1, "doc": "x", "rank": 1} for s in names]
    labels = [{"query": s, "doc": "x", "label": n} for n, s in enumerate(names)]
    found = against_ratings([{"session": s, "rating": -n} for n, s in enumerate(names)], labels, lists, "DCG@2")
    assert "goes against it most: Spearman -1.00" in found.finding


def test_a_curve_of_answers_at_random_finds_no_best_measure() -> None:
    made = preference_study(None, queries=40, judges=3, block=0, seed=1)
    found = preference_curves(
        made.preferences, made.judgments, made.runs, ["P@10"], tie_shares=(), conditions={"few": 0.1}, draws=200
    )
    assert found.finding.startswith("No measure is shown to agree with users' weak preferences beyond chance")


def test_a_fit_that_gains_nothing_says_which_p_decides() -> None:
    made = preference_study(None, queries=30, judges=3, block=0, seed=3)
    found = fit_measure(made.preferences, made.judgments, made.runs, "RBP(p=0.8)", {"p": [0.5, 0.8]}, draws=100)
    held = found.held_out.row(0, named=True)
    assert not found.better
    assert f"p = {held['p_likelihood']:.3f} by likelihood, which decides" in found.finding
    shares = f"{held['agreement']:.1%} of votes agree, {held['agreement_default']:.1%} with RBP(p=0.8)"
    assert f"{shares} (p = {held['p_agreement']:.3f})" in found.finding


def test_frames_and_rows_are_as_good_as_records() -> None:
    made = preference_study("nDCG@10", queries=12, seed=2)
    said, lists, labels = (part.frame for part in (made.preferences, made.runs, made.judgments))
    one = agreement(made.preferences, made.judgments, made.runs, ["P@10"], draws=0).frame
    apart = [lists.filter(pl.col("system") == name) for name in made.runs.systems]
    for runs in (lists, lists.to_dicts(), apart, [Runs.of(part) for part in apart]):
        assert agreement(said.to_dicts(), labels.to_dicts(), runs, ["P@10"], draws=0).frame.equals(one, null_equal=True)
    measures = ["P@10", "RR", "nDCG@10"]
    alike = measure_correlation(made.judgments, made.runs, measures).frame
    assert measure_correlation(labels, apart, measures).frame.equals(alike, null_equal=True)
    tables = agreement_tables(made.preferences, made.judgments, made.runs, draws=0)
    same = agreement_tables(said, labels, apart, draws=0)
    assert {name: table.finding for name, table in same.items()} == {n: table.finding for n, table in tables.items()}


def test_weak_preferences_are_ties_to_a_fit_when_asked_for() -> None:
    made = preference_study("RBP(p=0.5)", queries=25, judges=3, block=0, seed=4)
    said = made.preferences.frame.with_columns(strength=pl.int_range(pl.len()) % 2 + 1.0)
    weak = pl.col("choice").is_in(["left", "right"]) & (pl.col("strength") < 2)
    turned = said.with_columns(choice=pl.when(weak).then(pl.lit("equal")).otherwise("choice"))
    given = (made.judgments, made.runs, "RBP(p=0.8)", {"p": [0.5, 0.8]})
    strong, by_hand = fit_measure(said, *given, at_least=2, draws=0), fit_measure(turned, *given, draws=0)
    assert strong.tried.equals(by_hand.tried)
    assert not strong.tried.equals(fit_measure(said, *given, draws=0).tried)


@pytest.mark.parametrize(("level", "draws"), [(1.5, 0), (0.0, 0), (float("nan"), 0), (0.95, -1), (0.95, 2.5)])
def test_a_level_or_number_of_draws_that_is_none_is_refused(level: float, draws: int) -> None:
    with pytest.raises(BadInput, match=r"a share such as 0\.95|0 draws or more"):
        agreement_of(pairs([1] * 8, [[1]] * 8), level=level, draws=draws)
    with pytest.raises(BadInput, match=r"a share such as 0\.95|0 draws or more"):
        rank_systems(answers("left", "right"), level=level, draws=draws)
