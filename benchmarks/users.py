"""How often the comparison of measures with users is wrong: false alarms, coverage, and the ranking of systems.

python benchmarks/users.py [--studies 1000] prints the figures of docs/users.md; several minutes.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

from karat.records import Preferences
from karat.simulate import preference_study
from karat.users import agreement, rank_systems

MEASURES = ["nDCG@10", "P@10", "RR", "ERR@10"]
STRENGTH, TIE = np.array([0.6, 0.2, -0.1, -0.7]), -0.5
ONE, TWO = np.triu_indices(4, 1)


def alarms(studies: int) -> None:
    """Preferences that no measure knows of: 30 queries, 5 pairs each of 4 systems, 3 judges; seeds from 0."""
    found = []
    for seed in range(studies):
        made = preference_study(None, queries=30, systems=4, pairs_per_query=5, docs=20, judges=3, block=0, seed=seed)
        result = agreement(made.preferences, made.judgments, made.runs, MEASURES, draws=0)
        rows, between = result.frame, result.between_measures
        found.append(
            [
                between["better"].null_count() < between.height,
                (rows["p_adjusted"] < 0.05).any(),
                *(rows[name][0] < 0.05 for name in ("p", "binomial_p", "t_p")),
            ]
        )
    names = ["a measure better than another", "a measure good", "nDCG@10 alone: by query", "binomial", "the t-test"]
    for name, share in zip(names, np.mean(found, axis=0), strict=True):
        print(f"{name:32} {100 * share:5.1f} % of {studies} studies")


def coverage(studies: int) -> None:
    """Users with RBP(p=0.8) as utility: 25 queries, 3 pairs each, 3 judges; the truth is that of 20,000 queries."""
    options = {"systems": 3, "docs": 20, "pairs_per_query": 3, "judges": 3, "block": 0}
    known = []
    for seed in range(9000, 9005):
        made = preference_study("RBP(p=0.8)", queries=4000, seed=seed, **options)  # type: ignore[arg-type]
        known.append(_ends(agreement(made.preferences, made.judgments, made.runs, MEASURES[:2], draws=0))[:, 1])
    truth = np.mean(known, axis=0)
    held = []
    for seed in range(studies):
        made = preference_study("RBP(p=0.8)", queries=25, seed=seed, **options)  # type: ignore[arg-type]
        ends = _ends(agreement(made.preferences, made.judgments, made.runs, MEASURES[:2], draws=300, seed=seed))
        held.append((ends[:, 0] <= truth) & (truth <= ends[:, 2]))
    for name, share in zip([*MEASURES[:2], "their difference"], np.mean(held, axis=0), strict=True):
        print(f"{'coverage, ' + name:32} {100 * share:5.1f} % of {studies} studies")


def _ends(result) -> np.ndarray:  # type: ignore[no-untyped-def]
    rows = result.frame.select("low", "agree_share", "high").to_numpy()
    return np.vstack([rows, result.between_measures.select("low", "difference", "high").to_numpy()])


def answers(seed: int, queries: int, judges: int = 6, effect: float = 0.0, guess: float = 0.0) -> Preferences:
    """Judges who follow Davidson's model, strengths moving with the query, some of the 20 judges guessing."""
    rng = np.random.default_rng(seed)
    query, pair = np.repeat(np.arange(queries), 6 * judges), np.tile(np.repeat(np.arange(6), judges), queries)
    moved = STRENGTH + effect * rng.normal(size=(queries, 4))
    first, second = moved[query, ONE[pair]], moved[query, TWO[pair]]
    worth = np.exp(np.stack([first, TIE + (first + second) / 2, second], axis=1))
    chance = worth / worth.sum(axis=1, keepdims=True)
    judge = rng.integers(20, size=len(query))
    outcome = (rng.random(len(query))[:, None] > chance.cumsum(axis=1)[:, :2]).sum(axis=1)
    outcome = np.where(judge < 20 * guess, rng.integers(3, size=len(query)), outcome)
    names = np.array(list("abcd"))
    choice = np.array(["left", "equal", "right"])[outcome]
    columns = {"query": query.astype(str), "left": names[ONE[pair]], "right": names[TWO[pair]], "choice": choice}
    return Preferences.of(pl.DataFrame({**columns, "judge": [f"j{n:02}" for n in judge]}))


def ranking(studies: int) -> None:
    """Strengths 0.6, 0.2, -0.1, -0.7, 6 answers a pair; where queries differ the truth is that of 6,000 of them."""
    far = rank_systems(answers(9999, 6000, 2, 0.8), draws=0).frame.sort("system")["strength"].to_numpy()
    cases = {
        "30 queries": (STRENGTH, 30, 0.0),
        "30 queries that differ": (far, 30, 0.8),
        "10 queries that differ": (far, 10, 0.8),
    }
    for name, (truth, queries, effect) in cases.items():
        held, mean = [], []
        for seed in range(studies):
            said = answers(seed, queries, effect=effect)
            frame = rank_systems(said, draws=300, seed=seed).frame.sort("system")
            held.append((frame["low"].to_numpy() <= truth) & (truth <= frame["high"].to_numpy()))
            mean.append(frame["strength"][0])
        print(
            f"{'ranking, ' + name:40} {100 * np.mean(held):5.1f} % of {studies} studies; the best system's strength "
            f"{np.mean(mean):.2f} for {truth[0]:.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="studies for false alarms; fewer for the others")
    asked = parser.parse_args().studies
    alarms(asked)
    coverage(asked * 6 // 10)
    ranking(asked // 5)
