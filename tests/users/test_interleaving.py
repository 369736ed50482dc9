"""Interleaving: who wins a search, a query, and the whole, and how sure that is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import t, ttest_1samp

import karat as kt
from karat.simulate.click_log import team_draft_log
from simulated import about, studies


def log(*searches: tuple[str, str], **more: list[str]) -> list[dict[str, object]]:
    """A log from searches: the query, and the team of each click in it."""
    return [
        {"query": query, "impression": str(n), "doc": f"d{place}", "clicked": True, "team": team}
        | {name: values[n] for name, values in more.items()}
        for n, (query, teams) in enumerate(searches)
        for place, team in enumerate(teams)
    ]


def test_wins_ties_and_losses_by_hand() -> None:
    # q1: A, A, B won: 1/6; q2: tied: 0; q3: B: -1/2; q4: A, tie: 1/4; q5: A: 1/2.
    searches = [
        ("q1", "A"),
        ("q1", "AAB"),
        ("q1", "B"),
        ("q2", "AB"),
        ("q3", "BB"),
        ("q4", "A"),
        ("q4", "BA"),
        ("q5", "A"),
    ]
    found = kt.interleave(log(*searches))
    row = found.frame.row(0, named=True)
    values = [1 / 6, 0, -1 / 2, 1 / 4, 1 / 2]
    assert found.queries["preference"].to_list() == pytest.approx(values)
    assert (row["wins"], row["ties"], row["losses"], row["n_searches"]) == (3, 1, 1, 8)
    assert row["by_wins"] == pytest.approx((3 + 1 / 2) / 5 - 1 / 2)
    theirs = ttest_1samp(values, 0)
    assert (row["preference"], row["p"]) == pytest.approx((np.mean(values), theirs.pvalue))
    assert (row["low"], row["high"]) == pytest.approx(tuple(theirs.confidence_interval()))
    assert row["p_sign_flip"] == pytest.approx(10 / 16)  # of four queries, three or more the same way


def test_who_is_first_in_the_alphabet_does_not_matter() -> None:
    one = kt.interleave(team_draft_log(better=0.1, seed=1))
    other = kt.interleave(one_renamed(team_draft_log(better=0.1, seed=1)))
    assert one.winner == "A"
    assert other.winner == "Z"
    assert other.frame["preference"][0] == pytest.approx(-one.frame["preference"][0])
    assert "Z is preferred to B: +" in other.finding
    assert other.finding.split(": ")[1] == one.finding.split(": ")[1]


def one_renamed(log: kt.ClickLog) -> kt.ClickLog:
    return kt.ClickLog(log.frame.with_columns(pl.col("team").replace({"A": "Z"})))


def test_a_user_who_asks_everything_counts_as_one() -> None:
    searches = [(f"q{n}", "A") for n in range(30)] + [(f"r{n}", "B") for n in range(20)]
    own = kt.interleave(log(*searches, user=[str(n) for n in range(50)])).frame
    shared = kt.interleave(log(*searches, user=["fan"] * 30 + [str(n) for n in range(20)])).frame
    assert own["p"][0] == pytest.approx(kt.interleave(log(*searches)).frame["p"][0], rel=0.02)
    assert shared["p"][0] > 2 * own["p"][0]


@pytest.mark.evidence
@pytest.mark.parametrize(
    "made",
    [
        {"queries": 60, "searches": 150},
        {"queries": 100, "searches": 400, "users": 80, "habit": 0.6},
    ],
)
def test_equal_systems_are_called_different_in_one_of_twenty(made: dict[str, float]) -> None:
    seeds = studies(50, 2000)
    alarms = [kt.interleave(team_draft_log(seed=seed, **made)).winner is not None for seed in seeds]  # type: ignore[arg-type]
    print(made, len(seeds), np.mean(alarms))
    assert float(np.mean(alarms)) == about(0.05, len(seeds))


def clustered_p_of_wins(log: kt.ClickLog) -> float:
    """(wins + ties / 2) / all - 1/2 over queries, each query's outcome shared by those who asked it: t over users."""
    searches = (
        log.frame.filter(pl.col("clicked"))
        .group_by("query", "impression")
        .agg(pl.col("user").first(), won=pl.when(pl.col("team") == "A").then(1).otherwise(-1).sum().sign())
        .with_columns(pl.col("query", "user").rank("dense").cast(pl.Int64) - 1)
    )
    query, user = searches["query"].to_numpy(), searches["user"].to_numpy()
    outcome = np.sign(np.bincount(query, searches["won"].to_numpy())) / 2
    share = (1 / np.bincount(query))[query]
    parts = np.bincount(user, share * (outcome - outcome.mean())[query]) / len(outcome)
    return float(2 * t.sf(abs(outcome.mean()) / np.sqrt((parts**2).sum()), len(parts) - 1))


