"""Pairs worth showing: every rule by hand, and all of them counted on the Web Track's topics."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.errors import BadInput
from karat.plan import select_pairs
from karat.records import Judgments, Runs

#: Two subtopics with three documents each; x finds one of each, y two of one, z nothing.
LABELS = Judgments.of(
    [{"query": q, "subtopic": s, "doc": f"{s}{n}", "label": 1.0} for q in ("q1", "q2") for s in "ab" for n in range(3)]
)
LISTS = {
    "x": {"q1": ["a0", "b0", "o"], "q2": ["a0", "o", "p"]},
    "y": {"q1": ["a0", "a1", "o"], "q2": ["o", "a1", "p"]},
    "z": {"q1": ["o", "p", "r"], "q2": ["o", "p", "r"]},
    "w": {"q1": ["b0", "b1", "a2"], "q2": ["o", "p", "r"]},
}
TEAMS = {"x": "one", "y": "two", "z": "two", "w": "one"}


def runs(lists: dict[str, dict[str, list[str]]] = LISTS) -> Runs:
    rows = [(s, q, d, float(-n)) for s, by in lists.items() for q, docs in by.items() for n, d in enumerate(docs)]
    return Runs.of(pl.DataFrame(rows, schema=["system", "query", "doc", "score"], orient="row"))


def test_each_rule_leaves_what_it_should() -> None:
    """Six pairs of four systems for two queries; x and w, y and z are of one team: four pairs each are left.

    In q2 nobody has more than one relevant document: four pairs are left, of q1. There x and y have two relevant, w
    three, z none: only x and y have equally many. x covers both subtopics and y one: 1 against 0.5.
    """
    found = select_pairs(LABELS, runs(), teams=TEAMS, hopeless=1)
    assert found.frame["pairs"].to_list() == [12, 8, 4, 1, 1, 1]
    assert found.frame["queries"].to_list() == [2, 2, 1, 1, 1, 1]
    assert found.pairs.select("query", "a", "b", "relevant", "relevant of b").rows() == [("q1", "x", "y", 2, 2)]
    assert found.pairs["StRecall@10"][0] - found.pairs["StRecall@10 of b"][0] == 0.5
    assert found.finding == "1 pair of 12 is worth showing, for 1 query and 2 systems."


def test_every_threshold_can_be_set() -> None:
    assert select_pairs(LABELS, runs(), hopeless=1).frame["pairs"].to_list()[:2] == [12, 6]  # no teams known
    assert select_pairs(LABELS, runs(), teams=TEAMS, same_team=True, hopeless=3).frame["pairs"].to_list()[1] == 0
    wide = select_pairs(LABELS, runs(), teams=TEAMS, hopeless=1, relevant_gap=1)
    assert wide.pairs.select("a", "b").rows() == [("w", "y"), ("x", "y")]
    assert select_pairs(LABELS, runs(), teams=TEAMS, hopeless=1, least={"StRecall@10": 0.6}).pairs.height == 0
    anything = select_pairs(LABELS, runs(), hopeless=0, relevant_gap=None, least={})
    assert anything.pairs.height == 12
    assert select_pairs(LABELS, runs(), hopeless=0, relevant_gap=None, least={}, most=2).pairs.height == 4


def test_a_difference_of_exactly_the_least_is_enough() -> None:
    found = select_pairs(LABELS, runs(), teams=TEAMS, hopeless=1, least={"StRecall@10": 0.5})
    assert found.pairs.height == 1


def test_teams_come_from_the_runs_where_they_say() -> None:
    frame = runs().frame.with_columns(team=pl.col("system").replace_strict(TEAMS))
    found = select_pairs(LABELS, Runs.of(frame), hopeless=1)
    assert found.frame["rule"][1] == "systems of different teams"
    assert found.pairs.height == 1
    some = select_pairs(LABELS, runs(), teams={"x": "one"}, hopeless=1)
    assert "3 systems without a team: each taken for a team of its own" in some.notes
    assert any("no teams are known" in note for note in select_pairs(LABELS, runs(), hopeless=1).notes)


def test_labels_without_subtopics_need_another_measure() -> None:
    plain = Judgments.of({"q1": {"a0": 1, "a1": 1, "b0": 1}})
    with pytest.raises(BadInput, match=r"a column subtopic, for StRecall@10.*such as nDCG@10=0.1"):
        select_pairs(plain, runs())
    assert select_pairs(plain, runs(), hopeless=1, least={"RR": 0.1}).frame["pairs"].to_list()[-1] == 0


@pytest.mark.parametrize(
    "options", [{"depth": 0}, {"hopeless": -1}, {"most": 0}, {"least": {"RR": -0.1}}, {"relevant_gap": -1}]
)
def test_impossible_rules_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(BadInput):
        select_pairs(LABELS, runs(), **options)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="a team for the systems"):
        select_pairs(LABELS, runs(), teams={"unknown": "one"})


def perturbed(path: Path, systems: int, seed: int) -> Runs:
    """The run's top hundred, shuffled more and more."""
    rng = np.random.default_rng(seed)
    run = kt.read_runs(str(path)).frame
    rank = pl.col("score").rank("ordinal", descending=True).over("query")
    top = run.select("query", "doc", place=rank).filter(pl.col("place") <= 100)
    parts = []
    for n in range(systems):
        noise = pl.Series(rng.normal(size=top.height) * (4 + 3 * n))
        parts.append(top.select(pl.lit(f"p{n}").alias("system"), "query", "doc", score=-(pl.col("place") + noise)))
    return Runs.of(pl.concat(parts))


