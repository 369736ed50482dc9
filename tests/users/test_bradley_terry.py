"""A ranking of systems: the planted order, intervals that cover, judges who guess, and what cannot be ranked.

Bounds are the promised rate and three standard errors of so many studies, set before looking.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import polars as pl
import pytest

from karat.errors import Undefined
from karat.records import Preferences
from karat.simulate import preference_study
from karat.users import rank_systems
from simulated import about, studies

STRENGTH = np.array([0.6, 0.2, -0.1, -0.7])
TIE = -0.5
ONE, TWO = np.triu_indices(4, 1)
NAMES = np.array(list("abcd"))


def answers(
    seed: int,
    queries: int = 30,
    judges: int = 6,
    *,
    effect: float = 0.0,
    guess: float = 0.0,
    strength: np.ndarray = STRENGTH,
) -> Preferences:
    """Judges who follow Davidson's model; a system's strength moves with the query by a normal `effect`."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), 6 * judges)
    pair = np.tile(np.repeat(np.arange(6), judges), queries)
    moved = strength + effect * rng.normal(size=(queries, 4))
    first, second = moved[query, ONE[pair]], moved[query, TWO[pair]]
    worth = np.exp(np.stack([first, TIE + (first + second) / 2, second], axis=1))
    chance = worth / worth.sum(axis=1, keepdims=True)
    outcome = (rng.random(len(query))[:, None] > chance.cumsum(axis=1)[:, :2]).sum(axis=1)
    judge = rng.integers(20, size=len(query))
    outcome = np.where(judge < 20 * guess, rng.integers(3, size=len(query)), outcome)
    turn = rng.random(len(query)) < 0.5
    left, right = np.where(turn, TWO[pair], ONE[pair]), np.where(turn, ONE[pair], TWO[pair])
    choice = np.array(["left", "equal", "right"])[np.where(turn, 2 - outcome, outcome)]
    names = [f"j{n:02}" for n in judge]
    return Preferences.of(
        pl.DataFrame(
            {"query": query.astype(str), "left": NAMES[left], "right": NAMES[right], "choice": choice, "judge": names}
        )
    )


def coverage(truth: np.ndarray, seeds: range, **options: float) -> float:
    held = []
    for seed in seeds:
        frame = rank_systems(answers(seed, **options), draws=200, seed=seed).frame.sort("system")  # type: ignore[arg-type]
        held.append((frame["low"].to_numpy() <= truth) & (truth <= frame["high"].to_numpy()))
    return float(np.mean(held))


@pytest.mark.evidence
def test_intervals_cover_the_strengths() -> None:
    seeds = studies(20, 500)
    assert coverage(STRENGTH, seeds) == about(0.95, len(seeds), off=0.005)


@pytest.mark.evidence
def test_intervals_cover_when_strengths_move_with_the_query() -> None:
    """The truth is then the strength over many queries, which is less than the strength in each."""
    truth = rank_systems(answers(999, 6000, 2, effect=0.8), draws=0).frame.sort("system")["strength"].to_numpy()
    assert np.abs(truth).sum() < np.abs(STRENGTH).sum()
    seeds = studies(20, 500)
    assert coverage(truth, seeds, effect=0.8) == about(0.95, len(seeds), off=0.005)


@pytest.mark.evidence
def test_equal_systems_are_rarely_said_to_be_behind() -> None:
    seeds = studies(20, 500)
    alarms = [
        (
            rank_systems(answers(seed, effect=0.8, strength=np.zeros(4)), draws=200, seed=seed).frame["behind_p"] < 0.05
        ).any()
        for seed in seeds
    ]
    assert np.mean(alarms) <= 0.05 + 3 * sqrt(0.05 * 0.95 / len(seeds))


def test_the_table_says_order_places_and_how_often_a_system_is_preferred() -> None:
    found = rank_systems(answers(1, 60))
    assert found.frame["system"].to_list() == ["a", "b", "c", "d"]
    assert found.frame["rank"].to_list() == [1, 2, 3, 4]
    assert found.frame["strength"].sum() == pytest.approx(0, abs=1e-9)
    assert found.frame["preferred"].mean() == pytest.approx(0.5)
    assert (found.frame["best_rank"] <= found.frame["rank"]).all()
    assert (found.frame["worst_rank"] >= found.frame["rank"]).all()
    assert found.tie_weight == pytest.approx(np.exp(TIE), abs=0.1)
    assert found.finding.startswith("Users prefer a most")


def test_two_systems_by_hand() -> None:
    """Six for x, two for y, four without a preference: exp of the difference is 3, the ties' weight 4 / sqrt(12)."""
    choices = ["left"] * 6 + ["right"] * 2 + ["equal"] * 3 + ["none"]
    found = rank_systems(Preferences.of([{"query": "q", "left": "x", "right": "y", "choice": c} for c in choices]))
    strength = dict(found.frame.select("system", "strength").iter_rows())
    assert strength["x"] - strength["y"] == pytest.approx(np.log(3), abs=0.02)  # a tenth of a game is added
    assert found.tie_weight == pytest.approx(4 / np.sqrt(12), abs=0.03)
    assert found.frame["preferred"].to_list() == pytest.approx([8 / 12, 4 / 12], abs=0.01)
    assert found.frame["low"].is_nan().all()
    assert any("fewer than 5 queries" in note for note in found.notes)


def test_systems_that_never_met_are_not_ranked_together() -> None:
    rows = [{"query": "q", "left": left, "right": right, "choice": "left"} for left, right in (("a", "b"), ("c", "d"))]
    with pytest.raises(Undefined, match="no comparison joins a, b with c, d"):
        rank_systems(Preferences.of(rows))


def test_those_who_failed_a_trap_do_not_count() -> None:
    made = preference_study("nDCG@10", queries=40, systems=3, careless=0.3, seed=3)
    found = rank_systems(made.preferences, draws=0)
    kept = made.preferences.frame.filter(~pl.col("trap"))
    assert found.frame["answers"].sum() < 2 * kept.height
    assert any("failed a trap" in note for note in found.notes)


@pytest.mark.parametrize(("choice", "note"), [("left", "win every comparison"), ("equal", "answered alike")])
def test_where_all_answers_are_alike_there_is_no_interval_rather_than_one_without_width(choice: str, note: str) -> None:
    rows = [{"query": f"q{n}", "left": "a", "right": "b", "choice": choice} for n in range(8)]
    found = rank_systems(Preferences.of(rows))
    assert found.frame["low"].is_nan().all()
    assert found.frame["best_rank"].is_null().all()
    assert any(note in text for text in found.notes)
    assert found.finding.endswith("8 queries).")