@pytest.mark.evidence
def test_wins_of_queries_give_false_alarms_where_users_lean_and_the_mean_of_shares_does_not() -> None:
    """Why the preference is a mean of shares of searches: who wins a query is no sum over users."""
    seeds, alarms = studies(40, 500), dict.fromkeys(("mean of shares", "wins, sign flips", "wins, by user"), 0.0)
    for seed in seeds:
        made = team_draft_log(queries=60, searches=300, users=30, habit=0.6, seed=seed)
        row = kt.interleave(made).frame.row(0, named=True)
        for name, p in zip(alarms, (row["p"], row["p_sign_flip"], clustered_p_of_wins(made)), strict=True):
            alarms[name] += (p < 0.05) / len(seeds)
    print(len(seeds), alarms)
    assert alarms["mean of shares"] == about(0.05, len(seeds))
    assert alarms["wins, sign flips"] > 0.1
    assert alarms["wins, by user"] > 0.2


def test_the_plan_says_how_many_more_searches() -> None:
    found = kt.interleave(team_draft_log(queries=100, searches=300, seed=4), difference=0.01)
    plan = found.needed.row(0, named=True)
    sd = found.queries["preference"].std()
    # About (1.96 + 0.84)^2 sd^2 / d^2 queries.
    assert plan["queries"] == pytest.approx(7.85 * sd**2 / 0.01**2, rel=0.05)
    assert plan["more_queries"] == plan["queries"] - len(found.queries)
    assert plan["more_searches"] > plan["more_queries"]
    assert "needs" in found.notes[-1]


@pytest.mark.parametrize(
    ("teams", "said"), [("A", "expected results of two teams, found A"), ("ABC", "expected results of two teams")]
)
def test_two_teams_are_needed(teams: str, said: str) -> None:
    with pytest.raises(kt.BadInput, match=said):
        kt.interleave(log(*((f"q{n}", teams) for n in range(10))))


def test_a_log_without_teams_or_with_few_queries_is_refused() -> None:
    with pytest.raises(kt.BadInput, match="the column team"):
        kt.interleave([{"query": "q", "doc": "d", "clicked": True}])
    with pytest.raises(kt.Undefined, match="2 queries with a click"):
        kt.interleave(log(("q1", "A"), ("q2", "B")))
    with pytest.raises(kt.BadInput, match="a preference above 0"):
        kt.interleave(log(("q1", "A"), ("q2", "B")), difference=0.0)


def test_what_is_left_aside_is_said() -> None:
    rows = log(*((f"q{n}", "AB"[n % 2]) for n in range(8)))
    rows += [{"query": "none", "impression": "x", "doc": "d", "clicked": False, "team": "A"}]
    rows += [{"query": "q1", "impression": "y", "doc": "d", "clicked": True, "team": None}]
    notes = kt.interleave(rows).notes
    assert "1 click on results of no team left aside" in notes
    assert "1 query without a credited click left out" in notes
    for row in rows:
        del row["impression"]
    assert any("all clicks of a query count as of one search" in note for note in kt.interleave(rows).notes)