def test_all_rules_are_counted_on_the_web_track(web2010: Path) -> None:
    """Each pair gone through one by one, with the scores that karat's diversity measures have (checked elsewhere)."""
    lists = perturbed(web2010 / "indri.run.gz", 6, seed=7)
    labels = kt.read_judgments(str(web2010 / "10.diversity-qrels.final.txt.gz"))
    teams = dict(zip([f"p{n}" for n in range(6)], "xxyyzw", strict=True))
    found = select_pairs(labels, lists, teams=teams)
    scores = kt.score(labels, lists, ["P@10", "StRecall@10", "alpha_nDCG@10"], draws=0).queries
    by_query: dict[str, dict[str, tuple[float, ...]]] = {}
    for system, query, *values in scores.iter_rows():
        by_query.setdefault(query, {})[system] = tuple(values)
    left = [0] * 6
    pairs = set()
    for query, systems in by_query.items():
        hopeless = all(round(10 * values[0]) <= 2 for values in systems.values())
        for a, b in combinations(sorted(systems), 2):
            one, two = systems[a], systems[b]
            rules = [
                True,
                teams[a] != teams[b],
                not hopeless,
                round(10 * one[0]) == round(10 * two[0]),
                abs(one[1] - two[1]) > 0.1 - 1e-9,
                abs(one[2] - two[2]) > 0.1 - 1e-9,
            ]
            for place in range(6):
                left[place] += all(rules[: place + 1])
            if all(rules):
                pairs.add((query, a, b))
    assert found.frame["pairs"].to_list() == left
    assert left[0] == 48 * 15
    assert set(found.pairs.select("query", "a", "b").rows()) == pairs
    assert len(pairs) > 5


def test_measures_are_cut_where_the_lists_are_shown() -> None:
    runs = Runs.of({name: {q: {d: 9.0 - n for n, d in enumerate(docs)} for q, docs in lists.items()}
                    for name, lists in LISTS.items()})  # fmt: skip
    rules = select_pairs(LABELS, runs, depth=5).frame["rule"].to_list()
    assert rules[-2:] == ["StRecall@5 at least 0.1 apart", "alpha_nDCG@5 at least 0.1 apart"]


def test_one_system_has_nobody_to_be_paired_with() -> None:
    with pytest.raises(BadInput, match="two systems or more to pair"):
        select_pairs(LABELS, Runs.of({"x": {"q1": {"a0": 1.0}}}))


def test_a_system_of_two_teams_is_refused() -> None:
    rows = [
        {"system": s, "query": q, "doc": "a0", "score": 1.0, "team": team}
        for s, q, team in (("x", "q1", "one"), ("x", "q2", "two"), ("y", "q1", "one"))
    ]
    with pytest.raises(BadInput, match="one team for a system, found x in one and two"):
        select_pairs(LABELS, rows)
